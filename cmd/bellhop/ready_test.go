package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bellhop/gateway/problem"
)

// A gateway whose only way in is refused is not ready, and says why; with a page for browsers it still is.
func TestRefusedAccountAndReadiness(t *testing.T) {
	for name, tt := range map[string]struct {
		web   string
		ready bool
	}{"no other way in": {"false", false}, "the browser": {"true", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, pong)
			r.reconfigure("platforms:\n", "platforms:\n  web: {enabled: "+tt.web+"}\n")
			g := r.start()
			r.until("it is ready", func() bool { return g.get("readyz") == "ok\n" })
			r.tg.Revoke()
			r.tg.Cut() // the poll that is under way
			r.until("the refusal is known", func() bool { return strings.Contains(g.get("metrics"), `bellhop_problems{id="receive:telegram"} 1`) })
			if tt.ready {
				if got := g.get("readyz"); got != "ok\n" {
					t.Errorf("not ready: %q", got)
				}
				return
			}
			r.until("it is not ready", func() bool { return strings.Contains(g.get("readyz"), "refused this account") })
			if got := g.get("readyz"); strings.Contains(got, r.tg.Bot().Token) {
				t.Errorf("the token is told: %q", got)
			}
		})
	}
}

func TestFatalProblemIsNotReady(t *testing.T) {
	problems := problem.New(nil)
	h := newHealth(func(context.Context) error { return nil }, problems, replacer([]string{"planted-secret"}))
	h.set("")
	ask := func() (int, string) {
		w := httptest.NewRecorder()
		h.ready(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
		return w.Code, w.Body.String()
	}
	problems.Raise(problem.Problem{ID: "a", Text: "a trifle"})
	if code, text := ask(); code != http.StatusOK {
		t.Errorf("%d %q with a problem that is not fatal", code, text)
	}
	problems.Raise(problem.Problem{ID: "b", Text: "nobody takes planted-secret", Fatal: true})
	if code, text := ask(); code != http.StatusServiceUnavailable || text != "nobody takes [secret]\n" {
		t.Errorf("%d %q", code, text)
	}
	problems.Clear("b")
	if code, text := ask(); code != http.StatusOK {
		t.Errorf("%d %q when it is over", code, text)
	}
}
