package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/provider"
	"bellhop/core/tool"
)

// counted wraps the effectful tools of a stage and counts what was really executed.
func (s *stage) counted() *atomic.Int32 {
	n := new(atomic.Int32)
	for i, tt := range s.tools {
		g := tt.(gadget)
		inner := g.call
		if inner == nil {
			inner = constant("did " + g.spec.Name)
		}
		g.call = func(ctx context.Context, env tool.Env, args jsonArgs) (tool.Result, error) {
			n.Add(1)
			return inner(ctx, env, args)
		}
		s.tools[i] = g
	}
	return n
}

func TestBadCallsGetMatchingResults(t *testing.T) {
	s := newStage(t, parts(
		use("a", "nothing", `{}`), use("b", "look", `{}`), use("c", "picky", `{}`), use("d", "never", `{}`),
		use("", "look", `{"n":2}`), use("e", "look", `"{broken"`), use("f", "look", `{broken`), use("b", "look", `{"n":3}`),
		use("h", "admins", `{}`), use("i", "look", ``), done), says("x"))
	if o, _ := s.run(t.Context()); o.Text != "x" {
		t.Fatalf("%+v", o)
	}
	for i, want := range []string{"There is no tool nothing", "result of look {}", "path is missing", "Forbidden: it destroys", `result of look {"n":2}`,
		"not a JSON object", "not a JSON object", `result of look {"n":3}`, "There is no tool admins", "same as call_"} {
		if got := s.results()[i]; !strings.Contains(got, want) {
			t.Errorf("result %d: %q, want %q", i, got, want)
		}
	}
	ids := map[string]bool{}
	for _, c := range s.store.calls {
		ids[c.ID] = true
		if c.State != core.CallDone {
			t.Errorf("%s is %s", c.Name, c.State)
		}
	}
	if len(ids) != 10 {
		t.Errorf("%d different ids", len(ids))
	}
}

func TestCapAndDedupe(t *testing.T) {
	var list []provider.Part
	for i := range 40 {
		list = append(list, use("x", "fire", fmt.Sprintf(`{"n":%d}`, i%31)))
	}
	s := newStage(t, parts(append(list, done)...), says("x"))
	n := s.counted()
	s.run(t.Context())
	if r := s.results(); len(r) != 32 || n.Load() != 31 || !strings.Contains(r[31], "8 more calls were dropped") {
		t.Errorf("%d results, %d executed: %s", len(r), n.Load(), r[len(r)-1])
	}
}

func TestParallelSegmentsKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, parts(use("1", "nap", `{"n":1}`), use("2", "nap", `{"n":2}`), use("3", "fire", `{}`), use("4", "nap", `{"n":4}`), done), says("x"))
		s.tools = append(s.tools, gadget{spec: tool.Spec{Name: "nap", Effect: core.ReadOnly, Parallel: true}, call: func(_ context.Context, _ tool.Env, a jsonArgs) (tool.Result, error) {
			if strings.Contains(string(a), "1") {
				time.Sleep(time.Second) // of the bubble's clock: the first is the slowest
			}
			time.Sleep(time.Second)
			return tool.Result{Text: "nap " + string(a)}, nil
		}})
		begun := time.Now()
		s.run(t.Context())
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("took %s", took)
		}
		want := []string{`nap {"n":1}`, `nap {"n":2}`, "result of fire {}", `nap {"n":4}`}
		if d := cmp.Diff(want, s.results()); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"tool.start", "tool.start", "tool.complete ok", "tool.complete ok", "tool.start", "tool.complete ok",
			"tool.start", "tool.complete ok"}, s.told()); d != "" {
			t.Error(d)
		}
	})
}

// The result is committed before anybody hears of it.
func TestResultBeforeNews(t *testing.T) {
	s := newStage(t, uses("fire", `{}`), says("x"))
	s.on = func(b core.EventBody) {
		if b.Type == core.ToolComplete && s.store.log[len(s.store.log)-1] != "tool+done" {
			t.Errorf("complete after %v", s.store.log)
		}
		if b.Type == core.ToolStart && s.store.log[len(s.store.log)-1] != "started" {
			t.Errorf("start after %v", s.store.log)
		}
	}
	s.run(t.Context())
}

