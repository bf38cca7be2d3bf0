package dispatch_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/turn"
	"bellhop/gateway/dispatch"

	"github.com/google/go-cmp/cmp"
)

type listener func(core.Event)

func (l listener) On(e core.Event) { l(e) }

func TestOneTurn(t *testing.T) {
	bubble(t, answers, func(t *testing.T, g *gateway) {
		var ends atomic.Int64
		detach := g.hub.AttachAll(listener(func(e core.Event) {
			if e.Type != core.MessageComplete {
				return
			}
			ends.Add(1)
			if held, err := g.store.Leases(t.Context()); err != nil || len(held) != 0 {
				t.Errorf("message.complete while the lease is held: %v %v", held, err)
			}
			if a := g.row(e.Admission); a.Status != core.Terminal {
				t.Errorf("message.complete before the receipt: %s", a.Status)
			}
		}))
		defer detach()
		a := g.ended(g.say("1").ID, time.Second)
		synctest.Wait()
		if a.Outcome.Result != core.Completed || a.Outcome.Text != "re: m1" || a.Turn == "" || a.Generation != 1 {
			t.Errorf("%+v", a)
		}
		if d := cmp.Diff([]string{"open", "on message.start", "on message.delta", "end", "final", "settled"}, g.outlet.of(a.ID).story()); d != "" {
			t.Error(d)
		}
		if ends.Load() != 1 {
			t.Errorf("%d ends", ends.Load())
		}
		g.halt()
		stored, err := g.store.Since(t.Context(), a.Conversation, 0, 10)
		if err != nil || len(stored) != 2 || stored[0].Type != core.MessageStart || stored[1].Type != core.MessageComplete || stored[1].Turn != a.Turn {
			t.Errorf("%+v %v", stored, err)
		}
		if d, err := g.store.Outbox().Of(t.Context(), a.ID); err != nil || len(d) != 1 || d[0].Kind != core.DeliverFinal {
			t.Errorf("%+v %v", d, err)
		}
	})
}

// C157 and the order of a conversation: what was admitted while it was busy runs in order, and one wake is enough.
func TestQueueIsDrainedInOrder(t *testing.T) {
	var mu sync.Mutex
	var order []string
	bubble(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
		mu.Lock()
		order = append(order, in.Claim.Admission.Submission.Text)
		mu.Unlock()
		return answers(ctx, in, emit)
	}, func(t *testing.T, g *gateway) {
		var last core.Admission
		for range 5 {
			last = g.admit("1")
		}
		g.Wake(last.Conversation)
		g.ended(last.ID, time.Second)
		if d := cmp.Diff([]string{"m1", "m2", "m3", "m4", "m5"}, order); d != "" {
			t.Error(d)
		}
		if n := g.store.n.claim.Load(); n != 5 {
			t.Errorf("%d claims for five rows: the settlement says whether there is more", n)
		}
		if g.quiet < 5 {
			t.Errorf("background work was told %d times to make room", g.quiet)
		}
	}, func(c *dispatch.Config) { c.Sweep = time.Hour })
}

// A message that comes after the settlement has looked for more, and before the visit ends, waits for no sweep.
func TestMessageAtTheVeryEndOfAVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *gateway
		var once sync.Once
		second := make(chan core.Admission, 1)
		g = newGateway(t, answers, func(c *dispatch.Config) {
			c.Sweep = 24 * time.Hour
			c.Observe = func(core.Outcome, time.Duration) { once.Do(func() { second <- g.say("1") }) }
		})
		g.start()
		g.say("1")
		g.ended((<-second).ID, time.Second)
		g.halt()
	})
}

// C151: a turn that is blocked in one chat keeps no other chat waiting.
func TestConversationsRunBesideEachOther(t *testing.T) {
	release := make(chan struct{})
	synctest.Test(t, func(t *testing.T) {
		release = make(chan struct{})
		g := newGateway(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
			if in.Claim.Admission.Submission.Key == "chat:A" {
				<-release
			}
			return answers(ctx, in, emit)
		})
		g.start()
		blocked := g.say("A")
		g.ended(g.say("B").ID, time.Second)
		if a := g.row(blocked.ID); a.Status != core.Started {
			t.Errorf("A is %s", a.Status)
		}
		close(release)
		g.ended(blocked.ID, time.Second)
		g.halt()
	})
}

