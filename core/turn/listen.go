package turn

import (
	"context"
	"fmt"
	"sync"
	"time"

	"bellhop/core/provider"
)

// listenGrace is how long a provider may take to come back after its call was ended.
const listenGrace = 200 * time.Millisecond

// listen makes one call and hands its parts to on. The provider speaks on a goroutine of its own, because an interrupt
// must not wait for one that hangs: it is then left behind, and what it says later goes nowhere. on is called there too, so
// that nobody has to be woken for a part.
func (r *Runner) listen(ctx context.Context, p provider.Provider, req *provider.Request, on func(provider.Part)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	e := &ear{on: on, last: time.Now(), done: make(chan struct{})}
	go e.hear(ctx, p, *req)
	defer e.leave(cancel)
	silence := time.NewTimer(r.o.Silence)
	defer silence.Stop()
	for {
		select {
		case <-e.done:
			if e.panic != nil {
				panic(e.panic) // of this turn, so its turn ends with it
			}
			return e.err
		case <-ctx.Done():
			return ended(ctx)
		case <-silence.C:
			left := r.o.Silence - e.quiet()
			if left <= 0 {
				return &provider.Error{Kind: provider.Transport, Text: fmt.Sprintf("nothing came for %s", r.o.Silence)}
			}
			silence.Reset(left)
		}
	}
}

func ended(ctx context.Context) error {
	return &provider.Error{Kind: provider.Transport, Text: "the call was ended", Err: context.Cause(ctx)}
}

// ear takes what a provider says in one call.
type ear struct {
	done  chan struct{} // closed when the provider came back; err and panic say how
	err   error
	panic any

	mu   sync.Mutex
	on   func(provider.Part) // nil: nobody listens any more
	last time.Time           // when there was news
}

// hear makes the call and takes what the provider says, until it has ended, ctx has, or nobody listens.
func (e *ear) hear(ctx context.Context, p provider.Provider, req provider.Request) {
	defer close(e.done)
	defer func() { e.panic = recover() }()
	for part, err := range p.Stream(ctx, req) {
		if err == nil && !e.take(ctx, part) {
			err = ended(ctx)
		}
		if e.err = err; err != nil {
			return
		}
	}
}

func (e *ear) take(ctx context.Context, p provider.Part) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.on == nil || ctx.Err() != nil {
		return false
	}
	e.last = time.Now()
	e.on(p)
	return true
}

// quiet is how long nothing came.
func (e *ear) quiet() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Since(e.last)
}

// leave ends the call and gives the provider a moment to notice.
func (e *ear) leave(cancel context.CancelCauseFunc) {
	e.mu.Lock()
	e.on = nil
	e.mu.Unlock()
	cancel(context.Canceled)
	grace := time.NewTimer(listenGrace)
	defer grace.Stop()
	select {
	case <-e.done:
	case <-grace.C:
	}
}
