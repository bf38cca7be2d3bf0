package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
)

// shelf is an event log in memory.
type shelf struct {
	mu   sync.Mutex
	rows map[core.ConversationID][]core.Event
	next map[core.ConversationID]int64
	fail error
}

func newShelf() *shelf {
	return &shelf{rows: map[core.ConversationID][]core.Event{}, next: map[core.ConversationID]int64{}}
}

func (s *shelf) Reserve(_ context.Context, c core.ConversationID, n int) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base := s.next[c] + 1
	s.next[c] += int64(n)
	return base, s.fail
}

func (s *shelf) Record(_ context.Context, es ...core.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	for _, e := range es {
		if e.Type.Durable() {
			s.rows[e.Conversation] = append(s.rows[e.Conversation], e)
		}
	}
	return nil
}

func (s *shelf) Since(_ context.Context, c core.ConversationID, seq int64, limit int) ([]core.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := slices.Clone(s.rows[c])
	slices.SortFunc(rows, func(a, b core.Event) int { return int(a.Seq - b.Seq) })
	rows = slices.DeleteFunc(rows, func(e core.Event) bool { return e.Seq <= seq })
	return rows[:min(limit, len(rows))], nil
}

func (s *shelf) Trim(context.Context, time.Time) (int, error) { return 0, nil }

func (s *shelf) setFail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// ear remembers what it hears.
type ear struct {
	mu sync.Mutex
	es []core.Event
}

func (l *ear) On(e core.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.es = append(l.es, e)
}

func (l *ear) heard() (types []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.es {
		types = append(types, fmt.Sprintf("%d %s%s", e.Seq, e.Type, e.Text))
	}
	return types
}

func delta(text string) core.EventBody {
	return core.EventBody{Type: core.MessageDelta, Text: text}
}

func body(t core.EventType, text string) core.EventBody { return core.EventBody{Type: t, Text: text} }

func wants(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestHubNumbers(t *testing.T) {
	h, l := NewHub(newShelf(), HubOptions{}), &ear{}
	defer h.Attach("c", l)()
	h.Emit(t.Context(), "c", "a", "t", delta("x"))
	h.Open("c", 5000)
	h.Emit(t.Context(), "c", "a", "t", delta("y"))
	h.Open("c", 3000) // an older block changes nothing
	h.Emit(t.Context(), "c", "a", "t", delta("z"))
	wants(t, l.heard(), "1 message.deltax", "5000 message.deltay", "5001 message.deltaz")
}

func TestHubHoldsBackHigherNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, l := NewHub(newShelf(), HubOptions{}), &ear{}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		detach := h.AttachAll(l)
		e, err := h.Number(ctx, "c", "a", "t", body(core.MessageComplete, ""))
		if err != nil {
			t.Fatal(err)
		}
		h.Emit(ctx, "c", "a", "t", delta("x"))
		wants(t, l.heard())
		if es, _ := h.Since(ctx, "c", 0); len(es) != 0 {
			t.Errorf("told ahead of its time: %v", es)
		}
		h.Publish(e)
		wants(t, l.heard(), "1 message.complete", "2 message.deltax")

		e, _ = h.Number(ctx, "c", "a", "t", body(core.MessageComplete, ""))
		h.Emit(ctx, "c", "a", "t", delta("y"))
		h.Drop(e)
		wants(t, l.heard()[2:], "4 message.deltay")

		h.Number(ctx, "c", "a", "t", body(core.MessageComplete, "")) // never published
		h.Emit(ctx, "c", "a", "t", delta("z"))
		time.Sleep(2 * holdMax)
		synctest.Wait()
		wants(t, l.heard()[3:], "6 message.deltaz")
		detach()
		h.Emit(ctx, "c", "a", "t", delta("unheard"))
		wants(t, l.heard()[4:])
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestHubTellsWithoutNumbers(t *testing.T) {
	s := newShelf()
	s.setFail(errors.New("down"))
	h, l := NewHub(s, HubOptions{}), &ear{}
	defer h.Attach("c", l)()
	h.Emit(t.Context(), "c", "a", "t", delta("x"))
	wants(t, l.heard(), "0 message.deltax")
	if _, err := h.Number(t.Context(), "c", "a", "t", delta("x")); err == nil {
		t.Error("a number out of nowhere")
	}
}

// echo publishes from inside On.
type echo struct {
	h *Hub
	t *testing.T
}

func (l echo) On(e core.Event) {
	if e.Text == "ping" {
		l.h.Emit(l.t.Context(), e.Conversation, "", "", delta("pong"))
	}
}

func TestHubListenersMayPublish(t *testing.T) {
	h, l := NewHub(newShelf(), HubOptions{}), &ear{}
	defer h.Attach("c", echo{h, t})()
	defer h.Attach("c", l)()
	h.Emit(t.Context(), "c", "", "", delta("ping"))
	wants(t, l.heard(), "1 message.deltaping", "2 message.deltapong")
}

func TestHubRecordsAcrossOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		h := NewHub(s, HubOptions{Ring: 2})
		h.Open("c", 1)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		s.setFail(errors.New("locked"))
		for range 5 {
			h.Emit(ctx, "c", "a", "t", body(core.ToolStart, ""))
		}
		time.Sleep(10 * time.Second)
		es, err := h.Since(ctx, "c", 1)
		if err != nil || len(es) != 4 {
			t.Errorf("%v %v", es, err)
		}
		s.setFail(nil)
		h.Emit(ctx, "c", "a", "t", body(core.ToolComplete, ""))
		stop() // what waits is flushed
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := len(s.rows["c"]); n != 6 {
			t.Errorf("%d rows", n)
		}
	})
}

