package turn

import (
	"fmt"
	"testing"

	"bellhop/core"
	"bellhop/core/tool"
)

// long is a transcript of n rows.
func long(n int) []core.Message {
	rows := make([]core.Message, 0, n+1)
	for i := range n / 2 {
		rows = append(rows, core.Message{ID: int64(2*i + 1), Admission: "older", Role: core.RoleUser, Content: fmt.Sprintf("question %d, of some length, as people write them", i)},
			core.Message{ID: int64(2*i + 2), Admission: "older", Role: core.RoleAssistant, Content: fmt.Sprintf("answer %d, which is a little longer than the question was, as answers are", i)})
	}
	return rows
}

func benchmark(b *testing.B, rows int, scenes ...scene) {
	s := newStage(&testing.T{}, scenes...)
	s.o.Spill = b.TempDir()
	s.o.Tools = tool.NewSet(s.tools)
	s.store.session = &core.Session{SystemPrompt: "You are an assistant."}
	history := long(rows)
	r := New(s.o)
	b.ReportAllocs()
	for b.Loop() {
		s.store.rows, s.store.calls, s.store.log = history, nil, nil
		s.models[0].scenes, s.models[0].asked = scenes, nil
		if o, _ := r.Run(b.Context(), s.in, func(core.EventBody) {}); o.Reason != core.ReasonAnswered {
			b.Fatalf("%+v", o)
		}
	}
}

// The overhead of a turn without tools on a history of 200 rows, without the endpoint and the disk.
func BenchmarkTurn200(b *testing.B) { benchmark(b, 200, says("one ", "two ", "three")) }

// The same with 400 deltas, as a long answer has.
func BenchmarkTurn400Deltas(b *testing.B) {
	var pieces []string
	for range 400 {
		pieces = append(pieces, "token ")
	}
	benchmark(b, 200, says(pieces...))
}

// A turn with one tool call.
func BenchmarkActOneTool(b *testing.B) { benchmark(b, 200, uses("fire", `{}`), says("done")) }
