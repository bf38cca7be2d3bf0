package stream

import (
	"context"
	"log/slog"
	"time"

	"bellhop/core"
)

// Mode is how a turn is shown while it runs.
type Mode string

const (
	ModeEdit   Mode = "edit"   // one message that grows
	ModeBuffer Mode = "buffer" // whole messages, for platforms without edits
	ModeOff    Mode = "off"    // the final only
)

// ToolDisplay is how tools show while they run.
type ToolDisplay struct {
	Off   bool
	After time.Duration            // how long a tool runs before anything shows; default 1.2 s
	Lines int                      // at most; default 4
	Keep  bool                     // leave the status message at the end
	Verb  func(tool string) string // what a person reads; default Verb
}

// ConsumerOptions say how one turn is painted; zero fields take the defaults.
type ConsumerOptions struct {
	Mode            Mode          // default edit
	EditInterval    time.Duration // default 1 s
	BufferThreshold int           // characters; default 40; lets an edit go earlier where Unlimited
	Unlimited       bool          // edits cost nothing here
	Cursor          string        // "" shows none
	StopButton      *core.Button
	ReplyTo         string
	HideInterim     bool // text beside tool calls is replaced by what follows
	Tools           ToolDisplay
	Turn            core.TurnID // events of other turns are ignored; "" takes all
	// OnPart is told the messages of the answer whenever that list changes, so that it can be recorded. It may block.
	OnPart func(parts []core.Part)
	Adopt  []core.Part // messages of an earlier attempt
	Log    *slog.Logger
}

// Consumer paints one turn onto one Surface.
type Consumer struct {
	s Surface
	o ConsumerOptions
}

// NewConsumer makes one; Run paints.
func NewConsumer(s Surface, o ConsumerOptions) *Consumer { return &Consumer{s: s, o: o} }

// On takes an event of the turn; it never blocks.
func (c *Consumer) On(e core.Event) {}

// Run paints until Finish or Abandon was called, the target is dead, or ctx ends.
func (c *Consumer) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// End says that text is the whole answer, about to be committed. Run shows all of it at once.
func (c *Consumer) End(text string) {}

// Stands returns what the answer of an interrupted or failed turn should be: what was shown so far and below it the notice.
func (c *Consumer) Stands(notice string) string { return notice }

// Finish makes what is visible equal to final, without cursor and Stop, and returns the messages that show it. It works
// with and without Run. MEDIA: lines of final are left out; see Extract.
func (c *Consumer) Finish(ctx context.Context, final string) ([]core.Part, error) { return nil, nil }

// Abandon stops for good: nothing more is sent.
func (c *Consumer) Abandon() {}

// Hash is what core.Part.Hash holds for a message that shows v.
func Hash(v View) string { return "" }

// Extract takes the MEDIA: lines, and the caption line below each, out of an answer.
func Extract(md string) (text string, media []core.Media) { return md, nil }
