package rpc

import (
	"testing"

	"bellhop/core"
)

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