func TestHubReplaysLostDeltasAsOne(t *testing.T) {
	h := NewHub(newShelf(), HubOptions{Ring: 3})
	h.Open("c", 1)
	for _, s := range []string{"a", "b", "c", "d", "e"} {
		h.Emit(t.Context(), "c", "a", "t", delta(s))
	}
	for seq, want := range map[int64][]string{
		0: {"5 message.resetabcde"}, 1: {"5 message.resetabcde"}, 3: {"4 message.deltad", "5 message.deltae"}, 5: nil,
	} {
		es, err := h.Since(t.Context(), "c", seq)
		if err != nil {
			t.Fatal(err)
		}
		l := ear{es: es}
		wants(t, l.heard(), want...)
	}
}

func TestHubForgetsIdleConversations(t *testing.T) {
	h := NewHub(newShelf(), HubOptions{Conversations: 10})
	defer h.Attach("watched", &ear{})()
	for i := range 100 {
		h.Emit(t.Context(), core.ConversationID(fmt.Sprint(i)), "", "", delta("x"))
	}
	if len(h.rooms) > 11 || h.idle.Len() != len(h.rooms) || h.rooms["watched"] == nil {
		t.Errorf("%d rooms", len(h.rooms))
	}
}

func TestSubscriptionLag(t *testing.T) {
	s := NewSubscription(2)
	for i := range 5 {
		s.On(core.Event{Seq: int64(i + 1)})
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, ErrLagged) {
		t.Fatal(err)
	}
	e, err := s.Next(t.Context())
	if err != nil || e.Seq != 5 {
		t.Errorf("%v %v", e, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// reader is a client: it rebuilds the text under way from what it is told.
type reader struct {
	seq     int64
	durable []int64
	text    string
	bad     string
	stop    context.CancelFunc
	done    chan struct{}
}

func (r *reader) take(e core.Event) {
	if e.Seq <= r.seq {
		r.bad = fmt.Sprintf("%d after %d", e.Seq, r.seq)
	}
	r.seq = e.Seq
	switch e.Type {
	case core.MessageDelta:
		r.text += e.Text
	case core.MessageReset:
		r.text = e.Text
	default:
		r.text = ""
		r.durable = append(r.durable, e.Seq)
	}
}

// connect follows from where the reader is.
func (r *reader) connect(ctx context.Context, h *Hub) {
	ctx, r.stop = context.WithCancel(ctx)
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		for e, err := range h.Follow(ctx, "c", r.seq) {
			if err != nil {
				r.bad = err.Error()
				return
			}
			r.take(e)
		}
	}()
	synctest.Wait() // it is attached
}

func (r *reader) cut() { r.stop(); <-r.done }

// TestHubNothingTwiceNothingMissed publishes at random, with readers that come and go, evictions and restarts.
func TestHubNothingTwiceNothingMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(timeless{t}, func(rt *rapid.T) { newWorld(t, rt).run() })
	})
}

