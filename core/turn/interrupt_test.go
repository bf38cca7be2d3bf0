package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
	"bellhop/core/provider"
	"bellhop/core/tool"
)

// Each phase of a turn, interrupted: it ends within a second, says why, and keeps what was shown.
func TestInterruptInEachPhase(t *testing.T) {
	slow := gadget{spec: tool.Spec{Name: "slow", Effect: core.Once}, call: sleeps(time.Hour)}
	deaf := gadget{spec: tool.Spec{Name: "deaf", Effect: core.Once}, call: func(context.Context, tool.Env, jsonArgs) (tool.Result, error) {
		time.Sleep(time.Minute)
		return tool.Result{Text: "late"}, nil
	}}
	for name, c := range map[string]struct {
		scenes    []scene
		text      string
		uncertain bool
		results   string // substring of the results in the tail
	}{
		"before the first word":        {[]scene{hangs()}, "Stopped.", false, ""},
		"in the middle of a text":      {[]scene{hangs(text("Once upon"))}, "Once upon\n\n*(stopped)*", false, ""},
		"a provider that is deaf":      {[]scene{func(context.Context, func(provider.Part, error) bool) { time.Sleep(time.Minute) }}, "Stopped.", false, ""},
		"between two attempts":         {[]scene{fault(&provider.Error{Kind: provider.RateLimited, RetryAfter: 50 * time.Second})}, "Stopped.", false, ""},
		"in a tool":                    {[]scene{parts(text("I go."), use("a", "slow", `{}`), use("b", "fire", `{}`), done)}, "Stopped. Something", true, "half\n[It was interrupted|Skipped"},
		"in a tool that is deaf":       {[]scene{uses("deaf", `{}`)}, "Stopped. Something", true, "may still go on"},
		"while a person is asked":      {[]scene{parts(use("a", "risky", `{}`), use("b", "fire", `{}`), done)}, "Stopped.", false, "Skipped|Skipped"},
		"in the second model call":     {[]scene{uses("fire", `{}`), hangs(text("And"))}, "And\n\n*(stopped)*", false, ""},
		"while an answer goes on":      {[]scene{ends(provider.FinishLength, text("One ")), hangs(text("two"))}, "One two\n\n*(stopped)*", false, ""},
		"in an attempt that is behind": {[]scene{fails(provider.Transport, text("Hello world")), hangs(text("Hello"))}, "Hello world\n\n*(stopped)*", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, c.scenes...)
				s.tools = append(s.tools, slow, deaf)
				s.o.Asker = &desk{answer: func(ctx context.Context, q core.Question) (core.Question, error) {
					<-ctx.Done()
					return q, context.Cause(ctx)
				}}
				ctx, stop := after(30*time.Second, core.ReasonStopped)
				defer stop()
				begun := time.Now()
				defer time.Sleep(2 * time.Minute) // of the bubble's clock: until what was left behind has ended
				o, tail := s.run(ctx)
				if took := time.Since(begun) - 30*time.Second; took > 800*time.Millisecond {
					t.Errorf("ended %s after the stop", took)
				}
				if o.Result != core.Interrupted || o.Reason != core.ReasonStopped || !strings.HasPrefix(o.Text, c.text) || o.Uncertain != c.uncertain {
					t.Errorf("%+v", o)
				}
				var got []string
				for _, m := range tail {
					if m.Role == core.RoleTool {
						got = append(got, m.Content)
					}
				}
				for i, want := range strings.Split(c.results, "|") {
					if want != "" && (i >= len(got) || !strings.Contains(got[i], want)) {
						t.Errorf("results %q, want %q", got, want)
					}
				}
				if v := s.visible(); len(v) > 0 && !strings.HasPrefix(o.Text, v[len(v)-1]) && v[len(v)-1] != "I go." {
					t.Errorf("seen %q, stands %q", v, o.Text)
				}
			})
		})
	}
}

func TestReasonsOfInterrupts(t *testing.T) {
	for why, want := range map[core.Reason]struct{ empty, shown string }{
		core.ReasonStopped:  {"Stopped.", "part\n\n*(stopped)*"},
		core.ReasonReplaced: {"", "part\n\n*(interrupted)*"},
		core.ReasonShutdown: {"I had to shut down", "part\n\nI had to shut down"},
		core.ReasonLiveness: {"Nothing moved", "part\n\nNothing moved"},
		core.ReasonTime:     {"This took longer", "part\n\nThis took longer"},
		core.ReasonNew:      {"", "part\n\n*(interrupted)*"},
		"something new":     {"This was interrupted.", "part\n\nThis was interrupted."},
	} {
		synctest.Test(t, func(t *testing.T) {
			for _, c := range []struct {
				sc   scene
				want string
			}{{hangs(), want.empty}, {hangs(text("part")), want.shown}} {
				s := newStage(t, c.sc)
				ctx, stop := after(time.Second, why)
				o, _ := s.run(ctx)
				stop()
				if o.Reason != why || o.Result != core.Interrupted || !strings.HasPrefix(o.Text, c.want) || c.want == "" && o.Text != "" {
					t.Errorf("%s: %+v", why, o)
				}
			}
			s := newStage(t, hangs())
			ctx, stop := after(time.Second, core.ReasonLeaseLost)
			defer stop()
			if o, tail := s.run(ctx); o.Reason != core.ReasonLeaseLost || len(tail) != 0 {
				t.Errorf("%+v %v", o, tail)
			}
			s = newStage(t, hangs())
			plain, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if o, _ := s.run(plain); o.Reason != core.ReasonShutdown {
				t.Errorf("%+v", o)
			}
		})
	}
}

