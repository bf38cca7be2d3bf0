package deliver

import (
	"context"
	"log/slog"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// Chats follows a chat that got a new id.
type Chats interface {
	Rekey(ctx context.Context, from, to core.Key, chat string) error
}

// Leases tells whether a turn may still speak.
type Leases interface {
	Holds(ctx context.Context, f core.Fence) error
}

// Questions reads what is asked.
type Questions interface {
	Question(ctx context.Context, id core.QuestionID) (core.Question, error)
}

// Rate is a token bucket: one call each Every, Burst at once. The zero Rate is no limit.
type Rate struct {
	Every time.Duration
	Burst int
}

// Limits replace the platform's published rates where they are set.
type Limits struct {
	Off              bool // no self-imposed budget at all
	Chat, Group, Bot Rate
}

// Platform is how one adapter speaks.
type Platform struct {
	Mode            string // edit, buffer or off; draft and native fall back to edit
	EditInterval    time.Duration
	BufferThreshold int
	Cursor          string
	ToolProgress    string // off, compact, full
	Reasoning       string // hidden, shown
	Interim         bool
	Cleanup         bool
	Limits          Limits
}

// Metrics hears what happens; every method may be called concurrently and must not block.
type Metrics interface {
	Call(platform, method, code string)                  // one platform call ended
	Throttled(platform string, d time.Duration)          // time a call waited for the platform's or our own limit
	Edited(platform string)                              // a live message changed
	Delivered(platform string, state core.DeliveryState) // a row ended
}

// Config is what a Mouth needs.
type Config struct {
	Store     core.Deliveries
	Chats     Chats
	Leases    Leases // may be nil: the fence is not asked again
	Questions Questions
	Home      func(ctx context.Context) (core.Route, bool) // the owner's chat; may be nil
	Adapters  []adapters.Adapter
	Platforms map[string]Platform // by adapter name; the key "" is for the others
	Files     []string            // folders that media may be sent from
	Alone     bool                // no other process delivers from this store: left-overs are taken up at once
	Metrics   Metrics
	Log       *slog.Logger
}

// Mouth sends. One per process.
type Mouth struct {
	cfg Config
}

// New makes a Mouth. It sends nothing before Run.
func New(cfg Config) *Mouth { return &Mouth{cfg: cfg} }

// Open makes the live message of a turn that was just claimed.
func (m *Mouth) Open(ctx context.Context, c core.Claim, f core.Fence) *View { return &View{} }

// Say stores a delivery, which is then sent as soon as it can be, whatever happens to this process. A missing id, kind,
// state and time are filled in.
func (m *Mouth) Say(ctx context.Context, d core.Delivery) error { return m.cfg.Store.Put(ctx, d) }

// On hears events of every conversation: it shows questions and where a message waits. It never blocks.
func (m *Mouth) On(e core.Event) {}

// Run sends what is owed until ctx ends.
func (m *Mouth) Run(ctx context.Context) error { <-ctx.Done(); return nil }
