package lease

import (
	"context"
	"sync"
	"time"

	"bellhop/core"
)

// The refresher's times follow from the options:
//
//	0        renew           2*renew  ...            last          TTL
//	|----------|----------------|--------------------|--------------|
//	granted    first renewal                         trust ends     the store lets others in
//
// After a failure it tries again each retry (a quarter of renew). Trust ends as soon as a failed try could not be followed
// by another one before last, and at last whatever a hanging try does.
type clock struct{ renew, retry, last time.Duration }

func (k *Keeper) clock() clock {
	retry := k.o.Renew / 4
	return clock{renew: k.o.Renew, retry: retry, last: k.o.TTL - retry}
}

// refresher renews one lease by timers: between two renewals nothing runs that would need a stack of its own.
type refresher struct {
	k     *Keeper
	t     clock
	ctx   context.Context
	end   context.CancelCauseFunc
	alarm *time.Timer // rings when trust ends, even while a renewal hangs

	mu   sync.Mutex
	next *time.Timer
	over bool
	busy sync.WaitGroup // the renewal that is under way

	grant // that is trusted; belongs to the renewal under way
}

// refresh renews the lease until ctx ends, or ends it with ReasonLeaseLost. join must be called.
func (k *Keeper) refresh(ctx context.Context, end context.CancelCauseFunc, g grant) *refresher {
	r := &refresher{k: k, t: k.clock(), ctx: ctx, end: end, grant: g}
	r.alarm = time.AfterFunc(time.Until(r.last()), r.lose)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = time.AfterFunc(time.Until(g.asked.Add(r.t.renew)), r.beat)
	return r
}

// join stops the timers, after ctx has ended, and waits for the renewal that is under way.
func (r *refresher) join() {
	r.mu.Lock()
	r.over = true
	r.next.Stop()
	r.mu.Unlock()
	r.busy.Wait()
	r.alarm.Stop()
}

func (r *refresher) last() time.Time { return r.asked.Add(r.t.last) }

func (r *refresher) lose() { r.end(&core.Interrupt{Reason: core.ReasonLeaseLost}) }

// beat makes one renewal and winds the timer for the next.
func (r *refresher) beat() {
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return
	}
	r.busy.Add(1)
	r.mu.Unlock()
	defer r.busy.Done()
	next, ok := r.renew()
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.next.Reset(time.Until(next))
	}
}

// renew tells when to renew again. false: the lease is lost, or ctx has ended.
func (r *refresher) renew() (next time.Time, ok bool) {
	if r.ctx.Err() != nil {
		return next, false
	}
	asked := time.Now()
	err := r.try()
	switch {
	case err == nil:
		r.asked = asked
		r.alarm.Reset(time.Until(r.last()))
		return asked.Add(r.t.renew), true
	case r.ctx.Err() != nil:
		return next, false
	case core.Is(err, core.Stale):
		r.k.o.Log.Error("the lease was taken over", "session", r.fence.Conversation, "turn", r.fence.Turn)
		r.lose()
		return next, false
	}
	r.k.o.Log.Warn("the lease could not be renewed", "session", r.fence.Conversation, "turn", r.fence.Turn, "err", err)
	if next = time.Now().Add(r.t.retry); !next.Before(r.last()) {
		r.lose()
		return next, false
	}
	return next, true
}

// try makes one call, which may not outlast trust: a lease renewed later than that is one nobody believes in.
func (r *refresher) try() error {
	ctx, cancel := context.WithDeadline(r.ctx, r.last())
	defer cancel()
	_, err := r.k.leases.Renew(ctx, r.fence, r.k.o.TTL)
	return err
}
