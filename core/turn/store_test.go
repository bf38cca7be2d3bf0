package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/provider"
	"bellhop/core/readback"
	"bellhop/core/store"
	"bellhop/core/tool"
	"bellhop/core/turn"
)

// model answers each request with the next of its replies.
type model struct{ replies [][]provider.Part }

func (m *model) Stream(context.Context, provider.Request) iter.Seq2[provider.Part, error] {
	next := m.replies[0]
	m.replies = m.replies[1:]
	return func(yield func(provider.Part, error) bool) {
		for _, p := range next {
			if !yield(p, nil) {
				return
			}
		}
	}
}
func (m *model) Limits(string) provider.Limits       { return provider.Limits{} }
func (m *model) Probe(context.Context, string) error { return nil }

var end = provider.Part{Done: &provider.Done{Finish: provider.FinishStop}}

func says(s string) []provider.Part { return []provider.Part{{Text: s}, end} }
func uses(name string) []provider.Part {
	return []provider.Part{{Call: &core.ToolCall{ID: "call_1", Name: name, Args: json.RawMessage(`{}`)}}, end}
}

// gadget counts how often it ran.
type gadget struct {
	effect core.Effect
	ran    int
	call   func(ctx context.Context) (tool.Result, error)
}

func (g *gadget) Spec() tool.Spec { return tool.Spec{Name: "gadget", Effect: g.effect} }
func (g *gadget) Assess(context.Context, tool.Env, json.RawMessage) (tool.Risk, error) {
	return tool.Risk{Verdict: tool.Allow}, nil
}
func (g *gadget) Call(ctx context.Context, _ tool.Env, _ json.RawMessage) (tool.Result, error) {
	g.ran++
	if g.call != nil {
		return g.call(ctx)
	}
	return tool.Result{Text: fmt.Sprintf("ran %d times", g.ran)}, nil
}

// house is a conversation in a real store.
type house struct {
	t *testing.T
	s *store.Store
	c core.ConversationID
	n int
}

func newHouse(t *testing.T) *house {
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "bellhop.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &house{t: t, s: s}
}

func (h *house) admit(text string) {
	h.t.Helper()
	h.n++
	out, err := h.s.Admit(h.t.Context(), core.Intake{Entries: []core.Entry{{By: core.Principal{ID: "chat:ann", Caps: core.CanSubmit},
		Submission: core.Submission{Key: "chat:1", Source: "chat:1", RequestID: core.RequestID(fmt.Sprint(h.n)), Text: text, Surface: "chat"}}}})
	if err != nil || out[0].Err != nil {
		h.t.Fatal(err, out)
	}
	h.c = out[0].Admission.Conversation
}

