package dispatch

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/core/readback"
	"bellhop/gateway/session"

	"github.com/oklog/ulid/v2"
)

// play is one claimed row on its way to its receipt. ctx is the lease's.
type play struct {
	d          *Dispatcher
	ctx, views context.Context
	live       *session.Live
	claim      *core.Claim
	fence      core.Fence
	began      time.Time

	view    View
	offered []session.Steered // to steer the turn
	settled bool
}

func (t *play) row() *core.Admission { return &t.claim.Admission }

// play runs the turn and settles it. A panic outside of the turn itself, for example in a view, ends the row as failed.
func (t *play) play() (released, more bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			released, more, err = t.crashed(p)
		}
	}()
	a := t.row()
	ctx, cancel := t.live.Turn(t.ctx, a.ID, t.fence.Turn)
	defer cancel(nil)
	t.view = t.d.cfg.Outlet.Open(t.views, t.claim, t.fence)
	detach := sync.OnceFunc(t.d.cfg.Hub.Attach(a.Conversation, t.view))
	defer detach()
	t.d.cfg.Hub.Open(a.Conversation, t.claim.Events, t.claim.News...)
	end := t.run(ctx, cancel)
	t.offered = t.live.Close()
	switch {
	case t.lost():
		t.view.Abandon()
		t.countLost()
		return false, false, core.E("turn", core.Stale, context.Cause(t.ctx))
	case t.leave(end):
		t.d.cfg.Log.Info("a turn is left for the next process", "session", a.Conversation, "admission", a.ID, "turn", t.fence.Turn)
		t.view.Abandon()
		return false, false, nil
	}
	t.closeTail(&end)
	return t.conclude(ctx, end, detach)
}

// conclude settles, publishes, and finishes the live message beside the next visit.
func (t *play) conclude(ctx context.Context, end ended, detach func()) (released, more bool, err error) {
	if t.told(ctx, end.outcome) {
		end.outcome.Text = ""
	}
	if end.outcome.Result == core.Completed {
		t.view.End(end.outcome.Text)
	}
	s := core.Settlement{Outcome: end.outcome, Tail: end.tail}
	if row, owed := t.view.Final(end.outcome); owed {
		s.Deliveries = []core.Delivery{row}
	}
	news, err := t.number(complete(end.outcome, end.tail))
	if err == nil {
		s.Events = []core.Event{news}
	}
	crash.Point(crash.BeforeSettle)
	more, err = t.settle(&s)
	if err != nil {
		if len(s.Events) > 0 {
			t.d.cfg.Hub.Drop(news)
		}
		t.view.Abandon()
		if core.Is(err, core.Stale) {
			t.countLost()
		}
		return false, false, err
	}
	t.settled = true
	crash.Point(crash.AfterSettle)
	detach()
	t.publish(s)
	t.d.cfg.Observe(s.Outcome, time.Since(t.began))
	t.show(s)
	t.tellLate()
	return true, more, nil
}

// tellLate lets those know who offered a row to the turn that it has ended without it: the row still waits.
func (t *play) tellLate() {
	ctx, cancel := context.WithTimeout(t.views, storeTime)
	defer cancel()
	for _, s := range t.offered {
		if s.Late == nil {
			continue
		}
		switch row, err := t.d.cfg.Store.Admission(ctx, s.ID); {
		case err != nil:
			t.d.complain(ctx, "what became of a steering message could not be looked up", err)
		case row.Status == core.Queued:
			t.guarded(func() { s.Late(ctx) })
		}
	}
	t.offered = nil
}

// told reports whether all that o would say was said already, by whoever stopped the turn. ctx is the turn's.
func (t *play) told(ctx context.Context, o core.Outcome) bool {
	i, ok := core.InterruptOf(ctx)
	return ok && i.Told && o.Reason == core.ReasonStopped && o.Text == reasonWords(core.ReasonStopped, t.d.cfg)
}

// countLost counts a turn that was taken away: it has no outcome here.
func (t *play) countLost() {
	t.d.cfg.Observe(core.Outcome{Result: core.Interrupted, Reason: core.ReasonLeaseLost}, time.Since(t.began))
}

func (t *play) number(b core.EventBody) (core.Event, error) {
	a := t.row()
	return t.d.cfg.Hub.Number(t.ctx, a.Conversation, a.ID, t.fence.Turn, b)
}

// publish tells the end of the turn. Without a number from before the commit it is recorded like other news.
func (t *play) publish(s core.Settlement) {
	if len(s.Events) == 1 {
		t.d.cfg.Hub.Publish(s.Events[0])
		return
	}
	a := t.row()
	t.d.cfg.Hub.Emit(context.WithoutCancel(t.ctx), a.Conversation, a.ID, t.fence.Turn, complete(s.Outcome, s.Tail))
}

