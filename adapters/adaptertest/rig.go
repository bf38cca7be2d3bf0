package adaptertest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
)

// rig is a harness with one adapter and, once started, its run.
type rig struct {
	Harness
	t    *testing.T
	a    adapters.Adapter
	caps adapters.Caps
	in   *Inbox
}

func newRig(t *testing.T, h Harness) *rig {
	t.Helper()
	r := &rig{Harness: h, t: t, in: NewInbox()}
	r.open()
	return r
}

func (r *rig) open() {
	r.t.Helper()
	a, err := r.Open()
	if err != nil {
		r.t.Fatal(err)
	}
	r.a, r.caps = a, adapters.CapsOf(a)
}

// start runs the adapter; the function it returns ends the run and returns its error.
func (r *rig) start() (stop func() error) {
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.a.Run(ctx, r.in) }()
	var err error
	ended := false
	stop = func() error {
		cancel()
		if !ended {
			ended, err = true, <-done
		}
		return err
	}
	r.t.Cleanup(func() { stop() })
	synctest.Wait()
	return stop
}

// long is more than any adapter takes to recover, in the bubble's time.
const long = 10 * time.Minute

func (r *rig) ctx() context.Context { return r.t.Context() }

// say lets a person write in a place.
func (r *rig) say(in adapters.Target, text string) string {
	return r.Deliver(Act{Kind: adapters.KindMessage, In: in, Text: text})
}

// got waits until n acts have been received and returns all.
func (r *rig) got(n int) []adapters.Inbound {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx(), long)
	defer cancel()
	all, err := r.in.Wait(ctx, n)
	if err != nil {
		r.t.Fatalf("received %d acts, want %d: %+v", len(all), n, all)
	}
	if len(all) > n {
		r.t.Fatalf("received %d acts, want %d: %+v", len(all), n, all)
	}
	return all
}

// sent sends and returns the reference.
func (r *rig) sent(to adapters.Target, m adapters.Outgoing) adapters.Ref {
	r.t.Helper()
	ref, err := r.a.Send(r.ctx(), to, m)
	if err != nil {
		r.t.Fatalf("Send: %v", err)
	}
	if ref == "" {
		r.t.Fatal("Send returned no reference")
	}
	return ref
}

// one returns the only message that is visible.
func (r *rig) one(to adapters.Target) Seen {
	r.t.Helper()
	all := r.Visible(to)
	if len(all) != 1 {
		r.t.Fatalf("%d messages are visible, want 1: %+v", len(all), all)
	}
	return all[0]
}

// kind asserts an error's kind, and that the error is an *adapters.Error.
func (r *rig) kind(err error, want adapters.ErrorKind) *adapters.Error {
	r.t.Helper()
	var e *adapters.Error
	if !errors.As(err, &e) {
		r.t.Fatalf("error is %v (%T), want an *adapters.Error of kind %q", err, err, want)
	}
	if e.Kind != want {
		r.t.Fatalf("error is %v, want kind %q", err, want)
	}
	return e
}
