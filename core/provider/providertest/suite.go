package providertest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/provider"
)

// Kit is what the suite needs of an implementation.
type Kit struct {
	// New returns a provider that asks base with key through client. Its time-outs are 120 s and 60 s.
	New func(base, key string, client *http.Client) provider.Provider
	// Server returns a server that speaks the provider's wire form.
	Server func(rules ...Rule) *Server
	// Dialects are the ways of writing that the wire form has beside the standard one.
	Dialects []Dialect
}

// planted is a key that must never be read anywhere; the suite looks for it in every error.
const planted = "sk-planted-SECRET/0123456789+abcdef"

// Run runs the whole suite: a file per subject.
func Run(t *testing.T, k Kit) {
	subjects := []struct {
		name string
		run  func(*testing.T, Kit)
	}{
		{"text", testText}, {"calls", testCalls}, {"reasoning", testReasoning}, {"request", testRequest},
		{"faults", testFaults}, {"kinds", testKinds}, {"silence", testSilence}, {"leaving", testLeaving},
		{"probe", testProbe},
	}
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) { s.run(t, k) })
	}
	t.Run("contract", func(t *testing.T) {
		Contract(t, func(t *testing.T) provider.Provider { return k.start(t).provider })
	})
}

// bench is one server with one provider in front of it.
type bench struct {
	server   *Server
	provider provider.Provider
}

func (k Kit) start(t *testing.T, rules ...Rule) bench {
	t.Helper()
	s := k.Server(rules...)
	s.Key = planted
	client, stop := s.Pipe()
	t.Cleanup(stop)
	return bench{s, k.New(PipeURL, planted, client)}
}

// ask is the plainest request.
func ask(text string) provider.Request {
	return provider.Request{Model: "m", System: "Be brief.", Messages: []provider.Message{{Role: core.RoleUser, Text: text}}}
}

// play lets the server reply once and returns what the provider made of it.
func (b bench) play(t *testing.T, steps ...Step) (*provider.Reply, error) {
	t.Helper()
	b.server.Script(Reply(steps))
	r, err := provider.Gather(b.provider.Stream(t.Context(), ask("hello")))
	clean(t, err)
	for _, p := range b.server.Problems() {
		t.Errorf("the server refused a call: %s", p)
	}
	return r, err
}

// must is play for replies that succeed.
func (b bench) must(t *testing.T, steps ...Step) *provider.Reply {
	t.Helper()
	r, err := b.play(t, steps...)
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
	if r.Done == nil {
		t.Fatal("the stream ended without a Done part and without an error")
	}
	return r
}

// clean fails the test when an error, or anything it wraps, tells the key or an address, or is no *provider.Error.
func clean(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var known *provider.Error
	if !errors.As(err, &known) {
		t.Errorf("not a *provider.Error: %T %v", err, err)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		for _, secret := range []string{planted, "planted", "SECRET", "://"} {
			if strings.Contains(e.Error(), secret) {
				t.Errorf("an error tells %q: %v", secret, e)
			}
		}
	}
}

func wantKind(t *testing.T, err error, want provider.ErrorKind) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	if got := provider.KindOf(err); got != want {
		t.Errorf("kind %q, want %q: %v", got, want, err)
	}
}

// Contract checks what holds for every provider, also for one without an endpoint: parts have one meaning each, a reply
// ends with Done, breaking off and cancelling end a call at once, calls run side by side.
func Contract(t *testing.T, fresh func(t *testing.T) provider.Provider) {
	t.Run("one meaning a part, Done last", func(t *testing.T) {
		var done int
		for p, err := range fresh(t).Stream(t.Context(), ask("hello")) {
			if err != nil {
				t.Fatal(err)
			}
			if done > 0 {
				t.Error("a part after Done")
			}
			if n := meanings(p); n != 1 {
				t.Errorf("a part with %d meanings: %+v", n, p)
			}
			if p.Done != nil {
				done++
				if p.Done.Finish != provider.FinishStop || p.Done.Usage.Calls != 1 || p.Done.Usage.Output == 0 {
					t.Errorf("Done: %+v", p.Done)
				}
			}
		}
		if done != 1 {
			t.Errorf("%d Done parts", done)
		}
	})
	t.Run("breaking off", func(t *testing.T) {
		p := fresh(t)
		for range 3 {
			for _, err := range p.Stream(t.Context(), ask("hello")) {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
		}
	})
	t.Run("a context that has ended", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := &core.Interrupt{Reason: core.ReasonStopped}
		cancel(why)
		_, err := provider.Gather(fresh(t).Stream(ctx, ask("hello")))
		if !errors.Is(err, why) {
			t.Errorf("the error does not wrap the context's cause: %v", err)
		}
	})
	t.Run("side by side", func(t *testing.T) { sideBySide(t, fresh(t), 50) })
	t.Run("probe", func(t *testing.T) {
		if err := fresh(t).Probe(t.Context(), ""); err != nil {
			t.Error(err)
		}
	})
}

func meanings(p provider.Part) (n int) {
	for _, set := range []bool{p.Text != "", p.Reasoning != "", p.Recant, p.Naming != "", p.Call != nil, p.Done != nil} {
		if set {
			n++
		}
	}
	return n
}

// sideBySide makes n calls at once.
func sideBySide(t *testing.T, p provider.Provider, n int) {
	t.Helper()
	type result struct {
		text string
		err  error
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got := make(chan result, n)
	for i := range n {
		go func() {
			r, err := provider.Gather(p.Stream(ctx, ask(strings.Repeat("x", i+1))))
			got <- result{r.Text(), err}
		}()
	}
	for range n {
		if r := <-got; r.err != nil || r.text == "" {
			t.Errorf("%q, %v", r.text, r.err)
		}
	}
}
