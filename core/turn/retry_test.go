package turn

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/provider"
)

// Each kind of failure: how often the model is asked, whether a second one is, and how the turn ends without one.
// C141: what goes to the next model, as a request of its own, and what does not.
func TestRetryTable(t *testing.T) {
	for kind, want := range map[provider.ErrorKind]struct {
		calls  int
		second bool
		end    core.Reason
	}{
		provider.RateLimited: {4, true, core.ReasonProvider},
		provider.Overloaded:  {4, true, core.ReasonProvider},
		provider.Transport:   {4, true, core.ReasonProvider},
		provider.NoStream:    {2, true, core.ReasonProvider},
		provider.Quota:       {1, true, core.ReasonProvider},
		provider.Auth:        {1, true, core.ReasonProvider},
		provider.NoModel:     {1, true, core.ReasonProvider},
		provider.BadRequest:  {1, true, core.ReasonProvider},
		provider.Filtered:    {1, false, core.ReasonProvider},
		provider.Overflow:    {1, true, core.ReasonOverflow},
	} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, fails(kind))
				s.models[0].name = "main*"
				o, _ := s.run(t.Context())
				if o.Reason != want.end || o.Result != core.Failed || s.models[0].calls() != want.calls {
					t.Errorf("alone: %+v after %d calls", o, s.models[0].calls())
				}
				s = newStage(t, fails(kind))
				s.models[0].name = "main*"
				s.models = append(s.models, &script{name: "second", scenes: []scene{says("second")}})
				o, _ = s.run(t.Context())
				if (o.Text == "second") != want.second || s.models[0].calls() != want.calls {
					t.Errorf("with a second model: %+v after %d calls", o, s.models[0].calls())
				}
				if want.second && s.models[1].asked[0].Model != "second-model" {
					t.Errorf("the request is for %s", s.models[1].asked[0].Model)
				}
			})
		})
	}
}

func TestEveryKindHasARemedyAndWords(t *testing.T) {
	for _, k := range []provider.ErrorKind{provider.RateLimited, provider.Quota, provider.Auth, provider.NoModel, provider.Overflow,
		provider.BadRequest, provider.Filtered, provider.Overloaded, provider.Transport, provider.NoStream} {
		if _, ok := remedies[k]; !ok {
			t.Errorf("%s has no remedy", k)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	limited := func(d time.Duration) scene {
		return fault(&provider.Error{Kind: provider.RateLimited, RetryAfter: d})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, limited(30*time.Second), says("x"))
		begun := time.Now()
		o, _ := s.run(t.Context())
		if took := time.Since(begun); o.Text != "x" || took < 30*time.Second || took > 35*time.Second {
			t.Errorf("%+v after %s", o, took)
		}
		if d := cmp.Diff([]string{"status.update retry"}, s.told()); d != "" {
			t.Error(d)
		}
		s = newStage(t, limited(61*time.Second), says("x"))
		s.models = append(s.models, &script{name: "second", scenes: []scene{says("second")}})
		begun = time.Now()
		if o, _ := s.run(t.Context()); o.Text != "second" || time.Since(begun) > time.Second {
			t.Errorf("%+v after %s", o, time.Since(begun))
		}
	})
}

func TestBackOffGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, fails(provider.Overloaded), fails(provider.Overloaded), fails(provider.Overloaded), says("x"))
		begun := time.Now()
		o, _ := s.run(t.Context())
		if took := time.Since(begun); o.Text != "x" || took < 1700*time.Millisecond || took > 5300*time.Millisecond {
			t.Errorf("%+v after %s", o, took)
		}
	})
}

// A stream that is cut after text was shown: the person sees the answer once, and half a call is never run.
func TestCutStream(t *testing.T) {
	for name, c := range map[string]struct {
		first, then scene
		want        string
		resets      int
	}{
		"the same again": {fails(provider.Transport, text("Hello "), text("wor")), says("Hel", "lo ", "world", "!"), "Hello world!", 0},
		"other words":    {fails(provider.Transport, text("Hello wor")), says("Good", " day."), "Good day.", 1},
		"shorter":        {fails(provider.Transport, text("Hello world")), says("Hello"), "Hello", 1},
		"half a call":    {fails(provider.Transport, text("Hi"), use("a", "fire", `{}`)), says("Hi there"), "Hi there", 0},
		"twice":          {fails(provider.Transport, text("abc")), says("abd"), "abd", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, c.first, c.then)
				o, _ := s.run(t.Context())
				if o.Text != c.want || len(s.results()) != 0 {
					t.Errorf("%+v %v", o, s.results())
				}
				if d := cmp.Diff([]string{c.want}, s.visible()); d != "" {
					t.Errorf("visible:\n%s", d)
				}
				if n := strings.Count(strings.Join(s.told(), "\n"), "message.reset"); n != c.resets {
					t.Errorf("%d resets", n)
				}
			})
		})
	}
}

func TestCutStreamForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, fails(provider.Transport, text("The beginning of ```\ncode")), fails(provider.Transport))
		s.models[0].name = "main*"
		o, tail := s.run(t.Context())
		if !strings.HasPrefix(o.Text, "The beginning of ```\ncode\n\n") || !strings.Contains(o.Text, "could not reach") {
			t.Errorf("what was shown does not stand: %q", o.Text)
		}
		last := tail[len(tail)-1]
		if last.Content != o.Text || strings.Contains(last.APIContent, "could not reach") || !strings.HasPrefix(last.APIContent, "The beginning") {
			t.Errorf("%+v", last)
		}
	})
}

func TestFenceIsClosed(t *testing.T) {
	for in, want := range map[string]string{
		"a":                       "a",
		"```go\nx":                "```go\nx\n```",
		"```\nx\n```\nb":          "```\nx\n```\nb",
		"~~~\n```\nx\n":           "~~~\n```\nx\n~~~",
		"```\na\n```\n```py\nb\n": "```\na\n```\n```py\nb\n```",
	} {
		if got := whole(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// C140. The endpoint cannot stream: its error text is nobody's answer.
func TestNoStreaming(t *testing.T) {
	s := newStage(t, fails(provider.NoStream, text("unknown does not support streaming")), uses("look", `{}`), says("real"))
	o, _ := s.run(t.Context())
	if o.Text != "real" {
		t.Errorf("%+v", o)
	}
	for i, want := range []bool{false, true, true} {
		if got := s.models[0].asked[i].NoStream; got != want {
			t.Errorf("call %d: whole %v", i, got)
		}
	}
	for _, v := range s.visible() {
		if strings.Contains(v, "streaming") {
			t.Errorf("the error is shown: %q", v)
		}
	}
}

func TestRecant(t *testing.T) {
	s := newStage(t, parts(text("plan the"), provider.Part{Recant: true}, text("Answer"), done))
	o, _ := s.run(t.Context())
	if d := cmp.Diff([]string{"Answer"}, s.visible()); o.Text != "Answer" || d != "" {
		t.Errorf("%q %s", o.Text, d)
	}
}

func TestReasoningIsAnnounced(t *testing.T) {
	s := newStage(t, parts(provider.Part{Reasoning: "a"}, provider.Part{Reasoning: "b"}, text("x"), done))
	_, tail := s.run(t.Context())
	if d := cmp.Diff([]string{"reasoning.delta", "reasoning.delta", "reasoning.available"}, s.told()); d != "" {
		t.Error(d)
	}
	if tail[0].Reasoning != "ab" {
		t.Errorf("stored %q", tail[0].Reasoning)
	}
}

func TestNoEndIsACutStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, parts(text("half")), says("half and more"))
		if o, _ := s.run(t.Context()); o.Text != "half and more" || s.models[0].calls() != 2 {
			t.Errorf("%+v", o)
		}
	})
}

func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, hangs(text("a")), says("ab"))
		begun := time.Now()
		o, _ := s.run(t.Context())
		if took := time.Since(begun); o.Text != "ab" || took < 5*time.Minute || took > 6*time.Minute {
			t.Errorf("%+v after %s", o, took)
		}
	})
}

// C144: no call is repeated that cannot succeed; the person is told.
func TestOverflow(t *testing.T) {
	t.Run("known before", func(t *testing.T) {
		s := newStage(t, says("x"))
		s.models[0].limits = provider.Limits{Window: 1000, Output: 200}
		s.in.Claim.Admission.Submission.Text = strings.Repeat("word ", 1000)
		o, _ := s.run(t.Context())
		if o.Reason != core.ReasonOverflow || s.models[0].calls() != 0 || !strings.Contains(o.Text, "too long") {
			t.Errorf("%+v after %d calls", o, s.models[0].calls())
		}
	})
	t.Run("a larger window is used", func(t *testing.T) {
		s := newStage(t, says("x"))
		s.models[0].limits = provider.Limits{Window: 1000, Output: 200}
		s.models = append(s.models, &script{name: "wide", scenes: []scene{says("fits")}, limits: provider.Limits{Window: 100000}})
		s.in.Claim.Admission.Submission.Text = strings.Repeat("word ", 1000)
		if o, _ := s.run(t.Context()); o.Text != "fits" {
			t.Errorf("%+v", o)
		}
	})
	t.Run("told by the endpoint", func(t *testing.T) {
		s := newStage(t, fails(provider.Overflow))
		s.models[0].name = "main*"
		s.models = append(s.models, &script{name: "wide", scenes: []scene{says("fits")}})
		if o, _ := s.run(t.Context()); o.Text != "fits" || s.models[0].calls() != 1 {
			t.Errorf("%+v", o)
		}
	})
}
