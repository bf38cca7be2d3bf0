package readback

import (
	"context"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// How a person may settle an unknown row.
const (
	AsDone  = "done"  // it happened; nothing goes on
	AsRetry = "retry" // run what is open again and go on
	AsDrop  = "drop"  // leave it
)

// undecided handles a row of case Effects: the author is told once; when the conversation goes on, so does the queue.
func (r *Reader) undecided(ctx context.Context, row core.Admission, f file, d Decision) (Report, error) {
	told, ok := findNotice(row, f.deliveries)
	if !ok {
		told = fateNotice(row, d.Open)
		if err := r.tell(ctx, row, told, d); err != nil {
			return Report{}, err
		}
	}
	waiting, err := r.store.Unsettled(ctx, row.Conversation)
	if err != nil {
		return Report{}, err
	}
	moved, again := r.movedOn(row, told, waiting)
	if !moved {
		return Report{Decision: d, Unknown: true, Again: again}, nil
	}
	tail, calls := Close(row, f.said, f.calls, Unseen, wordsClosing)
	_, err = r.resolve(ctx, row, core.Resolution{Tail: tail, Calls: calls, Deliver: f.ending(row, ""), Why: d.Why + "; the conversation went on",
		Outcome: core.Outcome{Result: core.Interrupted, Reason: core.ReasonMoved, Uncertain: true}})
	return Report{Decision: d}, err
}

// tell puts the question into the chat. Where no platform can show it the row is born delivered and clients get an event.
func (r *Reader) tell(ctx context.Context, row core.Admission, n core.Delivery, d Decision) error {
	if n.State == core.DeliveryDelivered {
		r.o.Emit(ctx, row, core.EventBody{Type: core.ErrorEvent, Status: string(core.Unknown), Text: n.Text,
			Ask: &core.Ask{Kind: core.Fate, Title: wordsUndecided, Detail: list(d.Open), Choices: []string{AsDone, AsRetry, AsDrop}}})
	}
	r.o.Log.Warn("a turn ended with an open effect; its author decides", "session", row.Conversation, "admission", row.ID,
		"turn", row.Turn, "reason", d.Why)
	return r.store.Outbox().Put(ctx, n)
}

// movedOn reports whether something that waits settles the row: a message that its author, or somebody with control,
// wrote after they could know; an internal event, or anything at all, that has waited for its time. Otherwise it returns
// when that will be so.
func (r *Reader) movedOn(row core.Admission, told core.Delivery, waiting []core.Admission) (bool, time.Time) {
	var again time.Time
	for _, w := range waiting {
		if w.Status != core.Queued {
			continue
		}
		if mayDecide(w.Principal(), row) && !internal(w) && w.RetryOf == "" && knew(told, w) {
			return true, time.Time{}
		}
		limit := r.o.Limit
		if internal(w) {
			limit = r.o.Internal
		}
		at := later(w.Created, told.Created).Add(limit)
		if !time.Now().Before(at) {
			return true, time.Time{}
		}
		if again.IsZero() || at.Before(again) {
			again = at
		}
	}
	return false, again
}

// knew reports whether w was admitted after the notice was delivered, or could not be delivered for good.
func knew(told core.Delivery, w core.Admission) bool {
	switch told.State {
	case core.DeliveryDelivered, core.DeliveryDead:
		return w.Created.After(later(told.Done, told.Created))
	}
	return false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func internal(a core.Admission) bool {
	return a.Submission.Producer != "" || strings.HasPrefix(string(a.By), "internal:")
}

func mayDecide(by core.Principal, row core.Admission) bool {
	return by.ID != "" && (by.ID == row.By || by.Can(core.CanControl))
}

// Resolve settles an unknown row as a person says: AsDone, AsRetry or AsDrop. It returns the new row of a retry; the
// caller wakes the conversation. Errors: Invalid, NotFound, Denied (neither its author nor in control), Conflict (it is
// not unknown, any more).
func (r *Reader) Resolve(ctx context.Context, by core.Principal, id core.AdmissionID, as string) (*core.Admission, error) {
	const op = "resolve"
	if !slices.Contains([]string{AsDone, AsRetry, AsDrop}, as) {
		return nil, core.Errorf(op, core.Invalid, "an unknown turn is settled as done, retry or drop")
	}
	row, err := r.store.Admission(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !mayDecide(by, row):
		return nil, core.Errorf(op, core.Denied, "%s may not settle %s", by.ID, id)
	case row.Status != core.Unknown:
		return nil, core.Errorf(op, core.Conflict, "%s is %s", id, row.Status)
	}
	f, err := r.load(ctx, row)
	if err != nil {
		return nil, err
	}
	d := Decide(row, f.said, f.calls, f.deliveries)
	res := r.resolution(row, f, d, as)
	res.By, res.Why = by.ID, d.Why+"; "+as+" by "+string(by.ID)
	return r.settle(ctx, row, res)
}

func (r *Reader) resolution(row core.Admission, f file, d Decision, as string) core.Resolution {
	if as == AsRetry {
		// Recorded means: not started, so the new row runs it.
		return core.Resolution{Retry: true, Resume: d.Resume || len(f.calls) > 0, Calls: again(d.Open),
			Outcome: core.Outcome{Result: core.Interrupted, Reason: core.ReasonRetried}}
	}
	result, o := Unseen, core.Outcome{Result: core.Interrupted, Reason: core.ReasonDropped, Uncertain: len(d.Open) > 0}
	if as == AsDone {
		result, o = Vouched, core.Outcome{Result: core.Completed, Reason: core.ReasonDone}
	}
	tail, calls := Close(row, f.said, f.calls, result, wordsClosing)
	return core.Resolution{Outcome: o, Tail: tail, Calls: calls, Deliver: f.ending(row, "")}
}
