package dispatch

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/core/readback"
	"bellhop/core/turn"
	"bellhop/gateway/session"

	"github.com/oklog/ulid/v2"
)

const (
	storeTime  = 30 * time.Second // bounds a call to the store that must not be cut short
	tryAgain   = 5 * time.Second  // after a failure of the store
	waitAgain  = time.Minute      // after a wait for a lease that was too long
	mostReads  = 8                // rounds of read-back in one visit
	blockedFor = 30 * time.Second // a head that is neither claimable nor unknown
)

// visited says how a visit ended: there are more rows, or when to come back.
type visited struct {
	more bool
	at   time.Time
}

// visit takes one conversation through one acquisition of its lease.
func (d *Dispatcher) visit(l lives, e *entry, s *slot) {
	var v visited
	defer func() {
		if p := recover(); p != nil {
			d.cfg.Log.Error("a visit panicked", "session", e.c, "err", p, "stack", string(debug.Stack()))
			v = visited{at: time.Now().Add(tryAgain)}
		}
		s.give()
		d.finish(e, v)
	}()
	d.cfg.Quiet(l.turns, e.c)
	ctx, cancel := e.live.Wait(l.turns)
	defer cancel(nil)
	id := core.TurnID(ulid.Make().String())
	b := &beginning{store: d.cfg.Store, live: e.live, others: d.cfg.Others}
	keeper := d.cfg.Keeper.OnWait(func(core.ConversationID, *core.Held) { s.give() }).Asking(b.ask)
	err := keeper.Do(ctx, e.c, id, d.cfg.Holder, func(ctx context.Context, f core.Fence) (bool, error) {
		if !s.take(ctx) {
			return false, context.Cause(ctx)
		}
		return d.leased(ctx, l, e, f, b.claim, &v)
	})
	d.afterVisit(l.turns, e, &v, err)
}

// beginning acquires the lease of a visit and claims the head of the queue in the same write. Only its first try does:
// while another holds the lease the slot is given away, and nothing may be claimed without one.
type beginning struct {
	store  Store
	live   *session.Live
	others func(core.Holder) bool
	tried  bool
	claim  *core.Claim // what was claimed; nil: nothing yet
}

// errElsewhere: another process drains the conversation, and finds what was put into its queue when its turn ends.
var errElsewhere = errors.New("another node drains the conversation")

func (b *beginning) ask(ctx context.Context, c core.ConversationID, t core.TurnID, h core.Holder, ttl time.Duration,
	alive func(core.Holder) bool) (l core.Lease, err error) {
	if b.tried || !b.live.Claim() {
		l, err = b.store.Acquire(ctx, c, t, h, ttl, alive)
	} else {
		b.tried = true
		if l, b.claim, err = b.store.Start(ctx, c, t, h, ttl, alive, opening); b.claim == nil {
			b.live.Unclaim()
		}
	}
	if held := (*core.Held)(nil); errors.As(err, &held) && b.others(held.By) {
		return l, errElsewhere
	}
	return l, err
}

// leased plays the row that was claimed with the lease; if there is none it reads back what is unknown and claims the next.
func (d *Dispatcher) leased(ctx context.Context, l lives, e *entry, f core.Fence, begun *core.Claim, v *visited) (released bool, err error) {
	crash.Point(crash.AfterAcquire)
	d.forgetTold(e.c)
	if begun == nil && (ctx.Err() != nil || !e.live.Claim()) {
		return false, context.Cause(ctx)
	}
	defer e.live.Rest()
	if begun == nil {
		if begun, err = d.claim(ctx, e, f, v); begun == nil {
			return false, err
		}
	}
	crash.Point(crash.AfterClaim)
	e.live.Claimed(begun.Admission)
	t := &play{d: d, views: l.views, ctx: ctx, live: e.live, claim: begun, fence: f, began: time.Now()}
	released, v.more, err = t.play()
	return released, err
}

// claim starts the head of the queue; nil: there is nothing to start now. A call that is under way is not cut short: nobody
// would own what it claimed.
func (d *Dispatcher) claim(ctx context.Context, e *entry, f core.Fence, v *visited) (*core.Claim, error) {
	for range mostReads {
		claim, err := d.claimNext(ctx, f)
		switch {
		case err == nil:
			return claim, nil
		case core.Is(err, core.NotFound):
			return nil, nil
		case !core.Is(err, core.Busy):
			return nil, err
		}
		var wait *core.Wait
		if errors.As(err, &wait) {
			v.at = wait.Until
			return nil, nil
		}
		settled, at, err := d.readBack(ctx, e.c)
		if err != nil || !settled {
			v.at = at
			return nil, err
		}
	}
	v.more = true
	return nil, nil
}

func (d *Dispatcher) claimNext(ctx context.Context, f core.Fence) (*core.Claim, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	c, err := d.cfg.Store.ClaimNext(ctx, f, opening)
	return &c, err
}

// opening is what is stored with the claim of a row: that its turn begins, and what was said.
func opening(a core.Admission) core.Opening {
	o := core.Opening{Events: []core.EventBody{{Type: core.MessageStart, Detail: string(a.RetryOf)}}}
	if m, ok := turn.Heard(a); ok {
		o.Messages = []core.Message{m}
	}
	return o
}

