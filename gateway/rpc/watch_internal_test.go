package rpc

import (
	"fmt"
	"testing"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

func newWatch(room int) (*watch, *outbox) {
	out := newOutbox(room)
	return &watch{out: out, room: room}, out
}

func numbered(t core.EventType, seq int64) core.Event {
	return core.Event{Seq: seq, EventBody: core.EventBody{Type: t}}
}

// taken empties an outbox: type and number of each event, "lag" where some were dropped.
func taken(out *outbox) (all []string) {
	for {
		_, it, ok := out.take()
		if !ok {
			return all
		}
		what := fmt.Sprintf("%s %d", it.event.Type, it.event.Seq)
		if it.lag {
			what = "lag"
		}
		all = append(all, what)
	}
}

// TestNewsThatNobodyCanAskFor: what has no number, and an end of a turn that comes late, reach the client in every state.
func TestNewsThatNobodyCanAskFor(t *testing.T) {
	const delta, end = core.MessageDelta, core.MessageComplete
	for name, tt := range map[string]struct {
		do   func(w *watch)
		want []string
	}{
		"live": {func(w *watch) {
			w.On(numbered(delta, 5))
			w.On(numbered(delta, 0))
			w.On(numbered(end, 0))
			w.On(numbered(end, 3))
			w.On(numbered(delta, 6))
		}, []string{"message.delta 5", "message.delta 0", "message.complete 0", "message.complete 0", "message.delta 6"}},
		"after a reply": {func(w *watch) {
			w.hold()
			w.cover(9, false, nil)
			w.release()
			w.On(numbered(delta, 8))
			w.On(numbered(delta, 0))
			w.On(numbered(end, 7))
			w.On(numbered(end, 10))
		}, []string{"message.delta 0", "message.complete 0", "message.complete 10"}},
		"held": {func(w *watch) {
			w.hold()
			w.On(numbered(delta, 0))
			w.On(numbered(end, 7))
			w.On(numbered(end, 8))
			w.On(numbered(delta, 9))
			w.cover(9, false, []core.Event{numbered(end, 8)})
			w.release()
		}, []string{"message.delta 0", "message.complete 0"}},
		"told in an earlier page": {func(w *watch) {
			w.hold()
			w.cover(9, true, []core.Event{numbered(end, 8)})
			w.release()
			w.hold()
			w.catchUp()
			w.On(numbered(end, 8))
			w.On(numbered(end, 12))
			w.cover(11, false, nil)
			w.release()
		}, []string{"message.complete 12"}},
		"a reply that failed": {func(w *watch) {
			w.hold()
			w.On(numbered(delta, 4))
			w.On(numbered(end, 0))
			w.fail()
			w.release()
		}, []string{"lag", "message.complete 0"}},
		"forgotten with what can be asked for": {func(w *watch) {
			w.On(numbered(delta, 4))
			w.On(numbered(end, 0))
			w.On(numbered(delta, 5))
			w.hold()
			w.catchUp()
			if w.last != 3 {
				t.Errorf("what was forgotten begins after %d", w.last)
			}
			w.cover(5, false, nil)
			w.release()
		}, []string{"message.complete 0"}},
	} {
		w, out := newWatch(8)
		tt.do(w)
		if diff := cmp.Diff(tt.want, taken(out)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestLaggingIsBounded: also news without a number has the room of the client only.
func TestLaggingIsBounded(t *testing.T) {
	w, out := newWatch(2)
	for range 9 {
		w.On(numbered(core.MessageDelta, 0))
	}
	if diff := cmp.Diff([]string{"message.delta 0", "message.delta 0", "lag"}, taken(out)); diff != "" {
		t.Error(diff)
	}
	w.On(numbered(core.MessageDelta, 4))
	w.On(numbered(core.MessageComplete, 0))
	if diff := cmp.Diff([]string{"message.complete 0"}, taken(out)); diff != "" {
		t.Errorf("lagging: %s", diff)
	}
	w, out = newWatch(2)
	w.hold()
	for range 9 {
		w.On(numbered(core.MessageDelta, 0))
	}
	if diff := cmp.Diff([]string{"lag"}, taken(out)); diff != "" || len(w.waiting) != 2 {
		t.Errorf("held: %d wait, %s", len(w.waiting), diff)
	}
	for n := range int64(500) {
		w.cover(n, false, []core.Event{numbered(core.MessageComplete, n)})
	}
	if len(w.ends) != mostEnds || w.ends[mostEnds-1] != 499 {
		t.Errorf("%d ends are kept", len(w.ends))
	}
}

// BenchmarkWatch measures what one event costs for one client, from the hub to its frame.
func BenchmarkWatch(b *testing.B) {
	s := New(Config{})
	out := newOutbox(1024)
	w := &watch{out: out, room: 1024}
	e := core.Event{Conversation: "20261130_120000_000001", Admission: "01JDZ0000000000000000000AA", Turn: "01JDZ0000000000000000000BB",
		EventBody: core.EventBody{Type: core.MessageDelta, Text: "a piece of text"}}
	b.ReportAllocs()
	for b.Loop() {
		e.Seq++
		w.On(e)
		_, it, ok := out.take()
		if !ok || len(s.eventFrame(it)) == 0 {
			b.Fatal("the event is not there")
		}
	}
}