// At whichever write the store fails: nothing is executed after it, nothing is fed back, and the turn says so.
func TestPersistenceFailsAtEachWrite(t *testing.T) {
	for _, kind := range []core.Kind{core.NoSpace, core.Unavailable, core.Corrupt, core.Stale} {
		for n := 1; n <= 9; n++ {
			t.Run(fmt.Sprintf("%s at %d", kind, n), func(t *testing.T) {
				s := newStage(t, parts(text("I do it."), use("a", "fire", `{}`), use("b", "risky", `{}`), done), says("x"))
				s.o.Asker = answers(core.ChoiceOnce)
				executed := s.counted()
				var at int32 = -1
				asked := 0
				s.store.fail = func(w int, what string) error {
					if w < n {
						return nil
					}
					if at < 0 {
						at, asked = executed.Load(), s.models[0].calls()
					}
					return core.E(what, kind, errors.New("full"))
				}
				o, tail := s.run(t.Context())
				if at < 0 {
					t.Fatalf("the turn writes only %d times: %v", s.store.writes, s.store.log)
				}
				if executed.Load() != at || s.models[0].calls() != asked {
					t.Errorf("%d executed after the failed write", executed.Load()-at)
				}
				if kind == core.Stale {
					if o.Reason != core.ReasonLeaseLost || o.Result != core.Interrupted {
						t.Errorf("%+v", o)
					}
					return
				}
				if o.Reason != core.ReasonPersistence || o.Result != core.Failed || len(tail) == 0 {
					t.Errorf("%+v", o)
				}
				if (kind == core.NoSpace) != strings.Contains(o.Text, "disk full") {
					t.Errorf("%s: %s", kind, o.Text)
				}
			})
		}
	}
}

// A result that was not stored is in the tail as it was: it is the truth if the store takes the settlement.
func TestUnstoredResultIsInTheTail(t *testing.T) {
	s := newStage(t, parts(use("a", "fire", `{}`), use("b", "fire", `{"n":2}`), done), says("x"))
	s.store.fail = func(_ int, what string) error {
		if what == "tool+done" {
			return core.E("append", core.Unavailable, errors.New("gone"))
		}
		return nil
	}
	_, tail := s.run(t.Context())
	if len(tail) != 3 || tail[0].Content != "result of fire {}" || tail[0].Synthetic || tail[1].Content != textSkipped || !tail[1].Synthetic {
		t.Errorf("%+v", tail)
	}
}

func TestApprovals(t *testing.T) {
	twice := func() []scene { return []scene{uses("risky", `{"n":1}`), uses("risky", `{"n":2}`), says("x")} }
	for choice, want := range map[core.Choice]struct{ asked, ran int }{
		core.ChoiceOnce: {2, 2}, core.ChoiceSession: {1, 2}, core.ChoiceAlways: {1, 2}, core.ChoiceDeny: {2, 0}, "nonsense": {2, 0},
	} {
		t.Run(string(choice), func(t *testing.T) {
			s := newStage(t, twice()...)
			d := answers(choice)
			st := &rules{}
			s.o.Asker, s.o.Standing = d, st
			n := s.counted()
			var waits []bool
			s.in.Waiting = func(on bool) { waits = append(waits, on) }
			o, _ := s.run(t.Context())
			if len(d.asked) != want.asked || int(n.Load()) != want.ran || o.Text != "x" {
				t.Errorf("asked %d, ran %d, %+v", len(d.asked), n.Load(), o)
			}
			if len(waits) != 2*want.asked || !waits[0] || waits[1] {
				t.Errorf("waits %v", waits)
			}
			if want.ran == 0 && !strings.Contains(s.results()[0], "did not allow") {
				t.Errorf("results %v", s.results())
			}
			q := d.asked[0]
			if q.Ask.Kind != core.Approval || q.Ask.Call == "" || q.Ask.Detail != "all of it" || q.For != "telegram:1" || q.Admission != adm {
				t.Errorf("question %+v", q)
			}
			if got := slices.Contains(s.store.edited.Approved, "risky:x"); got != (choice == core.ChoiceSession) {
				t.Errorf("remembered for the session: %v", got)
			}
			if got := len(st.allowed) == 1; got != (choice == core.ChoiceAlways) {
				t.Errorf("remembered for ever: %v", st.allowed)
			}
		})
	}
}

