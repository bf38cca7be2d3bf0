package lease

import (
	"context"
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

// refresh renews the lease until ctx ends, or ends it with ReasonLeaseLost.
func (k *Keeper) refresh(ctx context.Context, end context.CancelCauseFunc, g grant) {
	var (
		t    = k.clock()
		lost = &core.Interrupt{Reason: core.ReasonLeaseLost}
		// The alarm rings even while a renewal hangs.
		alarm = time.AfterFunc(time.Until(g.asked.Add(t.last)), func() { end(lost) })
		next  = g.asked.Add(t.renew)
	)
	defer alarm.Stop()
	for {
		if sleep(ctx, time.Until(next)) != nil {
			return
		}
		asked := time.Now()
		err := k.renew(ctx, g, t)
		switch {
		case err == nil:
			g.asked, next = asked, asked.Add(t.renew)
			alarm.Reset(time.Until(g.asked.Add(t.last)))
			continue
		case ctx.Err() != nil:
			return
		case core.Is(err, core.Stale):
			k.o.Log.Error("the lease was taken over", "session", g.fence.Conversation, "turn", g.fence.Turn)
			end(lost)
			return
		}
		k.o.Log.Warn("the lease could not be renewed", "session", g.fence.Conversation, "turn", g.fence.Turn, "err", err)
		next = time.Now().Add(t.retry)
		if !next.Before(g.asked.Add(t.last)) {
			end(lost)
			return
		}
	}
}

// renew makes one try, which may not outlast trust: a lease renewed later than that is one nobody believes in.
func (k *Keeper) renew(ctx context.Context, g grant, t clock) error {
	ctx, cancel := context.WithDeadline(ctx, g.asked.Add(t.last))
	defer cancel()
	_, err := k.leases.Renew(ctx, g.fence, k.o.TTL)
	return err
}
