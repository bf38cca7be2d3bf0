package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/store"
)

// reconfigure replaces a piece of the configuration.
func (r *rig) reconfigure(old, new string) {
	r.t.Helper()
	b, err := os.ReadFile(r.config)
	if err != nil || !strings.Contains(string(b), old) {
		r.t.Fatalf("the configuration has no %q: %v", old, err)
	}
	r.write(strings.Replace(string(b), old, new, 1))
}

// open lets fn look into the store; while a gateway serves it, fn must not write.
func (r *rig) open(fn func(core.Store)) {
	r.t.Helper()
	s, err := store.Open(context.Background(), r.store)
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	fn(s)
}

// untilLong is until for what may take back-offs of a minute; note is told when it never happens.
func (r *rig) untilLong(what string, note *string, cond func() bool) {
	r.t.Helper()
	deadline := time.NewTimer(4 * patience)
	defer deadline.Stop()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for !cond() {
		select {
		case <-look.C:
		case <-deadline.C:
			r.t.Fatalf("never: %s\n%s\n%s", what, *note, r.screen())
		}
	}
}

// exits waits for a run of the program to end by itself and returns its code and what it wrote.
func (r *rig) exits(t *testing.T, g *process, within time.Duration) (int, string) {
	t.Helper()
	select {
	case <-g.died:
	case <-time.After(within):
		t.Errorf("it has not ended within %s:\n%s", within, g.log)
		g.kill()
	}
	return g.cmd.ProcessState.ExitCode(), g.log.String()
}

// get fetches a page of the gateway, "" when that fails.
func (g *process) get(page string) string {
	base, _, _ := strings.Cut(g.url, "#")
	res, err := http.Get(base + page)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body) // a part of a page lacks what is looked for
	return string(b)
}