// show finishes the live message beside the next visit; with too many of them under way it waits.
func (t *play) show(s core.Settlement) {
	d, view := t.d, t.view
	if len(s.Deliveries) == 0 {
		view.Abandon()
		return
	}
	finish := func() {
		whole := false
		defer func() {
			if !whole {
				t.guarded(view.Abandon)
			}
		}()
		ctx, cancel := context.WithTimeout(t.views, storeTime)
		defer cancel()
		if err := view.Settled(ctx, s.Deliveries[0]); err != nil {
			d.cfg.Log.Warn("an answer could not be marked; the outbox goes on with it", "session", t.claim.Admission.Conversation,
				"turn", t.fence.Turn, "err", err)
		}
		whole = true
	}
	select {
	case d.tail <- struct{}{}:
		d.after.Go(func() {
			defer func() { <-d.tail }()
			defer d.survive("a live message panicked while it was finished")
			finish()
		})
	default:
		finish()
	}
}

// survive keeps the process alive through a panic in somebody else's code.
func (d *Dispatcher) survive(what string) {
	if p := recover(); p != nil {
		d.cfg.Log.Error(what, "err", p, "stack", string(debug.Stack()))
	}
}

// lost reports whether the lease is gone, and with it the right to say anything.
func (t *play) lost() bool {
	i, ok := core.InterruptOf(t.ctx)
	return ok && i.Reason == core.ReasonLeaseLost
}

// leave reports whether a turn that was shut down is left to be read back by the next process: whatever it did, it can go
// on from there. What has an open effect is settled and said now.
func (t *play) leave(end ended) bool {
	if end.outcome.Reason != core.ReasonShutdown {
		return false
	}
	ctx, cancel := t.detached()
	defer cancel()
	found, err := t.d.cfg.Readback.Look(ctx, *t.row())
	if err != nil {
		t.d.complain(ctx, "a turn could not be read back", err)
		return true
	}
	return found.Case != readback.Effects
}

// detached is a context for the store that outlives interrupts.
func (t *play) detached() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.ctx), storeTime)
}

// closeTail makes the tail of a turn that did not come back to do it.
func (t *play) closeTail(end *ended) {
	if !end.ours {
		return
	}
	ctx, cancel := t.detached()
	defer cancel()
	tail, open, err := t.d.cfg.Readback.Tail(ctx, *t.row(), wordsUnseen, wordsCut)
	if err != nil {
		t.d.complain(ctx, "the transcript of an abandoned turn could not be closed", err)
	}
	end.tail, end.outcome.Uncertain = tail, open || err != nil
}

// crashed ends a row whose handling panicked, without whatever panicked.
func (t *play) crashed(p any) (released, more bool, err error) {
	o := t.d.panicked(t.row(), p)
	if t.view != nil {
		t.guarded(t.view.Abandon)
	}
	if t.settled {
		return true, true, nil
	}
	t.offered = append(t.offered, t.live.Close()...)
	end := ended{ours: true, outcome: o}
	t.closeTail(&end)
	s := core.Settlement{Outcome: end.outcome, Tail: end.tail}
	if d, owed := t.unshown(o); owed {
		s.Deliveries = []core.Delivery{d}
	}
	more, err = t.settle(&s)
	if err != nil {
		return false, false, err
	}
	t.publish(s)
	t.d.cfg.Observe(s.Outcome, time.Since(t.began))
	t.tellLate()
	return true, more, nil
}

// unshown is the row of an outcome that the outbox shows, because the view is over. The view knows best what is there
// already; should it panic once more, its message stays as it is and the outcome becomes another.
func (t *play) unshown(o core.Outcome) (d core.Delivery, owed bool) {
	d, owed = t.plain(o.Text)
	if t.view == nil {
		return d, owed
	}
	t.guarded(func() {
		row, ok := t.view.Final(o)
		if row.State == core.DeliverySending { // by nobody
			row.Parts = nil
		}
		row.State, row.LiveUntil = core.DeliveryOwed, time.Time{}
		d, owed = row, ok
	})
	return d, owed
}

// guarded calls what may panic: a view, or who offered something to the turn.
func (t *play) guarded(call func()) {
	defer t.d.survive("somebody else's code panicked in a turn")
	call()
}

// panicked logs a panic and makes the outcome of its turn.
func (d *Dispatcher) panicked(a *core.Admission, p any) core.Outcome {
	ref := a.ID.Ref()
	d.cfg.Log.Error("a turn panicked", "session", a.Conversation, "admission", a.ID, "ref", ref, "err", p, "stack", string(debug.Stack()))
	return core.Outcome{Result: core.Failed, Reason: core.ReasonPanic, Text: wordsPanic + ref, Error: fmt.Sprint("panic: ", p), Ref: ref}
}

// plain is the delivery of a text that no view made. false: the row's answer goes nowhere.
func (t *play) plain(text string) (core.Delivery, bool) {
	a := t.row()
	r := a.Submission.Route
	return core.Delivery{ID: core.DeliveryID(ulid.Make().String()), Conversation: a.Conversation, Admission: a.ID, Turn: t.fence.Turn,
		Kind: core.DeliverFinal, State: core.DeliveryOwed, Route: r, Text: text, Created: time.Now()}, !r.IsZero() && text != ""
}