func TestParallelTurnsAreBounded(t *testing.T) {
	var now, most atomic.Int64
	bubble(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-time.After(time.Second)
		now.Add(-1)
		return answers(ctx, in, emit)
	}, func(t *testing.T, g *gateway) {
		var rows []core.Admission
		for n := range 10 {
			rows = append(rows, g.say(fmt.Sprint(n)))
		}
		for _, a := range rows {
			g.ended(a.ID, time.Minute)
		}
		if most.Load() != 3 {
			t.Errorf("%d turns at once, want 3", most.Load())
		}
	}, func(c *dispatch.Config) { c.MaxParallel = 3 })
}

// A long queue of one conversation does not keep another one waiting for its end.
func TestSlotsAreShared(t *testing.T) {
	var mu sync.Mutex
	var order []string
	bubble(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
		<-time.After(time.Second)
		mu.Lock()
		order = append(order, string(in.Claim.Admission.Submission.Key))
		mu.Unlock()
		return answers(ctx, in, emit)
	}, func(t *testing.T, g *gateway) {
		var last core.Admission
		for range 4 {
			last = g.say("A")
		}
		other := g.say("B")
		g.ended(last.ID, time.Minute)
		g.ended(other.ID, time.Minute)
		if order[1] != "chat:B" && order[2] != "chat:B" {
			t.Errorf("order %v", order)
		}
	}, func(c *dispatch.Config) { c.MaxParallel = 1 })
}

// C072: what is held is claimed when its hold ends, without anybody asking all the time.
func TestHeldRowRunsWhenItsHoldEnds(t *testing.T) {
	bubble(t, answers, func(t *testing.T, g *gateway) {
		start := time.Now()
		a := g.say("1", func(e *core.Entry) { e.Hold, e.Submission.Part = 2*time.Second, true })
		g.ended(a.ID, time.Minute)
		if d := time.Since(start); d < 2*time.Second || d > 2100*time.Millisecond {
			t.Errorf("ran after %v", d)
		}
		if n := g.store.n.claim.Load(); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

// Rows that nobody was woken for, here or by another process, are found by the sweep.
func TestSweepFindsWhatNobodyWokeFor(t *testing.T) {
	bubble(t, answers, func(t *testing.T, g *gateway) {
		synctest.Wait()
		g.ended(g.admit("1").ID, 16*time.Second)
	})
}

func TestLeaseOfAnotherProcess(t *testing.T) {
	other := core.Holder{Host: "here/boot", PID: 2, Instance: "other"}
	bubble(t, answers, func(t *testing.T, g *gateway) {
		synctest.Wait() // the first sweep is over: it would run them at once
		chat := g.admit("1")
		program := g.admit("1", func(e *core.Entry) { e.Submission.Finite, e.Submission.Route = true, core.Route{} })
		l, err := g.store.Acquire(t.Context(), chat.Conversation, "theirs", other, 3*time.Hour, nil)
		if err != nil {
			t.Fatal(err)
		}
		g.Wake(chat.Conversation)
		<-time.After(time.Minute)
		g.ended(g.say("2").ID, time.Second) // the only slot was given back
		<-time.After(1800 * time.Second)
		if a := g.row(chat.ID); a.Status != core.Queued || len(g.notices()) != 1 {
			t.Errorf("%s, told %q", a.Status, g.notices())
		}
		if a := g.row(program.ID); a.Outcome.Result != core.Rejected || a.Outcome.Reason != core.ReasonWait || a.Outcome.Text == "" {
			t.Errorf("%+v", a)
		}
		<-time.After(2 * 1800 * time.Second)
		if told := g.notices(); len(told) != 1 {
			t.Errorf("told again: %q", told)
		}
		if err := g.store.Release(t.Context(), l.Fence); err != nil {
			t.Fatal(err)
		}
		g.ended(chat.ID, 2*time.Minute)
	}, othersLive, func(c *dispatch.Config) { c.MaxParallel = 1 })
}
