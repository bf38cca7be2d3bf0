package stream

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/stream/markup"
)

// Mode is how a turn is shown while it runs.
type Mode string

const (
	ModeEdit   Mode = "edit"   // one message that grows
	ModeDraft  Mode = "draft"  // a draft that grows, then one message; as edit where the Surface is no Drafter
	ModeBuffer Mode = "buffer" // whole messages, for platforms without edits
	ModeOff    Mode = "off"    // the final only
)

// ConsumerOptions say how one turn is painted; zero fields take the defaults.
type ConsumerOptions struct {
	Mode            Mode          // default edit
	EditInterval    time.Duration // default 1 s
	DraftInterval   time.Duration // default EditInterval
	BufferThreshold int           // bytes; default 40; where Unlimited, so much that also doubles the message is shown earlier
	Unlimited       bool          // edits cost nothing here
	Cursor          string        // "" shows none; drafts have none
	StopButton      *core.Button
	StopAfter       time.Duration // how long a text must have been there to get it; a status message has it at once
	ReplyTo         string
	HideInterim     bool // text beside tool calls is replaced by what follows
	Tools           ToolDisplay
	Turn            core.TurnID // events of other turns are ignored; "" takes all
	// OnPart is told the messages of the answer whenever that list changes, so that it can be recorded; the status message
	// is the last of them, with Hash StatusHash. While a final is on its way its part has Sent raised and no Ref. It is
	// called between two calls of the Surface and may block.
	OnPart func(parts []core.Part)
	// Go runs paint on a goroutine and reports true, or false when nothing can be painted any more; it must not block. Its
	// owner waits for paint, and ends its context to stop. nil: nothing is shown before Finish.
	Go    func(paint func(ctx context.Context)) bool
	Adopt []core.Part // messages of an earlier attempt
	Log   *slog.Logger
}

func (o ConsumerOptions) defaults() ConsumerOptions {
	if o.Mode == "" {
		o.Mode = ModeEdit
	}
	if o.EditInterval <= 0 {
		o.EditInterval = time.Second
	}
	if o.DraftInterval <= 0 {
		o.DraftInterval = o.EditInterval
	}
	if o.BufferThreshold <= 0 {
		o.BufferThreshold = 40
	}
	if o.Tools.After <= 0 {
		o.Tools.After = 1200 * time.Millisecond
	}
	if o.Tools.Lines <= 0 {
		o.Tools.Lines = 4
	}
	if o.Tools.Verb == nil {
		o.Tools.Verb = Verb
	}
	o.Tools.Off = o.Tools.Off || o.Mode != ModeEdit && o.Mode != ModeDraft
	if o.OnPart == nil {
		o.OnPart = func([]core.Part) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// phase is how far the turn is.
type phase uint8

const (
	live      phase = iota // news changes what is shown
	ended                  // the text is complete, the commit is pending
	finishing              // Finish has it
	over                   // abandoned: nothing is sent any more
)

// Consumer paints one turn onto one Surface. On, End, Stands and Abandon may be called from anywhere and never block. What
// ConsumerOptions.Go runs and Finish talk to the Surface, never both at a time.
type Consumer struct {
	o     ConsumerOptions
	token chan struct{} // whoever holds it may talk to the Surface and owns p

	mu     sync.Mutex // guards what was said
	phase  phase
	end    time.Time // when the text ended
	script script
	tools  tools
	pace   pace

	p *painter
}

// NewConsumer makes one. It begins to paint with the first news.
func NewConsumer(s Surface, o ConsumerOptions) *Consumer {
	o = o.defaults()
	return &Consumer{o: o, token: make(chan struct{}, 1), tools: tools{o: o.Tools}, pace: pace{run: o.Go}, p: newPainter(s, o)}
}

// On takes an event of the turn.
func (c *Consumer) On(e core.Event) {
	if c.o.Turn != "" && e.Turn != c.o.Turn {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.phase == live && c.o.Mode != ModeOff && c.script.take(e, c.o.HideInterim)
	changed = c.phase == live && !c.o.Tools.Off && c.tools.take(e, time.Now()) || changed
	if changed {
		c.stir()
	}
}

// End says that text is the whole answer, about to be committed: the authority over what the stream brought. All
// of it is shown at once; as a draft only when Finish does not come within a moment. A Stop button stays if it was shown
// already. Where messages cannot be edited nothing is shown before Finish.
func (c *Consumer) End(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != live {
		return
	}
	c.phase, c.end = ended, time.Now()
	c.tools.endWait()
	c.script.last().set(text, true)
	c.script.rev++
	c.stir()
}

// Owes reports whether text that ended at a tool boundary is not shown for good yet: Finish will do it, but nobody else.
func (c *Consumer) Owes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.script.blocks) > 0 && c.script.blocks[0].sealed
}

// Stands returns what the answer of an interrupted or failed turn should be, so that nothing a person has seen is
// overwritten: the text under way, and the notice below it. Give it to End and Finish.
func (c *Consumer) Stands(notice string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.TrimSpace(c.script.last().text())
	switch {
	case text == "" || strings.HasPrefix(notice, text):
		return notice
	case strings.TrimSpace(notice) == "":
		return markup.CloseFence(text)
	}
	return markup.CloseFence(text) + "\n\n" + notice
}

// Abandon stops for good: the lease is lost, nothing more is sent. A call that is on its way ends with its context.
func (c *Consumer) Abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = over
	c.stir()
}

func (c *Consumer) acquire(ctx context.Context) bool {
	select {
	case c.token <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *Consumer) release() { <-c.token }

// scene is what there is to paint now.
type scene struct {
	block  *block // nil: no text yet
	text   string
	sealed bool
	reset  int
	more   bool // text follows in a later block
	ended  bool
	rev    int
	status string // "" when no tool runs
	tools  int    // revision of status
	over   bool   // nothing may be painted any more
}

// scene looks at the first block that is not painted for good.
func (c *Consumer) scene() scene {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := scene{ended: c.phase == ended, over: c.phase >= finishing, rev: c.script.rev, tools: c.tools.rev}
	if len(c.script.blocks) > 0 {
		b := c.script.blocks[0]
		s.block, s.text, s.sealed, s.reset = b, b.text(), b.sealed, b.reset
		s.more = len(c.script.blocks) > 1
	}
	if at := c.tools.due(); !at.IsZero() && !time.Now().Before(at) || c.p.status.Ref != "" {
		s.status = c.tools.text()
	}
	return s
}

// painted takes the first block off: it stands for good.
func (c *Consumer) painted(b *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.script.blocks) > 0 && c.script.blocks[0] == b {
		c.script.blocks = c.script.blocks[1:]
	}
}
