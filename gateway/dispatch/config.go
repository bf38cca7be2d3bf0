package dispatch

import (
	"context"
	"log/slog"
	"time"

	"bellhop/core"
	"bellhop/core/lease"
	"bellhop/core/readback"
	"bellhop/core/turn"
	"bellhop/gateway/session"
	"bellhop/stream"
)

// Store is what dispatch needs of the store; a core.Store satisfies it.
type Store interface {
	Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error)
	ClaimNext(ctx context.Context, f core.Fence, open func(core.Admission) core.Opening) (core.Claim, error)
	Acquire(ctx context.Context, c core.ConversationID, t core.TurnID, h core.Holder, ttl time.Duration,
		alive func(core.Holder) bool) (core.Lease, error)
	Start(ctx context.Context, c core.ConversationID, t core.TurnID, h core.Holder, ttl time.Duration, alive func(core.Holder) bool,
		open func(core.Admission) core.Opening) (core.Lease, *core.Claim, error)
	Settle(ctx context.Context, f core.Fence, id core.AdmissionID, s core.Settlement) (more bool, err error)
	Orphan(ctx context.Context, alive func(core.Holder) bool) ([]core.Admission, error)
	Cancel(ctx context.Context, c core.ConversationID, o core.Outcome, ids ...core.AdmissionID) ([]core.Admission, error)
	Unsettled(ctx context.Context, c core.ConversationID) ([]core.Admission, error)
	Pending(ctx context.Context) ([]core.Pending, error)
}

// Runner runs one turn; *turn.Runner is one. It never returns an error: a failed turn is an outcome. It calls emit in
// order and not after it has returned.
type Runner interface {
	Run(ctx context.Context, in turn.Input, emit func(core.EventBody)) (core.Outcome, []core.Message)
}

// Hub numbers and publishes news; *stream.Hub is one.
type Hub interface {
	Open(c core.ConversationID, base int64, news ...core.Event)
	Number(ctx context.Context, c core.ConversationID, a core.AdmissionID, t core.TurnID, b core.EventBody) (core.Event, error)
	Publish(e core.Event)
	Drop(e core.Event)
	Emit(ctx context.Context, c core.ConversationID, a core.AdmissionID, t core.TurnID, b core.EventBody)
	Attach(c core.ConversationID, l stream.Listener) (detach func())
}

// Outlet opens the live message of a turn. It only reads the claim.
type Outlet interface {
	Open(ctx context.Context, c *core.Claim, f core.Fence) View
}

// View is the live message of one turn. It hears the turn's news from message.start until its settlement; it is told of
// message.complete by Settled or Abandon, exactly one of which ends it.
type View interface {
	stream.Listener
	// End tells the whole text of a completed turn; the commit is pending.
	End(text string)
	// Final returns the outbox row to settle with; false: nothing is owed.
	Final(o core.Outcome) (core.Delivery, bool)
	// Settled finishes the live message after the commit and marks the row. Called once, beside the next turn.
	Settled(ctx context.Context, d core.Delivery) error
	// Abandon sends nothing more: the lease is lost, nothing is owed, or another process goes on.
	Abandon()
}

// Readback settles unknown rows; *readback.Reader is one.
type Readback interface {
	Settle(ctx context.Context, row core.Admission) (readback.Report, error)
	Stop(ctx context.Context, row core.Admission) (readback.Report, error)
	Forsaken(ctx context.Context, row core.Admission) error
	Look(ctx context.Context, row core.Admission) (readback.Decision, error)
	Tail(ctx context.Context, row core.Admission, started, closing string) (tail []core.Message, open bool, err error)
}

// Config is what a Dispatcher needs. Durations and MaxParallel have defaults.
type Config struct {
	Store  Store
	Keeper *lease.Keeper
	Holder core.Holder            // this process
	Alive  func(core.Holder) bool // as the Keeper's; nil: lease.Alive
	// Others tells whether a lease is held by another process that lives and drains the conversation; nil: there are none.
	Others   func(core.Holder) bool
	Runner   Runner
	Hub      Hub
	Sessions *session.Registry
	Outlet   Outlet // nil: nothing is shown live
	Readback Readback
	// Observe hears that a turn was settled, or lost its lease, and how long it took; nil: nobody counts.
	Observe func(o core.Outcome, d time.Duration)

	// Notify says something to a person that must not wait for the store; nil: it is only logged.
	Notify func(ctx context.Context, r core.Route, c core.ConversationID, text string)
	// Quiet ends the background work of a conversation before a turn of it: the person comes first. nil: there is none.
	Quiet func(ctx context.Context, c core.ConversationID)

	MaxParallel int           // turns at once, 64
	Liveness    time.Duration // a turn without activity is interrupted, 15 min
	MaxTime     time.Duration // of a turn without waits for people; 0: the turn's own limit alone
	Grace       time.Duration // from a stop, a replacement or a lost lease to abandonment, 900 ms
	SlowGrace   time.Duration // the same from any other interrupt, 5 s
	Drain       time.Duration // from the end of Run's context to the interrupt of running turns, 15 s
	Sweep       time.Duration // between sweeps, 15 s
	Log         *slog.Logger
}

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&c.Liveness, 15*time.Minute)
	def(&c.Grace, 900*time.Millisecond)
	def(&c.SlowGrace, 5*time.Second)
	def(&c.Drain, 15*time.Second)
	def(&c.Sweep, 15*time.Second)
	if c.MaxParallel <= 0 {
		c.MaxParallel = 64
	}
	if c.Alive == nil {
		c.Alive = lease.Alive
	}
	if c.Others == nil {
		c.Others = func(core.Holder) bool { return false }
	}
	if c.Outlet == nil {
		c.Outlet = mute{}
	}
	if c.Observe == nil {
		c.Observe = func(core.Outcome, time.Duration) {}
	}
	if c.Notify == nil {
		c.Notify = func(context.Context, core.Route, core.ConversationID, string) {}
	}
	if c.Quiet == nil {
		c.Quiet = func(context.Context, core.ConversationID) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// mute is an Outlet and a View that show nothing.
type mute struct{}

func (mute) Open(context.Context, *core.Claim, core.Fence) View { return mute{} }
func (mute) On(core.Event)                                      {}
func (mute) End(string)                                         {}
func (mute) Final(core.Outcome) (core.Delivery, bool)           { return core.Delivery{}, false }
func (mute) Settled(context.Context, core.Delivery) error       { return nil }
func (mute) Abandon()                                           {}
