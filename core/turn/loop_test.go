package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/provider"
	"bellhop/core/tool"
)

func TestPlainAnswer(t *testing.T) {
	s := newStage(t, says("Hel", "lo."))
	o, tail := s.run(t.Context())
	if o.Result != core.Completed || o.Reason != core.ReasonAnswered || o.Text != "Hello." {
		t.Errorf("%+v", o)
	}
	if o.Usage != (core.Usage{Calls: 1, Input: 10, Output: 5}) {
		t.Errorf("usage %+v", o.Usage)
	}
	if len(tail) != 1 || tail[0].Content != "Hello." || tail[0].Synthetic || tail[0].Admission != adm {
		t.Errorf("tail %+v", tail)
	}
	if d := cmp.Diff([]string{"session", "user"}, s.store.log); d != "" {
		t.Errorf("the prompt and its session come before the message:\n%s", d)
	}
	if s.store.session.SystemPrompt == "" || s.models[0].asked[0].System != s.store.session.SystemPrompt {
		t.Error("the model did not get the stored prompt")
	}
}

func TestStoredPromptIsReplayed(t *testing.T) {
	s := newStage(t, says("x"))
	s.store.session = &core.Session{SystemPrompt: "as it was"}
	s.run(t.Context())
	if got := s.models[0].asked[0].System; got != "as it was" || len(s.store.log) != 1 {
		t.Errorf("prompt %q, writes %v", got, s.store.log)
	}
}

func TestMessageHeardWithTheClaimIsNotStoredAgain(t *testing.T) {
	s := newStage(t, says("x"))
	s.store.session = &core.Session{SystemPrompt: "p"}
	s.store.rows = []core.Message{{ID: 1, Admission: adm, Role: core.RoleUser, Content: "hello"}}
	s.in.Claim.Heard = s.store.rows
	_, tail := s.run(t.Context())
	if n := len(s.models[0].asked[0].Messages); n != 1 || len(s.store.log) != 0 || len(tail) != 1 {
		t.Errorf("the model sees %d messages, the store %v, tail %+v", n, s.store.log, tail)
	}
}

func TestFirstMessageNeedsNoTranscript(t *testing.T) {
	s := newStage(t, says("x"))
	s.store.fail = func(_ int, what string) error {
		if what == "load" {
			return errors.New("it was read")
		}
		return nil
	}
	s.in.Claim.Conversation.History = 1
	s.store.rows = []core.Message{{ID: 1, Admission: adm, Role: core.RoleUser, Content: "hello"}}
	s.in.Claim.Heard = s.store.rows
	o, _ := s.run(t.Context())
	if o.Result != core.Completed || s.models[0].asked[0].Messages[0].Text != "hello" {
		t.Errorf("%+v", o)
	}
}

func TestHeard(t *testing.T) {
	row := core.Admission{ID: adm, Submission: core.Submission{Text: "hello"}}
	if m, ok := Heard(row); !ok || m.Role != core.RoleUser || m.Content != "hello" || m.Admission != adm {
		t.Errorf("%+v %v", m, ok)
	}
	files, resumed := row, row
	files.Submission.Attachments = []core.Attachment{{Kind: "photo"}}
	resumed.Resume = true
	for _, row := range []core.Admission{files, resumed} {
		if m, ok := Heard(row); ok {
			t.Errorf("%+v", m)
		}
	}
}

func TestUserMessageIsAdopted(t *testing.T) {
	s := newStage(t, says("x"))
	s.store.rows = []core.Message{{ID: 1, Admission: adm, Role: core.RoleUser, Content: "hello"}}
	s.run(t.Context())
	if n := len(s.models[0].asked[0].Messages); n != 1 {
		t.Errorf("the model sees %d messages", n)
	}
}