// readBack settles the unknown rows of c as far as the evidence goes. false: none was settled; at is when to come back.
func (d *Dispatcher) readBack(ctx context.Context, c core.ConversationID) (settled bool, at time.Time, err error) {
	rows, err := d.cfg.Store.Unsettled(ctx, c)
	if err != nil {
		return false, at, err
	}
	at = time.Now().Add(blockedFor)
	for _, row := range rows {
		if row.Status != core.Unknown {
			continue
		}
		crash.Point(crash.BeforeReadback)
		r, err := d.cfg.Readback.Settle(ctx, row)
		if err != nil {
			return settled, at, err
		}
		crash.Point(crash.AfterResolve)
		settled = settled || !r.Unknown
		if !r.Again.IsZero() && r.Again.Before(at) {
			at = r.Again
		}
		if r.Retry != nil {
			d.cfg.Hub.Emit(ctx, c, row.ID, row.Turn, core.EventBody{Type: core.StatusUpdate,
				Status: "retried", Detail: string(r.Retry.ID), Text: wordsRetried})
		}
	}
	return settled, at, nil
}

// afterVisit decides what a visit that ended with err leaves to do.
func (d *Dispatcher) afterVisit(ctx context.Context, e *entry, v *visited, err error) {
	stop := e.live.Stopped()
	switch {
	case stop != nil && stop.Reason == core.ReasonShutdown:
	case stop != nil:
		d.stopWaiting(ctx, e, stop, v)
	case err == nil, core.Is(err, core.NotFound), errors.Is(err, errElsewhere): // done, the conversation is gone, or not ours
	case ctx.Err() != nil || core.Is(err, core.Stale):
		v.at = time.Now().Add(jitter(time.Second))
	case core.Is(err, core.Timeout) && isHeld(err):
		d.waitedTooLong(ctx, e)
		v.at = time.Now().Add(jitter(waitAgain))
	default:
		d.cfg.Log.Error("a conversation could not be drained; it is tried again", "session", e.c, "err", err)
		v.at = time.Now().Add(jitter(tryAgain))
	}
}

func isHeld(err error) bool {
	var held *core.Held
	return errors.As(err, &held)
}

// stopWaiting ends the row that would have run next: somebody stopped it before it began. A turn that was cut off stands in
// front of the queue; then the stop is for what would go on from it. A stop of one row leaves any other alone.
func (d *Dispatcher) stopWaiting(ctx context.Context, e *entry, i *core.Interrupt, v *visited) {
	rows, err := d.cfg.Store.Unsettled(ctx, e.c)
	if err == nil && len(rows) > 0 && i.Means(rows[0]) {
		switch head := rows[0]; head.Status {
		case core.Queued:
			err = d.cancel(ctx, head, core.Outcome{Result: core.Cancelled, Reason: i.Reason, Text: wordsStopped})
			if err == nil {
				err = d.cfg.Readback.Forsaken(ctx, head)
			}
		case core.Unknown:
			var r readback.Report
			r, err = d.cfg.Readback.Stop(ctx, head)
			v.at = r.Again
		}
	}
	if err != nil {
		d.complain(ctx, "a row that was stopped could not be ended", err)
		v.at = time.Now().Add(jitter(tryAgain))
	}
	spared := len(rows) > 0 && !i.Means(rows[0])
	v.more = spared || len(rows) > 1 && v.at.IsZero() || len(rows) == 1 && rows[0].Status == core.Started
}

// waitedTooLong handles a lease that another kept for longer than the wait: who asked for one answer only gets a refusal,
// what waits in a chat goes on waiting, and the person is told.
func (d *Dispatcher) waitedTooLong(ctx context.Context, e *entry) {
	rows, err := d.cfg.Store.Unsettled(ctx, e.c)
	if err != nil {
		d.complain(ctx, "the queue could not be looked at", err)
		return
	}
	told := false
	for _, row := range rows {
		switch {
		case row.Status != core.Queued:
		case row.Submission.Finite:
			o := core.Outcome{Result: core.Rejected, Reason: core.ReasonWait, Text: wordsWaited}
			if err := d.cancel(ctx, row, o); err != nil {
				d.complain(ctx, "a row that waited too long could not be ended", err)
			}
		case !told:
			told = true
			d.tellOnce(ctx, row)
		}
	}
}

// tellOnce tells the author of the row that would run next that it waits for a lease.
func (d *Dispatcher) tellOnce(ctx context.Context, row core.Admission) {
	d.mu.Lock()
	known := d.told[row.Conversation] == row.ID
	d.told[row.Conversation] = row.ID
	d.mu.Unlock()
	if !known {
		d.cfg.Notify(ctx, row.Submission.Route, row.Conversation, wordsWaiting)
	}
}

// forgetTold is called when the lease was acquired after all.
func (d *Dispatcher) forgetTold(c core.ConversationID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.told, c)
}

// cancel ends a row that waits, and tells its clients.
func (d *Dispatcher) cancel(ctx context.Context, row core.Admission, o core.Outcome) error {
	ended, err := d.cfg.Store.Cancel(ctx, row.Conversation, o, row.ID)
	if err != nil {
		return err
	}
	for _, a := range ended {
		d.cfg.Hub.Emit(ctx, a.Conversation, a.ID, a.Turn, complete(o, nil))
	}
	return nil
}

// jitter is d, give or take a quarter.
func jitter(d time.Duration) time.Duration { return d - d/4 + rand.N(d/2+1) }
