package dispatch

import (
	"context"
	"time"

	"bellhop/core"
)

// Pauses between two tries to store a settlement.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
)

// shownWithin is how long what is settled without the view belongs to the view that shows it.
const shownWithin = 30 * time.Second

// settle stores s. While the store cannot take it, it is tried again for as long as the lease is trusted; what the store
// will never take is replaced, once, by a settlement without a tail. s is what was stored in the end.
func (t *play) settle(s *core.Settlement) (more bool, err error) {
	pause, told, reduced := firstPause, false, false
	for asked := time.Now(); ; {
		more, err = t.settleOnce(*s)
		if err == nil {
			return more, nil
		}
		a := t.row()
		t.d.cfg.Log.Error("a turn could not be settled", "session", a.Conversation, "admission", a.ID, "turn", t.fence.Turn, "err", err)
		switch core.KindOf(err) {
		case core.Stale, core.NotFound, core.Corrupt:
			return false, err
		case core.NoSpace, core.Unavailable, core.Busy, core.Timeout, core.Locked:
			if !told {
				told = true
				t.tell(err)
			}
			if sleep(t.ctx, jitter(pause)) != nil {
				return false, err
			}
			pause = min(2*pause, longestPause)
			now := time.Now()
			prolong(s.Deliveries, now.Sub(asked))
			asked = now
		default:
			if reduced {
				return false, err
			}
			reduced = true
			t.reduce(s, err)
		}
	}
}

// prolong lets what a view is going to show belong to it as much later as it is stored later.
func prolong(list []core.Delivery, d time.Duration) {
	for n := range list {
		if !list[n].LiveUntil.IsZero() {
			list[n].LiveUntil = list[n].LiveUntil.Add(d)
		}
	}
}

func (t *play) settleOnce(s core.Settlement) (bool, error) {
	ctx, cancel := t.detached()
	defer cancel()
	return t.d.cfg.Store.Settle(ctx, t.fence, t.claim.Admission.ID, s)
}

// tell says that the answer cannot be stored, without the store.
func (t *play) tell(err error) {
	words := wordsNoStore
	if core.Is(err, core.NoSpace) {
		words = wordsNoSpace
	}
	a := t.row()
	t.d.cfg.Notify(t.ctx, a.Submission.Route, a.Conversation, words)
	t.d.cfg.Hub.Emit(t.ctx, a.Conversation, a.ID, t.fence.Turn, core.EventBody{Type: core.StatusUpdate, Status: "store", Text: words})
}

// reduce makes s a settlement that fails and says so, and carries nothing that could have been refused.
func (t *play) reduce(s *core.Settlement, err error) {
	ref := t.claim.Admission.ID.Ref()
	s.Outcome = core.Outcome{Result: core.Failed, Reason: core.ReasonPersistence, Text: wordsUnstored, Error: err.Error(),
		Usage: s.Outcome.Usage, Uncertain: true, Ref: ref}
	s.Tail = nil
	for n := range s.Events {
		s.Events[n].EventBody = complete(s.Outcome, nil)
	}
	s.Deliveries = nil
	if d, owed := t.plain(wordsUnstored); owed {
		d.State, d.LiveUntil = core.DeliveryLive, time.Now().Add(shownWithin) // the view shows it
		s.Deliveries = []core.Delivery{d}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
