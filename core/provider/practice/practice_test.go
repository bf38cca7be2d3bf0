package practice_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"bellhop/core"
	"bellhop/core/provider"
	"bellhop/core/provider/practice"
	"bellhop/core/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) {
	providertest.Contract(t, func(*testing.T) provider.Provider { return practice.New(practice.Options{}) })
}

func tools() []provider.Tool {
	return []provider.Tool{{Name: "shell"}, {Name: "read_file"}, {Name: "write_file"}}
}

func user(text string) provider.Message { return provider.Message{Role: core.RoleUser, Text: text} }

func ask(t *testing.T, messages ...provider.Message) (*provider.Reply, error) {
	t.Helper()
	p := practice.New(practice.Options{})
	return provider.Gather(p.Stream(t.Context(), provider.Request{Model: "practice", Messages: messages, Tools: tools()}))
}

func TestCalls(t *testing.T) {
	for said, want := range map[string]string{
		"run: echo hi":                         `shell {"command":"echo hi"}`,
		"RUN:  ls -la | wc -l ":                `shell {"command":"ls -la | wc -l"}`,
		"run: cat <<E\na\nE":                   `shell {"command":"cat \u003c\u003cE\na\nE"}`,
		"read notes/a.txt":                     `read_file {"path":"notes/a.txt"}`,
		"write a.txt: hello: world":            `write_file {"content":"hello: world","path":"a.txt"}`,
		"Ann: run: date":                       `shell {"command":"date"}`,
		"[replying to Bob: hm]\nAnn: run: pwd": `shell {"command":"pwd"}`,
		"run: pwd\n[attached: file a.txt]":     `shell {"command":"pwd"}`,
	} {
		r, err := ask(t, user(said))
		if err != nil || len(r.Calls) != 1 || r.Done.Finish != provider.FinishTools || r.Text() == "" {
			t.Errorf("%q: %v, %v", said, r.Calls, err)
			continue
		}
		if got := r.Calls[0].Name + " " + string(r.Calls[0].Args); got != want || r.Calls[0].ID == "" {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
}

func TestIDsDiffer(t *testing.T) {
	a, _ := ask(t, user("run: date"))
	b, _ := ask(t, user("run: date"))
	if a.Calls[0].ID == b.Calls[0].ID {
		t.Error("two calls have one id")
	}
}

// TestSteps plays a whole turn of two steps.
func TestSteps(t *testing.T) {
	history := []provider.Message{user("run: date && then: write a.txt: x")}
	var texts []string
	for range 3 {
		r, err := ask(t, history...)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, r.Text())
		history = append(history, provider.Message{Role: core.RoleAssistant, Text: r.Text(), Calls: r.Calls})
		for _, c := range r.Calls {
			history = append(history, provider.Message{Role: core.RoleTool, CallID: c.ID, Text: "result of " + c.Name + "\n```\nx\n```"})
		}
	}
	if !strings.Contains(texts[1], "result of shell") || !strings.Contains(texts[1], "Let me write") {
		t.Errorf("second: %q", texts[1])
	}
	if !strings.Contains(texts[2], "````\nresult of write_file") || !strings.HasSuffix(texts[2], "\n````") {
		t.Errorf("third: %q", texts[2])
	}
	if err := providertest.Legal(provider.Request{Model: "m", Messages: history}); err != nil {
		t.Error(err)
	}
}

func TestAnswers(t *testing.T) {
	for said, check := range map[string]func(r *provider.Reply) bool{
		"count 5":   func(r *provider.Reply) bool { return r.Text() == "1 2 3 4 5" },
		"long 9000": func(r *provider.Reply) bool { return len(r.Text()) == 9000 && strings.HasSuffix(r.Text(), ".") },
		"long 0":    func(r *provider.Reply) bool { return r.Text() == "" },
		"table":     func(r *provider.Reply) bool { return strings.Contains(r.Text(), "|:-----") },
		"code":      func(r *provider.Reply) bool { return strings.Count(r.Text(), "```") == 2 },
		"think":     func(r *provider.Reply) bool { return r.Reasoning() != "" && r.Text() != "" },
		"Hello 👋 there": func(r *provider.Reply) bool {
			return strings.Contains(r.Text(), "You said: Hello 👋 there") && strings.Contains(r.Text(), "practice model")
		},
		"":            func(r *provider.Reply) bool { return strings.Contains(r.Text(), "You said nothing.") },
		"fail: what?": func(r *provider.Reply) bool { return strings.Contains(r.Text(), "`overloaded`") },
	} {
		if r, err := ask(t, user(said)); err != nil || !check(r) {
			t.Errorf("%q: %q, %v", said, r.Text(), err)
		}
	}
	later, _ := ask(t, user("a"), provider.Message{Role: core.RoleAssistant, Text: "b"}, user("c"))
	if strings.Contains(later.Text(), "Try one of these") || !strings.Contains(later.Text(), "You said: c") {
		t.Errorf("a later echo: %q", later.Text())
	}
	r, _ := provider.Gather(practice.New(practice.Options{}).Stream(t.Context(), provider.Request{Messages: []provider.Message{user("run: date")}}))
	if len(r.Calls) > 0 || !strings.Contains(r.Text(), "not offered") {
		t.Errorf("without the tool: %q %v", r.Text(), r.Calls)
	}
}

func TestFailures(t *testing.T) {
	for word, kind := range map[string]provider.ErrorKind{"rate": provider.RateLimited, "rate limited": provider.RateLimited,
		"too long": provider.Overflow, "Overloaded": provider.Overloaded, "auth": provider.Auth, "quota": provider.Quota,
		"transport": provider.Transport, "no streaming": provider.NoStream} {
		if r, err := ask(t, user("fail: "+word)); err == nil || provider.KindOf(err) != kind || r.Text() != "" {
			t.Errorf("%s: %v %q", word, err, r.Text())
		}
	}
	if r, err := ask(t, user("fail: cut")); provider.KindOf(err) != provider.Transport || r.Text() == "" {
		t.Errorf("cut: %v %q", err, r.Text())
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := practice.New(practice.Options{Rate: 10})
		begin := time.Now()
		var first time.Duration
		for part, err := range p.Stream(t.Context(), provider.Request{Messages: []provider.Message{user("count 21")}}) {
			if err != nil {
				t.Fatal(err)
			}
			if first == 0 && part.Text != "" {
				first = time.Since(begin) + 1
			}
		}
		if first != 1 || time.Since(begin) != 2*time.Second {
			t.Errorf("first after %v, all after %v", first-1, time.Since(begin))
		}
	})
}

func TestSlowIsStoppedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, rate := range []int{0, 60} {
			p := practice.New(practice.Options{Rate: rate})
			ctx, cancel := context.WithCancelCause(t.Context())
			why := &core.Interrupt{Reason: core.ReasonStopped}
			begin := time.Now()
			time.AfterFunc(10*time.Second, func() { cancel(why) })
			r, err := provider.Gather(p.Stream(ctx, provider.Request{Messages: []provider.Message{user("slow: 30")}}))
			if !errors.Is(err, why) || time.Since(begin) != 10*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
			if want := fmt.Sprint(10); !strings.Contains(r.Text(), want) || strings.Contains(r.Text(), "12") {
				t.Errorf("%q", r.Text())
			}
		}
	})
}
