package stream

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bellhop/core"
)

// A ring holds what a slice that is cut to the newest max would hold.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		max := rapid.IntRange(1, 200).Draw(t, "max")
		r, want, seq, at := newRing(max), []core.Event(nil), int64(0), time.Unix(1, 0)
		some := func() *core.Event {
			at = at.Add(time.Duration(rapid.IntRange(-1000, 5000).Draw(t, "µs")) * time.Microsecond)
			typ := rapid.SampledFrom([]core.EventType{core.MessageDelta, core.MessageDelta, core.MessageDelta, core.ToolStart}).Draw(t, "type")
			return &core.Event{Turn: "T", At: at, EventBody: core.EventBody{Type: typ, Text: rapid.StringN(0, 5, -1).Draw(t, "text")}}
		}
		add := func(e *core.Event) {
			var old *core.Event
			if len(want) == max {
				old, want = &want[0], want[1:]
			}
			i, _ := slices.BinarySearchFunc(want, e.Seq, func(a core.Event, seq int64) int { return int(a.Seq - seq) })
			want = slices.Insert(slices.Clone(want), i, *e)
			got, typ, fell := r.insert(e)
			if fell != (old != nil) || fell && (got != old.Seq || typ != old.Type) {
				t.Fatalf("fell %v: %d %s, want %+v", fell, got, typ, old)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"next": func(*rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					e := some()
					seq++
					e.Seq = seq
					add(e)
				}
			},
			"after a gap": func(*rapid.T) {
				e := some()
				seq += 3
				e.Seq = seq
				add(e)
			},
			"late": func(t *rapid.T) {
				e := some()
				if e.Seq = seq - 1; seq < 2 || slices.ContainsFunc(want, func(w core.Event) bool { return w.Seq == e.Seq }) {
					t.Skip("there is no gap")
				}
				add(e)
			},
			"pop": func(t *rapid.T) {
				e, ok := r.pop()
				if ok != (len(want) > 0) {
					t.Fatalf("popped %v of %d", ok, len(want))
				}
				if ok {
					if diff := cmp.Diff(want[0], e); diff != "" {
						t.Fatal(diff)
					}
					want = want[1:]
				}
			},
			"keep": func(*rapid.T) {
				r.keep(core.EventType.Durable)
				want = slices.DeleteFunc(slices.Clone(want), func(e core.Event) bool { return !e.Type.Durable() })
			},
			"": func(t *rapid.T) {
				if diff := cmp.Diff(want, slices.Collect(r.all())); r.n != len(want) || len(want) > 0 && diff != "" {
					t.Fatalf("%d events, want %d: %s", r.n, len(want), diff)
				}
			},
		})
	})
}
