package gateway

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/gateway/command"
	"bellhop/gateway/session"
)

// PlatformOptions are what the gateway must know of one adapter's section.
type PlatformOptions struct {
	RequireMention bool   // in groups, only what addresses the bot is heard
	Shared         bool   // one conversation for a whole group instead of one per person
	Bots           int    // messages of one other bot that are answered per minute; 0: none
	Busy           string // overrides Config.Busy
}

// Desk admits input; *admission.Desk is one.
type Desk interface {
	Admit(ctx context.Context, entries []core.Entry, cur *core.Cursor) ([]core.Admitted, error)
	Woken(adm []core.Admitted)
}

// Mouth says something; *deliver.Mouth is one.
type Mouth interface {
	Say(ctx context.Context, d core.Delivery) error
	Waiting(a core.Admission, ahead int)
	Replace(ctx context.Context, a core.AdmissionID, data, text string) error
}

// Commands runs commands; *command.Table is one.
type Commands interface {
	Find(name string) (command.Command, bool)
	Turn(c command.Call) (s core.Submission, busy string, ok bool)
	Run(ctx context.Context, c command.Call) (command.Answer, error)
	Press(ctx context.Context, c command.Call, data string) (string, error)
}

// Sessions knows what runs; *session.Registry is one.
type Sessions interface {
	Status(c core.ConversationID) (session.Status, bool)
	Offer(c core.ConversationID, s session.Steered) bool
	InterruptTurn(c core.ConversationID, id core.AdmissionID, i core.Interrupt) bool
}

// Store reads what the gateway must know; a core.Store is one.
type Store interface {
	Lookup(ctx context.Context, k core.Key) (core.Conversation, error)
	Rekey(ctx context.Context, from, to core.Key, chat string) error
	Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error)
	Cursor(ctx context.Context, name string) (string, error)
	Outbox() core.Deliveries
}

// Metrics hears what happens; its methods may be called concurrently and must not block.
type Metrics interface {
	Acked(platform string, d time.Duration) // from receipt to durable
	Received(platform string, at time.Time) // the connection worked
}

// Rate limits what one person may send: one message each Every, Burst at once. The zero Rate is no limit.
type Rate struct {
	Every time.Duration
	Burst int
}

// Config is what a Gateway needs.
type Config struct {
	Desk     Desk
	Mouth    Mouth
	Commands Commands
	Sessions Sessions
	Store    Store
	Access   *Access
	// Seat is the right of this process to read a platform, where others may have it instead; nil: there are none.
	Seat    func(platform string) core.Seat
	Busy    string // how a message meets a running turn: queue (default), steer or interrupt
	Rate    Rate   // of people whom only access.default lets in
	Metrics Metrics
	Log     *slog.Logger
}

// Gateway lets people in. Safe for concurrent use. It leaves no goroutine behind; its memory is a few bounded tables of who was
// heard lately.
type Gateway struct {
	cfg     Config
	log     *slog.Logger
	metrics Metrics
	guards  []step
	refused *recent                   // people whose refusal was logged
	full    *recent                   // conversations that were told that their queue is full
	ran     *ran                      // commands and presses that this process takes care of
	began   atomic.Pointer[time.Time] // when an adapter last took its place: others may have taken care of what was sent before
	bots    *buckets
	rates   *buckets
}

// step is a guard with its name, for logs.
type step struct {
	name  string
	guard Guard
}

// New makes a Gateway.
func New(cfg Config) *Gateway {
	g := &Gateway{cfg: cfg, log: cfg.Log, metrics: cfg.Metrics, refused: newRecent(), full: newRecent(),
		ran: newRan(), bots: newBuckets(), rates: newBuckets()}
	g.begin(time.Now())
	if g.cfg.Seat == nil {
		g.cfg.Seat = func(string) core.Seat { return core.Seat{} }
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.metrics == nil {
		g.metrics = uncounted{}
	}
	// Every input passes this list from top to bottom until a guard has decided.
	g.guards = []step{
		{"own", g.guardOwn},
		{"service", g.guardService},
		{"allowed", g.guardAllowed},
		{"press", g.guardPress},
		{"amend", g.guardAmend},
		{"command", g.guardCommand},
		{"addressed", g.guardAddressed},
		{"rate", g.guardRate},
		{"busy", g.guardBusy},
	}
	return g
}

func (g *Gateway) begin(at time.Time) { g.began.Store(&at) }

// Inbox returns the way in for one adapter. Take one per adapter and keep it: it remembers who was addressed lately.
func (g *Gateway) Inbox(a adapters.Adapter, o PlatformOptions) adapters.Inbox {
	return &inbox{g: g, name: a.Name(), opts: o, heard: newRecent()}
}

type uncounted struct{}

func (uncounted) Acked(string, time.Duration) {}
func (uncounted) Received(string, time.Time)  {}
