package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStrangerAtTheOldAddress: a gateway that was killed leaves its address; what listens there later is shown no token, and
// bellhop rpc opens the house itself.
func TestStrangerAtTheOldAddress(t *testing.T) {
	r := newRig(t, nil)
	r.start().kill()
	shown := make(chan string, 16)
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		if a := q.Header.Get("Authorization"); a != "" {
			shown <- a
		}
	}))
	t.Cleanup(stranger.Close)
	file := filepath.Join(r.dir, "data", addressFile)
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("a killed gateway left no address: %v", err)
	}
	if err := writeAddress(filepath.Join(r.dir, "data"), stranger.Listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	c := r.command("rpc")
	c.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"session.list"}` + "\n")
	out, err := c.Output()
	if err != nil || !strings.Contains(string(out), `"sessions"`) {
		t.Errorf("bellhop rpc: %v\n%s", err, out)
	}
	if len(shown) > 0 {
		t.Errorf("the stranger was shown %q", <-shown)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the address outlives an orderly end")
	}
}