func TestToolRound(t *testing.T) {
	s := newStage(t, parts(text("Let me "), text("look."), use("a", "look", `{"n":1}`), done), uses("fire", `{}`), says("Done."))
	o, _ := s.run(t.Context())
	if o.Text != "Done." || o.Usage.Calls != 3 {
		t.Errorf("%+v", o)
	}
	want := []string{"session", "user", "assistant+recorded", "tool+done", "assistant+recorded", "started", "tool+done"}
	if d := cmp.Diff(want, s.store.log); d != "" {
		t.Errorf("writes:\n%s", d)
	}
	if d := cmp.Diff([]string{"started", "tool+done"}, s.store.synced); d != "" {
		t.Errorf("synced writes:\n%s", d)
	}
	if d := cmp.Diff([]string{"message.interim", "tool.start", "tool.complete ok", "tool.start", "tool.complete ok"}, s.told()); d != "" {
		t.Errorf("news:\n%s", d)
	}
	if d := cmp.Diff([]string{"Let me look.", "Done."}, s.visible()); d != "" {
		t.Errorf("visible:\n%s", d)
	}
}

// The text of every block is shown once, in order.
func TestBlocksBetweenTools(t *testing.T) {
	s := newStage(t, parts(text("A"), use("1", "look", `{}`), done), parts(text("B"), use("2", "look", `{"n":2}`), done), says("C"))
	o, _ := s.run(t.Context())
	if d := cmp.Diff([]string{"A", "B", "C"}, s.visible()); d != "" || o.Text != "C" {
		t.Errorf("%s %q", d, o.Text)
	}
}

