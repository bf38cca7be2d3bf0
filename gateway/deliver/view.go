package deliver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/stream"
)

// liveFor is how long after its commit a final belongs to the view that was showing it.
const liveFor = 30 * time.Second

// View is the live message of one turn. On, End, Final, Settled and Abandon are called by the one drain that runs the
// turn; painting happens beside it in goroutines of Mouth.Run.
//
//	open --first visible text--> shown --End--> ended --Final, commit, Settled--> closed
//	  |                            |
//	  +--End: held, nothing is sent before the commit        Abandon: closed at any time
//
// A view whose turn has nowhere to speak is mute: it takes everything and does nothing.
type View struct {
	m     *Mouth
	c     *channel // nil: the platform is not connected; the row is written all the same
	claim *core.Claim
	fence core.Fence
	paint *stream.Consumer

	visible sync.Once // the first text was counted

	mu      sync.Mutex
	route   core.Route
	row     core.Delivery // of the live message
	born    bool          // it is stored
	posting bool          // a message is being made
	lost    bool          // the fate of one is unknown: no more previews, and the final finds it or says that it may be a repeat
	mark    string        // its name among the losses
	lostAt  time.Time
	held    bool // the text ended before there was any message: Settled makes it
	marked  bool // the final's row is born as being sent, and the call is paid for
	closed  bool
	ending  bool // the answer was settled, and is being shown
	sketch  sketch
	asking  int
	since   time.Time
	typed   time.Time

	// What the message that was changed last looks like: without the buttons that it was too young for.
	seenRef, seenHash string

	heard  atomic.Int64 // when the last news came, in Unix nanoseconds
	silent atomic.Int64 // how much silence after it was told

	checked time.Time       // when the fence was last known to hold
	plain   bool            // the platform refused the markup of a preview
	under   context.Context // of the last post, without its end: what it made is recorded under it
}

// Open makes the live message of a turn that was just claimed. The claim is only read.
func (m *Mouth) Open(ctx context.Context, claim *core.Claim, f core.Fence) *View {
	m.pulse.begins(claim.Admission.Conversation, claim.Queued)
	now := time.Now()
	v := &View{m: m, claim: claim, fence: f, route: claim.Admission.Submission.Route, since: now, checked: now,
		sketch: newSketch()}
	v.heard.Store(now.UnixNano())
	v.c = m.channels[v.route.Platform]
	if v.c == nil {
		return v
	}
	if claim.Preview != nil {
		v.adopt(claim.Preview)
	}
	v.paint = stream.NewConsumer((*surface)(v), v.options())
	m.pulse.add(v)
	return v
}

// adopt takes over the messages that an earlier attempt left behind. They get a row of this turn with the first change.
func (v *View) adopt(d *core.Delivery) {
	v.route = d.Route
	v.row.Parts = slices.DeleteFunc(slices.Clone(d.Parts), func(p core.Part) bool { return p.Ref == "" })
	v.lost = len(v.row.Parts) < len(d.Parts)
}

func (v *View) options() stream.ConsumerOptions {
	o, mode := v.c.opts, v.mode()
	interval := cmp.Or(o.EditInterval, time.Second)
	if v.c.limits.EditEvery > interval && !o.Limits.Off {
		interval = v.c.limits.EditEvery
	}
	stop := &core.Button{Label: "◼ Stop", Data: "stop:" + string(v.claim.Admission.ID)}
	return stream.ConsumerOptions{Mode: mode, EditInterval: interval, DraftInterval: o.DraftInterval, BufferThreshold: o.BufferThreshold,
		Unlimited: o.Limits.Off, Cursor: o.Cursor, StopButton: stop, StopAfter: stopAfter, ReplyTo: v.route.ReplyTo,
		HideInterim: !o.Interim, Tools: stream.ToolDisplay{Off: o.ToolProgress == "off", Keep: !o.Cleanup}, Turn: v.fence.Turn,
		OnPart: v.record, Go: v.m.spawn, Adopt: v.row.Parts, Log: v.c.log}
}

// mode is how the answer is shown here while it grows.
func (v *View) mode() stream.Mode {
	switch mode := v.c.opts.Mode; {
	case mode == "off":
		return stream.ModeOff
	case mode == "buffer" || !v.c.canEdit(v.route.Chat):
		return stream.ModeBuffer
	case (mode == "draft" || mode == "native") && v.c.canDraft(v.route):
		return stream.ModeDraft
	}
	return stream.ModeEdit
}

// stopAfter is how long an answer must have been there before it gets a Stop button: for one that is done by then the
// button would only cost a call to take it away.
const stopAfter = time.Second

// On shows news of the turn. It never blocks.
func (v *View) On(e core.Event) {
	if v.paint == nil {
		if e.Type == core.MessageDelta && v.route.IsZero() { // its readers see what is published
			v.appeared()
		}
		return
	}
	v.heard.Store(time.Now().UnixNano())
	v.silent.Store(0)
	switch e.Type {
	case core.MessageStart, core.MessageComplete:
		return
	case core.ApprovalRequest, core.ClarifyRequest, core.SudoRequest, core.SecretRequest:
		v.ask(+1)
	case core.QuestionResolved:
		v.ask(-1)
	}
	v.paint.On(e)
}

// appeared counts the first text that a person can see.
func (v *View) appeared() {
	v.visible.Do(func() { v.m.metrics.Shown(time.Since(v.since)) })
}

func (v *View) ask(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asking = max(v.asking+n, 0)
}

// End tells the whole text; its commit is pending. What has no message until now waits for the commit, which is then also
// the record of the attempt; a draft goes on meanwhile.
func (v *View) End(text string) {
	if v.paint == nil {
		return
	}
	owes := v.paint.Owes()
	v.mu.Lock()
	v.held = !owes && v.unseen()
	quiet := v.held && !v.sketch.shown
	v.mu.Unlock()
	if !quiet {
		v.paint.End(text)
	}
}

// unseen reports whether no message was made so far, as far as anybody knows. mu is held.
func (v *View) unseen() bool { return !v.posting && !v.lost && len(v.row.Parts) == 0 }

// Abandon ends the view: nothing more is sent. What was shown stays recorded for whoever goes on.
func (v *View) Abandon() {
	if v.paint != nil {
		v.stop()
	}
}

// stop ends painting and waits for the call that may be under way.
func (v *View) stop() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.m.pulse.remove(v)
	v.paint.Abandon()
	v.paint.Wait()
}

// wantsTyping reports whether it is time to say that an answer is on its way.
func (v *View) wantsTyping(now time.Time) bool {
	if v.c.caps.Typer == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	every := max(v.c.caps.Typer.TypingFor()-time.Second, time.Second)
	if v.closed || v.asking > 0 || !v.unseen() || v.held || v.sketch.shown ||
		now.Sub(v.since) < typingAfter || now.Sub(v.typed) < every || v.c.lacks(v.route.Chat, lackTyping) {
		return false
	}
	v.typed = now
	return true
}

func (v *View) typing(ctx context.Context) {
	v.mu.Lock()
	to := targetOf(v.route)
	v.mu.Unlock()
	if v.c.now(to, forTyping) != nil {
		return
	}
	switch kindOf(v.c.typingNow(ctx, to)) {
	case adapters.Unsupported, adapters.Misuse, adapters.NoTarget, adapters.NoThread:
		v.c.learn(to.Chat, lackTyping)
	}
}