// play claims the next row and runs its turn; settle says whether the process lives long enough to settle it.
func (h *house) play(m *model, g *gadget, settle bool) (core.Claim, core.Outcome) {
	h.t.Helper()
	ctx := h.t.Context()
	lease, err := h.s.Acquire(ctx, h.c, core.TurnID(fmt.Sprint("turn", time.Now().UnixNano())), core.Holder{Host: "h", PID: 1}, time.Minute,
		func(core.Holder) bool { return false })
	if err != nil {
		h.t.Fatal(err)
	}
	claim, err := h.s.ClaimNext(ctx, lease.Fence, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r := turn.New(turn.Options{Store: h.s, Tools: tool.NewSet([]tool.Tool{g}), Spill: h.t.TempDir(), Workspace: "/nowhere",
		Models: func(string) []turn.Model { return []turn.Model{{Provider: m, Name: "m", Model: "m"}} }})
	o, tail := r.Run(ctx, turn.Input{Claim: &claim, Fence: lease.Fence}, func(core.EventBody) {})
	if settle {
		if _, err := h.s.Settle(ctx, lease.Fence, claim.Admission.ID, core.Settlement{Outcome: o, Tail: tail}); err != nil {
			h.t.Fatal(err)
		}
	}
	return claim, o
}

// die makes the started row unknown, as after the death of its process, and reads it back.
func (h *house) die() readback.Report {
	h.t.Helper()
	if _, err := h.s.Orphan(h.t.Context(), func(core.Holder) bool { return false }); err != nil {
		h.t.Fatal(err)
	}
	rows, err := h.s.Unsettled(h.t.Context(), h.c)
	if err != nil || len(rows) == 0 || rows[0].Status != core.Unknown {
		h.t.Fatal(err, rows)
	}
	rep, err := readback.New(h.s, readback.Options{}).Settle(h.t.Context(), rows[0])
	if err != nil {
		h.t.Fatal(err)
	}
	return rep
}

func (h *house) transcript() string {
	h.t.Helper()
	rows, err := h.s.Load(h.t.Context(), h.c)
	if err != nil {
		h.t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range rows {
		b.WriteString(string(m.Role))
		if len(m.Calls) > 0 {
			fmt.Fprintf(&b, "(%d)", len(m.Calls))
		}
		b.WriteString(":" + m.Content + "\n")
	}
	return b.String()
}

func TestOnTheRealStore(t *testing.T) {
	h, g := newHouse(t), &gadget{effect: core.Once}
	for i := range 3 { // the endpoint names each call the same; the ledger must not mind
		h.admit(fmt.Sprint("question ", i))
		if _, o := h.play(&model{[][]provider.Part{uses("gadget"), says(fmt.Sprint("answer ", i))}}, g, true); o.Reason != core.ReasonAnswered {
			t.Fatalf("%+v", o)
		}
	}
	want := "user:question 0\nassistant(1):\ntool:ran 1 times\nassistant:answer 0\nuser:question 1\nassistant(1):\ntool:ran 2 times\n" +
		"assistant:answer 1\nuser:question 2\nassistant(1):\ntool:ran 3 times\nassistant:answer 2\n"
	if got := h.transcript(); got != want {
		t.Errorf("transcript:\n%s", got)
	}
}

// A turn whose process died after its tool's result goes on from there: nothing runs twice, and the message is there once.
func TestGoesOnAfterDeath(t *testing.T) {
	h, g := newHouse(t), &gadget{effect: core.Once}
	h.admit("do it")
	h.play(&model{[][]provider.Part{uses("gadget"), {{Text: "half"}, end}}}, g, false)
	if rep := h.die(); rep.Decision.Case != readback.CallsDone || rep.Retry == nil {
		t.Fatalf("%+v", rep)
	}
	claim, o := h.play(&model{[][]provider.Part{says("It is done.")}}, g, true)
	if !claim.Admission.Resume || o.Text != "It is done." || g.ran != 1 {
		t.Errorf("%+v, ran %d", o, g.ran)
	}
	if got, want := h.transcript(), "user:do it\nassistant(1):\ntool:ran 1 times\nassistant:It is done.\n"; got != want {
		t.Errorf("transcript:\n%s", got)
	}
}

// A call that may be repeated is: once more, under the same id.
func TestRepeatsAfterDeath(t *testing.T) {
	h, g := newHouse(t), &gadget{effect: core.Idempotent}
	h.admit("do it")
	running, release, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	g.call = func(context.Context) (tool.Result, error) {
		close(running)
		<-release
		return tool.Result{Text: "too late"}, nil
	}
	go func() {
		defer close(gone)
		if _, o := h.play(&model{[][]provider.Part{uses("gadget")}}, g, false); o.Reason != core.ReasonLeaseLost {
			t.Errorf("the dead turn ends %+v", o)
		}
	}()
	<-running
	g.call = nil
	defer func() { close(release); <-gone }()
	if rep := h.die(); rep.Decision.Case != readback.Repeatable || rep.Retry == nil {
		t.Fatalf("%+v", rep)
	}
	if _, o := h.play(&model{[][]provider.Part{says("It is done.")}}, g, true); o.Text != "It is done." || g.ran != 2 {
		t.Errorf("%+v, ran %d", o, g.ran)
	}
	if got, want := h.transcript(), "user:do it\nassistant(1):\ntool:ran 2 times\nassistant:It is done.\n"; got != want {
		t.Errorf("transcript:\n%s", got)
	}
}

// One that died before anything was done begins again, with its message adopted.
func TestBeginsAgainAfterDeath(t *testing.T) {
	h, g := newHouse(t), &gadget{effect: core.Once}
	h.admit("hello")
	h.play(&model{[][]provider.Part{says("never settled")}}, g, false)
	if rep := h.die(); rep.Decision.Case != readback.NoCall {
		t.Fatalf("%+v", rep)
	}
	h.play(&model{[][]provider.Part{says("Hello.")}}, g, true)
	if got, want := h.transcript(), "user:hello\nassistant:Hello.\n"; got != want {
		t.Errorf("transcript:\n%s", got)
	}
}