// A write that is under way when the turn is stopped gets a moment, so that its fate is known.
func TestInterruptDuringAWrite(t *testing.T) {
	for name, hang := range map[string]time.Duration{"short": 100 * time.Millisecond, "for ever": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, uses("fire", `{}`), says("x"))
				s.store.slow = func(ctx context.Context, n int) error {
					if n != 4 { // the assistant's row
						return nil
					}
					select {
					case <-time.After(10*time.Second + hang):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				ctx, stop := after(10*time.Second, core.ReasonStopped)
				defer stop()
				begun := time.Now()
				o, tail := s.run(ctx)
				if took := time.Since(begun) - 10*time.Second; o.Reason != core.ReasonStopped || took > 500*time.Millisecond {
					t.Errorf("%+v after %s", o, took)
				}
				if want := map[string]int{"short": 2, "for ever": 1}[name]; len(tail) != want {
					t.Errorf("tail %+v", tail)
				}
			})
		})
	}
}

// Whatever the model does and whenever the turn is interrupted: every call has exactly one result, the last word is the
// assistant's, and what was seen stands. stage.run checks the first two.
func TestAnyInterruptLeavesAWholeTranscript(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var scenes []scene
		var plot []string
		for i := range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			var list []provider.Part
			if rapid.Bool().Draw(rt, "text") {
				list = append(list, text(fmt.Sprintf("text %d ", i)))
			}
			for k := range rapid.IntRange(0, 5).Draw(rt, "calls") {
				name := rapid.SampledFrom([]string{"look", "nap", "slow", "fire", "risky", "never", "nothing", "write"}).Draw(rt, "tool")
				plot = append(plot, name)
				list = append(list, use("same", name, fmt.Sprintf(`{"n":%d}`, 10*i+k)))
			}
			scenes = append(scenes, paced(rapid.IntRange(0, 3).Draw(rt, "pace"), list...))
		}
		scenes = append(scenes, paced(2, text("the "), text("end")))
		at := time.Duration(rapid.IntRange(0, 40).Draw(rt, "at")) * 500 * time.Millisecond
		fail := rapid.IntRange(0, 30).Draw(rt, "fail")
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, scenes...)
			s.tools = append(s.tools, gadget{spec: tool.Spec{Name: "nap", Effect: core.ReadOnly, Parallel: true}, call: sleeps(time.Second)},
				gadget{spec: tool.Spec{Name: "slow", Effect: core.Once, Parallel: true}, call: sleeps(3 * time.Second)})
			s.o.Asker = &desk{answer: func(ctx context.Context, q core.Question) (core.Question, error) {
				select {
				case <-time.After(2 * time.Second):
					q.State, q.Answer = core.QuestionAnswered, []string{"once", "deny"}[len(q.Ask.Call)%2]
					return q, nil
				case <-ctx.Done():
					return q, context.Cause(ctx)
				}
			}}
			if fail > 0 && fail < 15 {
				s.store.fail = func(n int, what string) error {
					if n == fail {
						return core.Errorf(what, core.Unavailable, "scripted")
					}
					return nil
				}
			}
			ctx, stop := after(at, core.ReasonStopped)
			defer stop()
			o, _ := s.run(ctx)
			if v := s.visible(); len(v) > 0 && o.Result != core.Completed {
				for _, m := range s.store.rows {
					if m.Content == v[len(v)-1] && m.Interim {
						return // it stands in a row of its own
					}
				}
				if !strings.HasPrefix(o.Text, v[len(v)-1]) {
					t.Errorf("seen %q, stands %q", v, o.Text)
				}
			}
			if t.Failed() {
				rt.Fatalf("plot %v at %s, fail %d: %+v\n%v", plot, at, fail, o, s.store.log)
			}
		})
	})
}

// paced plays parts with a pause of so many seconds before each.
func paced(seconds int, list ...provider.Part) scene {
	return func(ctx context.Context, yield func(provider.Part, error) bool) {
		for _, p := range append(list, done) {
			select {
			case <-time.After(time.Duration(seconds) * time.Second):
			case <-ctx.Done():
				yield(provider.Part{}, &provider.Error{Kind: provider.Transport, Err: ctx.Err()})
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}
