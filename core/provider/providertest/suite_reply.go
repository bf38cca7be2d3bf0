package providertest

import (
	"fmt"
	"strings"
	"testing"

	"bellhop/core"
	"bellhop/core/provider"

	"github.com/google/go-cmp/cmp"
)

func testText(t *testing.T, k Kit) {
	b := k.start(t)
	t.Run("pieces join", func(t *testing.T) {
		r := b.must(t, Text("Hel", "lo ", "wörld 😀", "\n```go\n\tx := \"<&>\"\n```"))
		if want := "Hello wörld 😀\n```go\n\tx := \"<&>\"\n```"; r.Text() != want {
			t.Errorf("%q", r.Text())
		}
		if r.Done.Finish != provider.FinishStop || r.Done.Model != "m" {
			t.Errorf("%+v", r.Done)
		}
	})
	t.Run("usage", func(t *testing.T) {
		u := core.Usage{Input: 100, Output: 20, CacheRead: 64, CacheWrite: 3, Reasoning: 7, Cost: 0.25}
		r := b.must(t, Text("x"), Cost(u))
		u.Calls = 1
		if diff := cmp.Diff(u, r.Done.Usage); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("cut at the output limit", func(t *testing.T) {
		if r := b.must(t, Text("half a sen"), Finish("length")); r.Done.Finish != provider.FinishLength || r.Text() != "half a sen" {
			t.Errorf("%q %+v", r.Text(), r.Done)
		}
	})
	t.Run("filtered", func(t *testing.T) {
		if r := b.must(t, Finish("content_filter")); r.Done.Finish != provider.FinishFiltered {
			t.Errorf("%+v", r.Done)
		}
	})
	t.Run("an empty reply is whole", func(t *testing.T) {
		if r := b.must(t); r.Text() != "" {
			t.Errorf("%q", r.Text())
		}
	})
	t.Run("one piece of 200 KB", func(t *testing.T) {
		long := strings.Repeat("0123456789", 20<<10)
		if r := b.must(t, Text(long)); r.Text() != long {
			t.Errorf("%d bytes", len(r.Text()))
		}
	})
	t.Run("at once", func(t *testing.T) {
		b.server.Script(Reply{Think("hm"), Text("Hello"), Call("c1", "look", `{"a":1}`)})
		req := ask("hello")
		req.NoStream = true
		r, err := provider.Gather(b.provider.Stream(t.Context(), req))
		if err != nil || r.Text() != "Hello" || r.Reasoning() != "hm" || len(r.Calls) != 1 || r.Done.Finish != provider.FinishTools {
			t.Errorf("%q %q %v %v", r.Text(), r.Reasoning(), r.Calls, err)
		}
		if asked := b.server.Requests(); asked[len(asked)-1].Stream {
			t.Error("it asked for a stream")
		}
	})
}

func testCalls(t *testing.T, k Kit) {
	for _, d := range append([]Dialect{Standard}, k.Dialects...) {
		if d == ReasoningField || d == ReasoningDetails || d == ThinkTags || d == TypedParts {
			continue
		}
		t.Run(fmt.Sprintf("dialect %q", d), func(t *testing.T) { testDialect(t, k.start(t), d) })
	}
	t.Run("names come before the call is whole", func(t *testing.T) { testNaming(t, k.start(t)) })
	t.Run("arguments that are no object", func(t *testing.T) {
		for args, want := range map[string]string{
			"": `{}`, "null": `{}`, `{"path":`: `"{\"path\":"`, `[1]`: `"[1]"`, `{"a":1}{"a":1}`: `"{\"a\":1}{\"a\":1}"`,
		} {
			r := k.start(t).must(t, Call("c1", "look", args))
			if len(r.Calls) != 1 || string(r.Calls[0].Args) != want {
				t.Errorf("%s: %s", args, r.Calls)
			}
		}
	})
	t.Run("a cut within a call", func(t *testing.T) {
		r, err := k.start(t).play(t, Call("c1", "look", `{"a":1}`), Cut())
		wantKind(t, err, provider.Transport)
		if len(r.Calls) > 0 {
			t.Errorf("a call of a cut stream was handed out: %v", r.Calls)
		}
	})
}

func testDialect(t *testing.T, b bench, d Dialect) {
	t.Helper()
	want := []core.ToolCall{{ID: "call_a", Name: "read_file", Args: []byte(`{"path":"a"}`)},
		{ID: "call_b", Name: "read_file", Args: []byte(`{"path":"b\n\"ü"}`)}}
	if d == Legacy {
		want = want[:1]
	}
	steps := []Step{In(d), Text("Let me look.")}
	for _, c := range want {
		steps = append(steps, Call(c.ID, c.Name, string(c.Args)))
	}
	r := b.must(t, steps...)
	ids := map[string]bool{}
	for i := range r.Calls {
		ids[r.Calls[i].ID] = true
		if d == NoID || d == Legacy {
			r.Calls[i].ID = want[min(i, len(want)-1)].ID
		}
	}
	if diff := cmp.Diff(want, r.Calls); diff != "" {
		t.Error(diff)
	}
	if r.Text() != "Let me look." || r.Done.Finish != provider.FinishTools || len(ids) != len(want) || ids[""] {
		t.Errorf("%q %+v %v", r.Text(), r.Done, ids)
	}
}

// testNaming: that a call is being written is told before the call is whole.
func testNaming(t *testing.T, b bench) {
	t.Helper()
	b.server.Script(Reply{Call("c1", "look", `{"a":1}`), Call("c2", "find", `{}`)})
	var order []string
	for p, err := range b.provider.Stream(t.Context(), ask("x")) {
		switch {
		case err != nil:
			t.Fatal(err)
		case p.Naming != "":
			order = append(order, "naming "+p.Naming)
		case p.Call != nil:
			order = append(order, "call "+p.Call.Name)
		}
	}
	if diff := cmp.Diff([]string{"naming look", "naming find", "call look", "call find"}, order); diff != "" {
		t.Error(diff)
	}
}

func testReasoning(t *testing.T, k Kit) {
	for _, d := range append([]Dialect{Standard}, k.Dialects...) {
		if d != Standard && d != ReasoningField && d != ReasoningDetails && d != ThinkTags && d != TypedParts {
			continue
		}
		t.Run(fmt.Sprintf("dialect %q", d), func(t *testing.T) {
			r := k.start(t).must(t, In(d), Think("First ", "second."), Text("Ans", "wer"))
			if r.Text() != "Answer" || r.Reasoning() != "First second." {
				t.Errorf("text %q, reasoning %q", r.Text(), r.Reasoning())
			}
		})
	}
	t.Run("reasoning alone is not an answer", func(t *testing.T) {
		if r := k.start(t).must(t, Think("the whole answer")); r.Text() != "" || r.Reasoning() != "the whole answer" {
			t.Errorf("text %q, reasoning %q", r.Text(), r.Reasoning())
		}
	})
}

func testRequest(t *testing.T, k Kit) {
	b := k.start(t)
	req := provider.Request{Model: "m", System: "Be brief.", MaxOutput: 100, User: "u1",
		Tools: []provider.Tool{{Name: "look", About: "Looks.", Schema: []byte(`{"type":"object","properties":{"a":{"type":"integer"}}}`)}},
		Messages: []provider.Message{
			{Role: core.RoleUser, Text: "What?", Images: []provider.Image{{MIME: "image/png", Data: []byte{1, 2, 3}}}},
			{Role: core.RoleAssistant, Calls: []core.ToolCall{{ID: "c1", Name: "look", Args: []byte(`{"a":1}`)}, {ID: "c2", Name: "look", Args: []byte(`{}`)}}},
			{Role: core.RoleTool, CallID: "c1", Text: "one <&> \u2028"},
			{Role: core.RoleTool, CallID: "c2", Text: ""},
			{Role: core.RoleAssistant, Text: "Seen."},
			{Role: core.RoleUser, Text: "And?"},
		}}
	if _, err := provider.Gather(b.provider.Stream(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	if p := b.server.Problems(); len(p) > 0 {
		t.Fatal(p)
	}
	got := b.server.Requests()[0]
	if diff := cmp.Diff(req, got.Request); diff != "" {
		t.Error(diff)
	}
	if !got.Stream {
		t.Error("it did not ask for a stream")
	}
	t.Run("pictures in a tool result reach the model", func(t *testing.T) {
		req.Messages[2].Images = []provider.Image{{MIME: "image/png", Data: []byte{4}}}
		if _, err := provider.Gather(b.provider.Stream(t.Context(), req)); err != nil {
			t.Fatal(err, b.server.Problems())
		}
		asked := b.server.Requests()
		var pictures int
		for _, m := range asked[len(asked)-1].Messages {
			pictures += len(m.Images)
		}
		if pictures != 2 {
			t.Errorf("%d pictures", pictures)
		}
	})
}
