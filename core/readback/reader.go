package readback

import (
	"context"
	"log/slog"
	"time"

	"bellhop/core"

	"github.com/oklog/ulid/v2"
)

// Store is what a Reader reads and writes; a core.Store satisfies it.
type Store interface {
	Said(ctx context.Context, id core.AdmissionID) ([]core.Message, error)
	Calls(ctx context.Context, id core.AdmissionID) ([]core.Call, error)
	Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error)
	Unsettled(ctx context.Context, c core.ConversationID) ([]core.Admission, error)
	Resolve(ctx context.Context, id core.AdmissionID, r core.Resolution) (*core.Admission, error)
	Outbox() core.Deliveries
}

// Options of a Reader; zero values take the defaults.
type Options struct {
	// Internal is how long an internal event waits behind a turn whose fate a person must decide; default 10 min.
	Internal time.Duration
	// Limit is how long anything waits behind it, so that nothing waits for ever; default 24 h.
	Limit time.Duration
	// Chain is how many rows may go on from one input before it is given up; default 8.
	Chain int
	// Emit tells news of a row that no turn runs for: the fate question where no platform can show it, and the end of a row
	// that was settled. nil: nobody is told.
	Emit func(ctx context.Context, row core.Admission, b core.EventBody)
	// Stopped reports whether somebody who may has asked to stop row since it was claimed; nil: nobody ever does.
	Stopped func(ctx context.Context, row core.Admission) (bool, error)
	// Drop ends the open questions of a row that will not go on; nil: they expire.
	Drop func(ctx context.Context, id core.AdmissionID)
	Log  *slog.Logger
}

// Reader settles unknown rows. Safe for concurrent use on different conversations.
type Reader struct {
	store Store
	o     Options
}