// TestApprovalForOneCall: what may be approved only once is asked about again, whatever was answered.
func TestApprovalForOneCall(t *testing.T) {
	for _, choice := range []core.Choice{core.ChoiceOnce, core.ChoiceSession, core.ChoiceAlways} {
		s := newStage(t, uses("risky", `{"n":1}`), uses("risky", `{"n":2}`), says("x"))
		d, st := answers(choice), &rules{}
		s.o.Asker, s.o.Standing = d, st
		n := s.counted()
		for i, g := range s.tools {
			if g, ok := g.(gadget); ok && g.spec.Name == "risky" {
				g.risk.Once = true
				s.tools[i] = g
			}
		}
		s.run(t.Context())
		if len(d.asked) != 2 || n.Load() != 2 || len(st.allowed) != 0 || len(s.store.edited.Approved) != 0 {
			t.Errorf("%s: asked %d, ran %d, remembered %v", choice, len(d.asked), n.Load(), st.allowed)
		}
		if got, want := d.asked[0].Ask.Choices, []string{"once", "deny"}; !slices.Equal(got, want) {
			t.Errorf("%s: choices %v", choice, got)
		}
	}
}

// TestRefusalWithReason: the model hears what the person said.
func TestRefusalWithReason(t *testing.T) {
	s := newStage(t, uses("risky", `{}`), says("x"))
	s.o.Asker = answers(core.Choice(core.Deny("use the other folder")))
	n := s.counted()
	s.run(t.Context())
	if got := s.results()[0]; n.Load() != 0 || !strings.Contains(got, "did not allow") || !strings.Contains(got, "They said: use the other folder") {
		t.Errorf("ran %d, result %q", n.Load(), got)
	}
}

// rules is a Standing.
type rules struct {
	allowed []string
	verdict tool.Verdict
	err     error
}

func (r *rules) Ruling(context.Context, tool.Risk) (tool.Verdict, error) {
	if r.verdict == "" {
		return tool.Ask, r.err
	}
	return r.verdict, r.err
}
func (r *rules) Allow(_ context.Context, key string, _ core.PrincipalID) error {
	r.allowed = append(r.allowed, key)
	return r.err
}

func TestRulings(t *testing.T) {
	for name, c := range map[string]struct {
		rules    rules
		approved []string
		desk     *desk
		ran      int32
		result   string
	}{
		"allowed by rule":      {rules{verdict: tool.Allow}, nil, nil, 1, "did risky"},
		"forbidden by rule":    {rules{verdict: tool.Forbid}, []string{"risky:x"}, answers(core.ChoiceOnce), 0, "Forbidden"},
		"allowed in session":   {rules{}, []string{"risky:x"}, nil, 1, "did risky"},
		"nobody to ask":        {rules{}, nil, nil, 0, "nobody can be asked"},
		"rules cannot be read": {rules{err: errors.New("x"), verdict: tool.Allow}, nil, answers(core.ChoiceDeny), 0, "did not allow"},
		"cannot be remembered": {rules{err: errors.New("x")}, nil, answers(core.ChoiceAlways), 1, "did risky"},
		"asking fails":         {rules{}, nil, &desk{answer: func(context.Context, core.Question) (core.Question, error) { return core.Question{}, errors.New("x") }}, 0, "could not be asked"},
		"nobody answers in time": {rules{}, nil, &desk{answer: func(_ context.Context, q core.Question) (core.Question, error) {
			q.State, q.Answer = core.QuestionExpired, string(core.ChoiceOnce)
			return q, nil
		}}, 0, "Nobody answered"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, uses("risky", `{}`), says("x"))
			s.o.Standing, s.in.Claim.Conversation.Approved = &c.rules, c.approved
			if c.desk != nil {
				s.o.Asker = c.desk
			}
			n := s.counted()
			s.run(t.Context())
			if n.Load() != c.ran || !strings.Contains(s.results()[0], c.result) {
				t.Errorf("ran %d: %v", n.Load(), s.results())
			}
		})
	}
}