// timeless hides the deadline, which may not be asked for in a bubble.
type timeless struct{ rapid.TB }

type world struct {
	rt    *rapid.T
	ctx   context.Context
	shelf *shelf
	h     *Hub
	stop  context.CancelFunc
	done  chan error
	r     *reader
	on    bool
	text  string
	words int
	lossy bool // text under way was lost with the hub's memory
}

func newWorld(t *testing.T, rt *rapid.T) *world {
	w := &world{rt: rt, ctx: t.Context(), shelf: newShelf(), r: &reader{}}
	w.start()
	return w
}

func (w *world) start() {
	ctx, stop := context.WithCancel(w.ctx)
	w.h, w.stop, w.done = NewHub(w.shelf, HubOptions{Ring: rapid.IntRange(1, 20).Draw(w.rt, "ring"), Conversations: 2}), stop, make(chan error, 1)
	go func() { w.done <- w.h.Run(ctx) }()
}

func (w *world) run() {
	w.rt.Repeat(map[string]func(*rapid.T){
		"delta": func(rt *rapid.T) {
			for range rapid.IntRange(1, 8).Draw(rt, "n") {
				w.words++
				s := fmt.Sprintf("w%d ", w.words)
				w.text += s
				w.h.Emit(w.ctx, "c", "a", "t", delta(s))
			}
		},
		"reset": func(*rapid.T) {
			w.text, w.lossy = "again ", false
			w.h.Emit(w.ctx, "c", "a", "t", body(core.MessageReset, w.text))
		},
		"tool": func(*rapid.T) {
			w.text, w.lossy = "", false
			w.h.Emit(w.ctx, "c", "a", "t", body(core.ToolStart, ""))
		},
		"open": func(*rapid.T) {
			base, _ := w.shelf.Reserve(w.ctx, "c", core.EventBlock)
			w.h.Open("c", base)
		},
		"settle": func(rt *rapid.T) {
			e, err := w.h.Number(w.ctx, "c", "a", "t", body(core.MessageComplete, "full"))
			if err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "fails") {
				w.h.Drop(e)
				return
			}
			w.text, w.lossy = "", false
			_ = w.shelf.Record(w.ctx, e)
			w.h.Publish(e)
		},
		"connect": func(*rapid.T) {
			if !w.on {
				w.r.connect(w.ctx, w.h)
				w.on = true
			}
		},
		"cut": func(*rapid.T) {
			if w.on {
				w.r.cut()
				w.on = false
			}
		},
		"others": func(*rapid.T) {
			w.lossy = w.lossy || !w.on && w.text != ""
			for i := range 4 {
				w.h.Emit(w.ctx, core.ConversationID(fmt.Sprint(i)), "a", "t", delta("x"))
			}
		},
		"settles": func(rt *rapid.T) {
			if synctest.Wait(); w.on && !w.lossy && w.r.text != w.text {
				rt.Fatalf("text %q, want %q", w.r.text, w.text)
			}
		},
		"restart": func(*rapid.T) {
			w.restart()
		},
	})
	if !w.on {
		w.r.connect(w.ctx, w.h)
	}
	w.h.Emit(w.ctx, "c", "a", "t", body(core.ToolStart, "")) // a boundary, behind which all is known again
	w.h.Emit(w.ctx, "c", "a", "t", delta("the end"))
	synctest.Wait()
	w.r.cut()
	w.down()
	w.check()
}

func (w *world) restart() {
	w.lossy = w.lossy || w.text != ""
	if w.on {
		w.r.cut()
	}
	w.down()
	w.start()
	if w.on {
		w.r.connect(w.ctx, w.h)
	}
}

func (w *world) down() {
	w.stop()
	if err := <-w.done; err != nil {
		w.rt.Fatal(err)
	}
}

func (w *world) check() {
	if w.r.bad != "" {
		w.rt.Fatal(w.r.bad)
	}
	if w.r.text != "the end" {
		w.rt.Fatalf("text %q", w.r.text)
	}
	rows, _ := w.shelf.Since(w.ctx, "c", 0, 1<<20)
	var want []int64
	for _, e := range rows {
		want = append(want, e.Seq)
	}
	if !slices.Equal(w.r.durable, want) {
		w.rt.Fatalf("heard %v\nstored %v", w.r.durable, want)
	}
}