// New returns a Reader on s.
func New(s Store, o Options) *Reader {
	if o.Internal <= 0 {
		o.Internal = 10 * time.Minute
	}
	if o.Limit <= 0 {
		o.Limit = 24 * time.Hour
	}
	if o.Chain <= 0 {
		o.Chain = 8
	}
	if o.Emit == nil {
		o.Emit = func(context.Context, core.Admission, core.EventBody) {}
	}
	if o.Stopped == nil {
		o.Stopped = func(context.Context, core.Admission) (bool, error) { return false, nil }
	}
	if o.Drop == nil {
		o.Drop = func(context.Context, core.AdmissionID) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Reader{store: s, o: o}
}

// Report is what became of an unknown row.
type Report struct {
	Decision Decision
	// Unknown: the row waits for a person. Again is when to look once more, if nobody writes before.
	Unknown bool
	Again   time.Time
	// Retry is the new row that goes on, if any.
	Retry *core.Admission
}

// Settle reads row back and settles it, or tells its author once that its fate is theirs to decide. The caller holds the
// conversation's lease. A row that somebody else settled meanwhile is no error.
func (r *Reader) Settle(ctx context.Context, row core.Admission) (Report, error) {
	return r.look(ctx, row, r.o.Stopped)
}

// Stop is Settle on behalf of somebody who may stop row: nothing goes on from it. It needs no lease: of two that settle a
// row one is too late, which is no error.
func (r *Reader) Stop(ctx context.Context, row core.Admission) (Report, error) {
	return r.look(ctx, row, func(context.Context, core.Admission) (bool, error) { return true, nil })
}

// Forsaken ends the live message that row, which was to go on from an earlier one and was cancelled, will not take over.
func (r *Reader) Forsaken(ctx context.Context, row core.Admission) error {
	if row.RetryOf == "" {
		return nil
	}
	old, err := r.store.Admission(ctx, row.RetryOf)
	if err != nil {
		return err
	}
	f, err := r.load(ctx, old)
	if err != nil {
		return err
	}
	preview, final := f.left(old), f.ending(old, wordsStopped)
	if final == nil {
		return nil
	}
	final.ID, final.Created = newDeliveryID(), time.Now()
	if err := r.store.Outbox().Put(ctx, *final); err != nil || preview.State == core.DeliveryMoved {
		return err
	}
	preview.State, preview.Done = core.DeliveryMoved, time.Now()
	return r.store.Outbox().Save(ctx, *preview)
}

func (r *Reader) look(ctx context.Context, row core.Admission, isStopped func(context.Context, core.Admission) (bool, error)) (Report, error) {
	f, err := r.load(ctx, row)
	if err != nil {
		return Report{}, err
	}
	d := Decide(row, f.said, f.calls, f.deliveries)
	if d.Case == Effects {
		return r.undecided(ctx, row, f, d)
	}
	if d.Retry {
		stopped, err := isStopped(ctx, row)
		if err != nil {
			return Report{}, err
		}
		if stopped {
			return r.stop(ctx, row, f, d)
		}
		tries, err := r.tries(ctx, row)
		if err != nil {
			return Report{}, err
		}
		if tries >= r.o.Chain {
			return r.giveUp(ctx, row, f, d)
		}
	}
	if d.Deliver != nil {
		d.Deliver.ID, d.Deliver.Created = newDeliveryID(), time.Now()
	}
	retry, err := r.resolve(ctx, row, core.Resolution{Outcome: d.Outcome, Retry: d.Retry, Resume: d.Resume,
		Deliver: d.Deliver, Calls: d.Calls, Why: d.Why})
	return Report{Decision: d, Retry: retry}, err
}

// stop ends a turn that somebody stopped, and whose process died before it had stored that.
func (r *Reader) stop(ctx context.Context, row core.Admission, f file, d Decision) (Report, error) {
	d.Retry, d.Resume = false, false
	d.Outcome = core.Outcome{Result: core.Interrupted, Reason: core.ReasonStopped, Text: f.spoken(wordsStopped), Uncertain: len(d.Open) > 0}
	d.Why += "; it was asked to stop"
	tail, calls := Close(row, f.said, f.calls, Unseen, wordsClosing)
	d.Deliver = f.ending(row, wordsStopped)
	_, err := r.resolve(ctx, row, core.Resolution{Outcome: d.Outcome, Tail: tail, Calls: calls, Deliver: d.Deliver, Why: d.Why})
	return Report{Decision: d}, err
}

// giveUp ends an input that took its process down again and again.
func (r *Reader) giveUp(ctx context.Context, row core.Admission, f file, d Decision) (Report, error) {
	d.Retry, d.Resume = false, false
	d.Outcome = core.Outcome{Result: core.Failed, Reason: core.ReasonPanic, Text: wordsGivenUp, Ref: ref(row.ID),
		Error: "the process died each time this was tried", Uncertain: len(d.Open) > 0}
	d.Why += "; given up after " + plural(r.o.Chain, "try", "tries")
	tail, calls := Close(row, f.said, f.calls, Unseen, wordsClosing)
	if d.Deliver = f.ending(row, d.Outcome.Text); d.Deliver == nil && !row.Submission.Route.IsZero() {
		d.Deliver = say(row, core.DeliverFinal, d.Outcome.Text)
	}
	_, err := r.resolve(ctx, row, core.Resolution{Outcome: d.Outcome, Tail: tail, Calls: calls, Deliver: d.Deliver, Why: d.Why})
	return Report{Decision: d}, err
}

// resolve settles row; losing to somebody else is fine.
func (r *Reader) resolve(ctx context.Context, row core.Admission, res core.Resolution) (*core.Admission, error) {
	retry, err := r.settle(ctx, row, res)
	if core.Is(err, core.Conflict) {
		now, look := r.store.Admission(ctx, row.ID)
		if look == nil && now.Status == core.Terminal {
			return nil, nil
		}
	}
	return retry, err
}

// settle writes the resolution and tells whom it concerns.
func (r *Reader) settle(ctx context.Context, row core.Admission, res core.Resolution) (*core.Admission, error) {
	retry, err := r.store.Resolve(ctx, row.ID, res)
	if err != nil {
		return nil, err
	}
	r.o.Log.Info("an unknown turn was settled as "+string(res.Outcome.Result)+": "+res.Why, "session", row.Conversation,
		"admission", row.ID, "turn", row.Turn, "reason", res.Outcome.Reason)
	if !res.Retry {
		r.o.Drop(ctx, row.ID)
		r.o.Emit(ctx, row, complete(res.Outcome))
	}
	return retry, nil
}

// complete is the end of a turn as its clients hear it.
func complete(o core.Outcome) core.EventBody {
	status := "interrupted"
	switch o.Result {
	case core.Completed:
		status = "complete"
	case core.Failed, core.Rejected:
		status = "error"
	}
	return core.EventBody{Type: core.MessageComplete, Text: o.Text, Status: status}
}

// file is the evidence about a row. The store tells what was said and called for the rows it goes on from, too.
type file struct {
	said       []core.Message
	calls      []core.Call
	deliveries []core.Delivery
}

func (r *Reader) load(ctx context.Context, row core.Admission) (f file, err error) {
	if f.said, err = r.store.Said(ctx, row.ID); err != nil {
		return f, err
	}
	if f.calls, err = r.store.Calls(ctx, row.ID); err != nil {
		return f, err
	}
	f.deliveries, err = r.store.Outbox().Of(ctx, row.ID)
	return f, err
}

// tries counts the rows that went on from one input up to row; it stops at the limit.
func (r *Reader) tries(ctx context.Context, row core.Admission) (int, error) {
	n := 1
	for id := row.RetryOf; id != "" && n < r.o.Chain; n++ {
		older, err := r.store.Admission(ctx, id)
		if err != nil {
			return n, err
		}
		id = older.RetryOf
	}
	return n, nil
}

// Look reads back row without settling anything.
func (r *Reader) Look(ctx context.Context, row core.Admission) (Decision, error) {
	f, err := r.load(ctx, row)
	if err != nil {
		return Decision{}, err
	}
	return Decide(row, f.said, f.calls, f.deliveries), nil
}

// Tail makes the rows that close the transcript of row, whose turn is abandoned; see Close. open: a call that must not be
// repeated by itself may have had an effect.
func (r *Reader) Tail(ctx context.Context, row core.Admission, started, closing string) (tail []core.Message, open bool, err error) {
	f, err := r.load(ctx, row)
	if err != nil {
		return nil, false, err
	}
	d := Decide(row, f.said, f.calls, f.deliveries)
	tail, _ = Close(row, f.said, f.calls, started, closing)
	return tail, d.Case == Effects, nil
}

func newDeliveryID() core.DeliveryID { return core.DeliveryID(ulid.Make().String()) }
