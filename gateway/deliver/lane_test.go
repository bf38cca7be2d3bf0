package deliver

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// slow is a platform whose calls to create take a while, and that counts those under way at the same time.
type slow struct {
	*platform
	take      time.Duration
	now, most atomic.Int32
}

func (s *slow) Send(ctx context.Context, to adapters.Target, m adapters.Outgoing) (adapters.Ref, error) {
	n := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	time.Sleep(s.take)
	return s.platform.Send(ctx, to, m)
}

func slowly(take time.Duration, out **slow) option {
	return func(c *Config, p *platform) {
		*out = &slow{platform: p, take: take}
		c.Adapters = []adapters.Adapter{*out}
	}
}

// A view that ends and the outbox do not write to a target at the same time; the view is next.
func TestViewsAndRowsTakeTurns(t *testing.T) {
	var p *slow
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		for _, text := range []string{"1", "2", "3"} {
			w.say(notice("1", text))
		}
		synctest.Wait()
		want(t, "state", c.answer("hello").State, core.DeliveryDelivered)
		time.Sleep(time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "1", "hello", "2", "3")
		want(t, "at the same time", p.most.Load(), 1)
	}, unlimited, slowly(time.Second, &p))
}

// A view that cannot write in its time leaves its answer to the outbox, which sends it once.
func TestViewThatMustWaitTooLong(t *testing.T) {
	var p *slow
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		w.say(notice("1", "slow"))
		synctest.Wait()
		want(t, "state", c.answer("hello").State, core.DeliveryOwed)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "slow", "hello")
	}, unlimited, slowly(20*time.Second, &p))
}

// A row whose time ran out while its lane still has it, waiting or being written, is not taken again.
func TestRowIsInItsLaneOnce(t *testing.T) {
	l, d := newLanes(), notice("1", "x")
	d.ID = "D1"
	l.push(d)
	l.push(d)
	k, _ := l.take()
	if _, ok := l.next(k); !ok {
		t.Fatal("nothing to write")
	}
	l.push(d)
	if again, ok := l.next(k); ok {
		t.Errorf("once more: %v", again.ID)
	}
	l.push(d)
	if k, ok := l.take(); !ok || k != laneOf(d.Route) {
		t.Error("a row that is not there any more is not taken")
	}
	if ownFor <= callTime {
		t.Error("a row changes hands during a call")
	}
}

// An answer whose commit came late belongs to its view while that shows it.
func TestLateCommit(t *testing.T) {
	var p *slow
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		d, _ := c.commit(core.Outcome{Result: core.Completed, Text: "hello"})
		time.Sleep(liveFor - 2*time.Second)
		go w.m.Wake()
		if err := c.view.Settled(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "hello")
		want(t, "calls", len(w.p.made("1")), 1)
	}, unlimited, slowly(10*time.Second, &p))
}