func TestEmptyAnswers(t *testing.T) {
	musing := parts(provider.Part{Reasoning: "I think the answer is 4"}, done)
	t.Run("C134 reasoning only is continued once", func(t *testing.T) {
		s := newStage(t, musing, says("4"))
		o, _ := s.run(t.Context())
		if o.Text != "4" || o.Reason != core.ReasonAnswered || s.models[0].calls() != 2 {
			t.Errorf("%+v after %d calls", o, s.models[0].calls())
		}
		for _, v := range s.visible() {
			if strings.Contains(v, "think") {
				t.Error("the reasoning was shown")
			}
		}
		if len(s.store.rows) != 1 {
			t.Errorf("the request for an answer is in the transcript: %d rows", len(s.store.rows))
		}
	})
	t.Run("twice is a failure that is told", func(t *testing.T) {
		s := newStage(t, musing, parts(done))
		if o, _ := s.run(t.Context()); o.Reason != core.ReasonProvider || s.models[0].calls() != 2 || !strings.Contains(o.Text, "no answer") {
			t.Errorf("%+v", o)
		}
	})
	t.Run("another model is asked", func(t *testing.T) {
		s := newStage(t, parts(done), parts(done))
		s.models = append(s.models, &script{name: "second", scenes: []scene{says("here")}})
		if o, _ := s.run(t.Context()); o.Text != "here" {
			t.Errorf("%+v", o)
		}
	})
	t.Run("C135 silence after a tool that spoke", func(t *testing.T) {
		s := newStage(t, uses("speak", `{}`), parts(done))
		o, _ := s.run(t.Context())
		if o.Result != core.Completed || o.Reason != core.ReasonSilent || o.Text != "" || s.models[0].calls() != 2 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("but not after another round", func(t *testing.T) {
		s := newStage(t, uses("speak", `{}`), uses("look", `{}`), parts(done), says("x"))
		if o, _ := s.run(t.Context()); o.Text != "x" {
			t.Errorf("%+v", o)
		}
	})
}

// C147.
func TestLengthLimit(t *testing.T) {
	t.Run("is continued", func(t *testing.T) {
		s := newStage(t, ends(provider.FinishLength, text("One ")), ends(provider.FinishLength, text("two ")), says("three."))
		o, _ := s.run(t.Context())
		if o.Text != "One two three." {
			t.Errorf("%+v", o)
		}
		if d := cmp.Diff([]string{"One two three."}, s.visible()); d != "" {
			t.Error(d)
		}
		last := s.models[0].asked[2].Messages
		if n := len(last); n != 3 || last[1].Text != "One two " {
			t.Errorf("the model continues %+v", last)
		}
	})
	t.Run("is marked in the end", func(t *testing.T) {
		s := newStage(t, ends(provider.FinishLength, text("a")), ends(provider.FinishLength, text("b")), ends(provider.FinishLength, text("c")))
		if o, _ := s.run(t.Context()); o.Text != "abc"+cutMark || s.models[0].calls() != 3 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("calls count whatever the reason", func(t *testing.T) {
		for _, f := range []provider.Finish{provider.FinishLength, provider.FinishStop, provider.FinishTools} {
			s := newStage(t, ends(f, use("a", "look", `{}`)), says("x"))
			if o, _ := s.run(t.Context()); o.Text != "x" || len(s.results()) != 1 {
				t.Errorf("%s: %+v", f, o)
			}
		}
	})
}

// C143.
func TestRepeatsHalt(t *testing.T) {
	same := func() scene { return uses("look", `{"path":"x"}`) }
	t.Run("five times the same", func(t *testing.T) {
		s := newStage(t, same())
		s.models[0].name = "loop*"
		o, _ := s.run(t.Context())
		if o.Reason != core.ReasonGuard || o.Result != core.Failed || s.models[0].calls() != 5 {
			t.Fatalf("%+v after %d calls", o, s.models[0].calls())
		}
		for i, r := range s.results() {
			if got := strings.Contains(r, "same 3 times"); got != (i == 2) {
				t.Errorf("result %d: %s", i, r)
			}
		}
	})
	t.Run("order of keys does not matter", func(t *testing.T) {
		s := newStage(t)
		s.tools = append(s.tools, gadget{spec: tool.Spec{Name: "same", Effect: core.ReadOnly}, call: constant("r")})
		for i := range 10 {
			args := `{"a":1,"b":2}`
			if i%2 == 0 {
				args = `{"b":2, "a":1}`
			}
			s.models[0].scenes = append(s.models[0].scenes, uses("same", args))
		}
		if o, _ := s.run(t.Context()); o.Reason != core.ReasonGuard || s.models[0].calls() != 5 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("in turns", func(t *testing.T) {
		s := newStage(t)
		for i := range 20 {
			s.models[0].scenes = append(s.models[0].scenes, uses("look", fmt.Sprintf(`{"n":%d}`, i%2)))
		}
		if o, _ := s.run(t.Context()); o.Reason != core.ReasonGuard || s.models[0].calls() != 10 {
			t.Errorf("%+v after %d calls", o, s.models[0].calls())
		}
	})
	t.Run("progress is no repeat", func(t *testing.T) {
		s := newStage(t)
		for i := range 20 {
			s.models[0].scenes = append(s.models[0].scenes, uses("look", fmt.Sprintf(`{"n":%d}`, i)))
		}
		s.models[0].scenes = append(s.models[0].scenes, says("x"))
		if o, _ := s.run(t.Context()); o.Text != "x" {
			t.Errorf("%+v", o)
		}
	})
	t.Run("polling is normal", func(t *testing.T) {
		s := newStage(t)
		s.tools = append(s.tools, gadget{spec: tool.Spec{Name: "poll", Effect: core.ReadOnly, Polling: true}})
		for range 12 {
			s.models[0].scenes = append(s.models[0].scenes, uses("poll", `{}`))
		}
		s.models[0].scenes = append(s.models[0].scenes, says("x"))
		if o, _ := s.run(t.Context()); o.Text != "x" {
			t.Errorf("%+v", o)
		}
	})
}

func TestBudget(t *testing.T) {
	t.Run("a last word without tools", func(t *testing.T) {
		s := newStage(t)
		s.o.MaxCalls = 3
		for i := range 3 {
			s.models[0].scenes = append(s.models[0].scenes, uses("fire", fmt.Sprintf(`{"n":%d}`, i)))
		}
		s.models[0].scenes = append(s.models[0].scenes, parts(text("I got as far as 3."), use("x", "fire", `{}`), done))
		o, _ := s.run(t.Context())
		if o.Result != core.Completed || o.Reason != core.ReasonBudget || o.Text != "I got as far as 3." || len(s.results()) != 3 {
			t.Errorf("%+v", o)
		}
		if last := s.models[0].asked[3]; len(last.Tools) != 0 {
			t.Error("the last call still offers tools")
		}
	})
	t.Run("reading is free for a while", func(t *testing.T) {
		s := newStage(t)
		s.o.MaxCalls = 3
		for i := range 20 {
			s.models[0].scenes = append(s.models[0].scenes, uses("look", fmt.Sprintf(`{"n":%d}`, i)))
		}
		o, _ := s.run(t.Context())
		if o.Reason != core.ReasonBudget || s.models[0].calls() != 7 {
			t.Errorf("%s after %d calls", o.Reason, s.models[0].calls())
		}
	})
	t.Run("when the last word fails, we say it", func(t *testing.T) {
		s := newStage(t, uses("fire", `{}`), fails(provider.Filtered))
		s.o.MaxCalls = 1
		o, _ := s.run(t.Context())
		if o.Result != core.Failed || o.Reason != core.ReasonBudget || !strings.Contains(o.Text, "all the steps") {
			t.Errorf("%+v", o)
		}
	})
	t.Run("rich clients get more", func(t *testing.T) {
		s := newStage(t, uses("fire", `{}`), says("x"))
		s.o.MaxCalls, s.o.MaxCallsRich = 1, 2
		s.in.Claim.Admission.Submission.Rich = true
		if o, _ := s.run(t.Context()); o.Reason != core.ReasonAnswered {
			t.Errorf("%+v", o)
		}
	})
	t.Run("time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, uses("slow", `{}`), says("so far"))
			s.o.MaxTime = 100e9
			s.tools = append(s.tools, gadget{spec: tool.Spec{Name: "slow", Effect: core.Once}, call: sleeps(101e9)})
			if o, _ := s.run(t.Context()); o.Reason != core.ReasonTime || o.Text != "so far" || o.Result != core.Completed {
				t.Errorf("%+v", o)
			}
		})
	})
}

func TestPanics(t *testing.T) {
	t.Run("of a provider", func(t *testing.T) {
		s := newStage(t, func(context.Context, func(provider.Part, error) bool) { panic("secret boom") })
		if o, _ := s.run(t.Context()); o.Reason != core.ReasonPanic || !strings.Contains(o.Error, "boom") {
			t.Errorf("%+v", o)
		}
	})
	t.Run("of the store", func(t *testing.T) {
		s := newStage(t, uses("fire", `{}`), says("x"))
		s.store.slow = func(_ context.Context, n int) error {
			if n == 4 {
				panic("boom")
			}
			return nil
		}
		if o, _ := s.run(t.Context()); o.Reason != core.ReasonPanic {
			t.Errorf("%+v", o)
		}
	})
	t.Run("of a tool is its result", func(t *testing.T) {
		s := newStage(t, uses("bomb", `{}`), says("it failed"))
		s.tools = append(s.tools, gadget{spec: tool.Spec{Name: "bomb", Effect: core.Once}, call: func(context.Context, tool.Env, jsonArgs) (tool.Result, error) {
			panic("boom")
		}})
		if o, _ := s.run(t.Context()); o.Text != "it failed" || !strings.Contains(s.results()[0], "failed inside") {
			t.Errorf("%+v %v", o, s.results())
		}
	})
}

func TestNothingLeaksIntoTheNextTurn(t *testing.T) {
	s := newStage(t, fails(provider.Quota))
	s.models = append(s.models, &script{name: "second", scenes: []scene{says("from the second")}})
	s.o.Tools = tool.NewSet(s.tools)
	r := New(s.o)
	first, _ := r.Run(t.Context(), s.in, func(core.EventBody) {})
	s.models[0].scenes = []scene{says("from the first")}
	second, _ := r.Run(t.Context(), s.in, func(core.EventBody) {})
	if first.Text != "from the second" || second.Text != "from the first" || second.Usage.Calls != 1 {
		t.Errorf("%+v\n%+v", first, second)
	}
}

func TestNoModel(t *testing.T) {
	s := newStage(t)
	s.models = nil
	if o, tail := s.run(t.Context()); o.Reason != core.ReasonProvider || len(tail) != 2 {
		t.Errorf("%+v %v", o, tail)
	}
}

func TestGroupAndReplyReachTheModelOnly(t *testing.T) {
	s := newStage(t, says("x"))
	s.in.Claim.Admission.Submission.Group, s.in.Claim.Admission.Submission.Author = true, "Ann"
	s.run(t.Context())
	if got := s.models[0].asked[0].Messages[0].Text; got != "Ann: hello" || s.store.rows[0].Content != "hello" {
		t.Errorf("model %q, transcript %q", got, s.store.rows[0].Content)
	}
}