// Waiting for a person counts neither against the tools' time nor against the turn's.
func TestWaitingIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, parts(use("a", "risky", `{}`), use("b", "risky", `{"n":2}`), done), says("x"))
		s.o.Batch, s.o.MaxTime = 10*time.Second, time.Minute
		s.o.Asker = &desk{answer: func(_ context.Context, q core.Question) (core.Question, error) {
			time.Sleep(299 * time.Second)
			q.State, q.Answer = core.QuestionAnswered, "once"
			return q, nil
		}}
		n := s.counted()
		if o, _ := s.run(t.Context()); o.Reason != core.ReasonAnswered || n.Load() != 2 {
			t.Errorf("%+v, ran %d", o, n.Load())
		}
	})
}

func TestBatchDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, parts(use("a", "slow", `{}`), use("b", "fire", `{}`), done), says("x"))
		s.o.Batch = 60 * time.Second
		s.tools = append(s.tools, gadget{spec: tool.Spec{Name: "slow", Effect: core.Once}, call: sleeps(time.Hour)})
		beats := 0
		s.in.Active = func(string) { beats++ }
		o, _ := s.run(t.Context())
		r := s.results()
		if o.Text != "x" || o.Uncertain || !strings.Contains(r[0], "half\n[the time for the tools") || !strings.Contains(r[1], "Not run: the time") {
			t.Errorf("%+v %v", o, r)
		}
		if beats < 5 {
			t.Errorf("%d signs of life in a minute", beats)
		}
	})
}

func TestSteering(t *testing.T) {
	offer := func(s *stage, rows ...Steered) {
		given := false
		s.in.Steer = func() []Steered {
			if given {
				return nil
			}
			given = true
			return rows
		}
	}
	t.Run("joins the last result", func(t *testing.T) {
		s := newStage(t, parts(use("a", "fire", `{}`), use("b", "fire", `{"n":2}`), done), says("x"))
		s.store.queued = []core.AdmissionID{"s1", "s2"}
		offer(s, Steered{"s1", "use blue"}, Steered{"s2", "and\x00 red"})
		s.run(t.Context())
		r := s.results()
		if strings.Contains(r[0], "blue") || !strings.HasPrefix(r[1], "result of fire") || !strings.Contains(r[1], "use blue") || !strings.Contains(r[1], "and red") {
			t.Errorf("%v", r)
		}
		if len(s.store.queued) != 0 || !slices.Contains(s.store.log, "tool+done+consume+consume") {
			t.Errorf("left %v, writes %v", s.store.queued, s.store.log)
		}
	})
	t.Run("a row taken back is left out", func(t *testing.T) {
		s := newStage(t, uses("fire", `{}`), says("x"))
		offer(s, Steered{"gone", "use blue"})
		o, _ := s.run(t.Context())
		if o.Text != "x" || strings.Contains(s.results()[0], "blue") {
			t.Errorf("%+v %v", o, s.results())
		}
	})
	t.Run("without a tool nothing is taken", func(t *testing.T) {
		s := newStage(t, says("x"))
		s.in.Steer = func() []Steered { t.Error("asked for"); return nil }
		s.run(t.Context())
	})
}

func TestProgressIsTold(t *testing.T) {
	s := newStage(t, uses("talk", `{}`), says("x"))
	var late func(string)
	s.tools = append(s.tools, gadget{spec: tool.Spec{Name: "talk", Effect: core.ReadOnly}, call: func(_ context.Context, env tool.Env, _ jsonArgs) (tool.Result, error) {
		env.Progress("50 %")
		late = env.Progress
		return tool.Result{Text: "ok", Summary: "talked", Diff: "+x"}, nil
	}})
	s.run(t.Context())
	late("after the end")
	if d := cmp.Diff([]string{"tool.start", "tool.progress", "tool.complete ok"}, s.told()); d != "" {
		t.Error(d)
	}
	if e := s.events[2]; e.Detail != "talked" || e.Diff != "+x" || e.Name != "talk" || e.Call == "" {
		t.Errorf("%+v", e)
	}
}

func TestLargeResultIsSpilled(t *testing.T) {
	s := newStage(t, uses("big", `{}`), says("x"))
	s.o.MaxResult = 1000
	s.tools = append(s.tools, gadget{spec: tool.Spec{Name: "big", Effect: core.ReadOnly}, call: constant(strings.Repeat("😀", 2000))})
	s.run(t.Context())
	if r := s.results()[0]; len(r) > 1300 || !strings.Contains(r, "8000 bytes in all") || !strings.Contains(r, s.o.Spill+"/"+string(conv)) {
		t.Errorf("%d bytes: %s", len(r), r)
	}
}
