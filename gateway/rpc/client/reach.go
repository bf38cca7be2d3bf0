package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrUnreachable: no gateway answered for as long as it was tried. Chat has said so.
var ErrUnreachable = errors.New("the gateway cannot be reached")

// unreachable is an ErrUnreachable with the error of the last attempt.
type unreachable struct{ last error }

func (u *unreachable) Error() string   { return fmt.Sprintf("%v: %v", ErrUnreachable, u.last) }
func (u *unreachable) Unwrap() []error { return []error{ErrUnreachable, u.last} }

// How far a message of the person has come.
const (
	unsent   uint32 = iota
	underway        // written to a connection, no receipt yet
	kept            // the gateway has stored it
)

// noteAfter is when it is first told that there is still no answer, since the outage was; then twice as long, and so on.
const noteAfter = time.Second

// reach tells a person how it stands with the way to the gateway: what happened, whether what they wrote is safe, and what
// they can do. Its methods are called by Run's goroutine alone, but sent, which the conversation sets.
type reach struct {
	out   io.Writer
	where func() string
	most  func() time.Duration // how long it is tried
	sent  atomic.Uint32
	lost  time.Time     // when an outage was told; zero: there is none
	quiet time.Duration // since then, to the next word about it
}

// failed tells of an attempt that failed: at once of the first, then less and less often. A broken connection was told
// already.
func (r *reach) failed(err error, next time.Duration) {
	switch {
	case r.lost.IsZero():
		r.lost, r.quiet = time.Now(), noteAfter
		fmt.Fprintf(r.out, "%s %s Start it with `bellhop serve` if it does not run. I go on trying for %s.\n",
			r.what(err), r.safe(), r.most().Round(time.Second))
	case time.Since(r.lost) >= r.quiet:
		r.quiet *= 2
		fmt.Fprintf(r.out, "  no answer for %s; the next try is in %s\n", time.Since(r.lost).Round(time.Second), next.Round(time.Second))
	}
}

// cut tells that a connection broke; most is how long another is tried for.
func (r *reach) cut(most time.Duration) {
	r.lost, r.quiet = time.Now(), noteAfter
	if r.sent.Load() == kept {
		fmt.Fprintln(r.out) // an answer is under way: its line is left as it is
	}
	fmt.Fprintf(r.out, "The connection to the gateway broke. %s I go on trying for %s.\n", r.safe(), most.Round(time.Second))
}

// back tells that an outage is over.
func (r *reach) back() {
	if !r.lost.IsZero() {
		r.lost = time.Time{}
		fmt.Fprintln(r.out, "Connected.")
	}
}

// gaveUp tells that it is not tried any more; err is that of the last attempt.
func (r *reach) gaveUp(err error) {
	do := "Start it with `bellhop serve`, then repeat the command."
	switch {
	case r.sent.Load() == kept:
		do = "Start it with `bellhop serve`; the answer will be in this session, also on the web page."
	case errors.Is(err, ErrRefused), errors.Is(err, ErrStranger):
		do = "Name the configuration or the data folder of the gateway that runs: --config, $BELLHOP_DATA. `bellhop doctor` tells more."
	}
	fmt.Fprintf(r.out, "%s %s %s\n", r.what(err), r.safe(), do)
}

// what is what happened.
func (r *reach) what(err error) string {
	at := ""
	if r.where != nil {
		at = " at " + r.where()
	}
	switch {
	case errors.Is(err, ErrRefused):
		return "The gateway" + at + " refused the key of this data folder."
	case errors.Is(err, ErrStranger):
		return "What listens" + at + " is not the gateway of this data folder."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "No gateway listens" + at + "."
	}
	return fmt.Sprintf("The gateway%s cannot be reached (%v).", at, err)
}

// safe is whether what the person wrote is.
func (r *reach) safe() string {
	switch r.sent.Load() {
	case underway:
		return "Whether your message arrived is not known; sent again, it is not answered twice."
	case kept:
		return "Your message is stored."
	}
	return "Nothing of yours is under way."
}

// unlessPressed runs fn under a context that ends with ErrInterrupted when the person presses Ctrl-C, and then returns
// that.
func (t *chat) unlessPressed(ctx context.Context, fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-t.o.Interrupt:
			cancel(ErrInterrupted)
		case <-over:
		}
	})
	err := fn(ctx)
	close(over)
	watch.Wait()
	if errors.Is(context.Cause(ctx), ErrInterrupted) {
		return ErrInterrupted
	}
	return err
}

// shared is a writer for several goroutines.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}
