package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"bellhop/core"
	"bellhop/gateway/problem"
)

// listen binds the one listener. An address in use is Locked, so that the program ends with the configuration code
// before anything else was opened.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, core.Errorf("listen", core.Locked, "address in use %s: is another bellhop running? Set listen or BELLHOP_LISTEN to another port", addr)
	}
	if err != nil {
		return nil, core.Errorf("listen", core.Locked, "cannot listen on %s: %v", addr, errors.Unwrap(err))
	}
	return l, nil
}

// health answers /livez and /readyz. Live is whether the process can still do anything; ready is whether it takes input.
type health struct {
	check    func(context.Context) error // of the store
	problems *problem.Register
	hide     *strings.Replacer // of secrets

	mu    sync.Mutex
	state string // why not ready; "" when ready
}

func newHealth(check func(context.Context) error, problems *problem.Register, hide *strings.Replacer) *health {
	return &health{check: check, problems: problems, hide: hide, state: "starting"}
}

func (h *health) set(state string) {
	h.mu.Lock()
	h.state = state
	h.mu.Unlock()
}

func (h *health) live(w http.ResponseWriter, _ *http.Request) { plainAnswer(w, http.StatusOK, "ok") }

func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	state := h.state
	h.mu.Unlock()
	if state != "" {
		plainAnswer(w, http.StatusServiceUnavailable, state)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if err := h.check(ctx); err != nil {
		plainAnswer(w, http.StatusServiceUnavailable, "the store: "+core.KindOf(err).String())
		return
	}
	for _, p := range h.problems.Open() {
		if p.Fatal {
			plainAnswer(w, http.StatusServiceUnavailable, h.hide.Replace(p.Text))
			return
		}
	}
	plainAnswer(w, http.StatusOK, "ok")
}

func plainAnswer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text + "\n")) // the client may be gone; nobody is left to tell
}

// local reports whether a request comes from this machine itself. A Host that is not loopback is a page of another site
// that had its name pointed here.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return false
	}
	name := r.Host
	if h, _, err := net.SplitHostPort(r.Host); err == nil {
		name = h
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// localOnly keeps an endpoint for the machine itself.
func localOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r) {
			plainAnswer(w, http.StatusForbidden, "only from this machine")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// serveHTTP serves until ctx ends, then closes: streams are hijacked connections that end with their own contexts.
func serveHTTP(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return core.E("serve HTTP", core.Internal, err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		err = srv.Close()
		<-done
		return err
	}
	<-done
	return nil
}
