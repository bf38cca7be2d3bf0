package admission

import (
	"context"
	"log/slog"
	"time"

	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/gateway/session"

	"github.com/oklog/ulid/v2"
)

// DefaultCap is how many rows of one conversation may be queued.
const DefaultCap = 32

// Store is what the door needs of the store; a core.Store satisfies it.
type Store interface {
	Admit(ctx context.Context, in core.Intake) ([]core.Admitted, error)
	Cancel(ctx context.Context, c core.ConversationID, o core.Outcome, ids ...core.AdmissionID) ([]core.Admission, error)
	Amend(ctx context.Context, id core.AdmissionID, text string) error
	Move(ctx context.Context, id core.AdmissionID, place int) error
	Unhold(ctx context.Context, id core.AdmissionID) error
	Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error)
	Unsettled(ctx context.Context, c core.ConversationID) ([]core.Admission, error)
	Lookup(ctx context.Context, k core.Key) (core.Conversation, error)
	Conversation(ctx context.Context, id string, owner core.PrincipalID) (core.Conversation, error)
}

// Metrics hears what passes the door. Its methods may be called concurrently and must not block.
type Metrics interface {
	Admitted(surface, outcome string) // fresh, duplicate, merged, amended, refused, command
	Committed(d time.Duration)        // how long the store took to make a batch durable
}

// Offers knows the rows that were offered to running turns; *session.Registry does.
type Offers interface {
	Withdraw(c core.ConversationID, id core.AdmissionID) bool
	Reword(c core.ConversationID, id core.AdmissionID, text string) bool
}

// Options of a Desk.
type Options struct {
	Wake     func(core.ConversationID) // dispatch's; nil: nobody is woken
	Sessions Offers                    // keeps offers to steer in step with their rows; nil: none
	// Forsaken ends what a row that was to go on from another, and was cancelled, leaves unfinished; nil: nothing does.
	Forsaken func(ctx context.Context, row core.Admission) error
	Cap      int     // rows queued per conversation; 0: DefaultCap, negative: no cap
	Metrics  Metrics // nil: nobody counts
	Log      *slog.Logger
}

// Desk is the door. Safe for concurrent use.
type Desk struct {
	store Store
	o     Options
}

// New returns the door to s.
func New(s Store, o Options) *Desk {
	if o.Wake == nil {
		o.Wake = func(core.ConversationID) {}
	}
	if o.Sessions == nil {
		o.Sessions = session.New()
	}
	if o.Forsaken == nil {
		o.Forsaken = func(context.Context, core.Admission) error { return nil }
	}
	if o.Cap == 0 {
		o.Cap = DefaultCap
	}
	if o.Metrics == nil {
		o.Metrics = uncounted{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Desk{store: s, o: o}
}

// Admit makes a batch durable in one commit, together with the cursor that must not move before it. It returns one
// Admitted per entry, in order; an entry that was refused has its Err and no row. The error is of the commit: nothing was
// stored, the cursor stands (Unavailable, NoSpace, Corrupt). Nobody is woken; call Woken.
func (d *Desk) Admit(ctx context.Context, entries []core.Entry, cur *core.Cursor) ([]core.Admitted, error) {
	b, err := d.screen(ctx, entries)
	if err != nil {
		return nil, err
	}
	if len(b.in) > 0 || cur != nil {
		crash.Point(crash.BeforeAdmit)
		start := time.Now()
		got, err := d.store.Admit(ctx, core.Intake{Entries: b.in, Cursor: cur})
		if err != nil {
			return nil, err
		}
		d.o.Metrics.Committed(time.Since(start))
		crash.Point(crash.AfterAdmit)
		if err := d.landed(ctx, b, got); err != nil {
			return nil, err
		}
		b.merge(got)
	}
	for n, a := range b.out {
		d.o.Metrics.Admitted(entries[n].Submission.Surface, outcomeOf(entries[n], a))
	}
	return b.out, nil
}

// Woken wakes the conversations whose queue has changed. Call it after whatever had to be acknowledged.
func (d *Desk) Woken(adm []core.Admitted) {
	var last core.ConversationID
	for _, a := range adm {
		changed := a.Fresh || a.Merged || a.Amended
		if a.Err != nil || !changed || a.Admission.Status == core.Terminal && !a.Amended {
			continue
		}
		if a.Amended {
			d.reword(a.Admission)
		}
		if c := a.Admission.Conversation; c != last {
			last = c
			d.o.Wake(c)
		}
	}
}

// SubmitOptions say how one submission is admitted; see core.Entry.
type SubmitOptions struct {
	WhenIdle bool          // Busy, without a row, when anything of the conversation is unsettled
	Strict   bool          // the same request id with another payload is a Conflict
	Hold     time.Duration // not claimed before
}

// Submit admits one submission and wakes its conversation. The receipt of a duplicate comes back without an error.
// Errors: Denied, Invalid, Conflict, Busy, Full, and those of the commit.
func (d *Desk) Submit(ctx context.Context, by core.Principal, s core.Submission, o SubmitOptions) (core.Admitted, error) {
	got, err := d.Admit(ctx, []core.Entry{{By: by, Submission: s, WhenIdle: o.WhenIdle, Strict: o.Strict, Hold: o.Hold}}, nil)
	if err != nil {
		return core.Admitted{}, err
	}
	if got[0].Err != nil {
		return got[0], got[0].Err
	}
	d.Woken(got)
	return got[0], nil
}

// AdmitInternal is Submit for what the gateway itself produces: a timer that fired, a background process that ended, a
// sub-agent's report. An error hands the event back to its producer.
func (d *Desk) AdmitInternal(ctx context.Context, producer string, s core.Submission) (core.Admitted, error) {
	if producer == "" {
		return core.Admitted{}, core.Errorf("submit", core.Invalid, "an internal event needs a producer")
	}
	name := "internal:" + producer
	s.Producer, s.AuthorID = producer, core.PrincipalID(name)
	if s.Source == "" {
		s.Source = name
	}
	if s.Surface == "" {
		s.Surface = "internal"
	}
	by := core.Principal{ID: s.AuthorID, Name: producer, Caps: core.CanRead | core.CanSubmit | core.CanOperate}
	return d.Submit(ctx, by, s, SubmitOptions{})
}

// newRequestID names a request whose caller gave it no name: it can then not be a duplicate of anything.
func newRequestID() core.RequestID { return core.RequestID(ulid.Make().String()) }
