package deliver

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/stream"

	"github.com/oklog/ulid/v2"
)

// liveFor is how long after its commit a final belongs to the view that was showing it.
const liveFor = 30 * time.Second

// View is the live message of one turn. On, End, Final, Settled and Abandon are called by the one drain that runs the
// turn; painting happens beside it in a goroutine of Mouth.Run.
//
//	open --first visible text--> shown --End--> ended --Final, commit, Settled--> closed
//	  |                            |
//	  +--End: held, nothing is sent before the commit        Abandon: closed at any time
//
// A view whose turn has nowhere to speak is mute: it takes everything and does nothing.
type View struct {
	m     *Mouth
	c     *channel // nil: the platform is not connected; the row is written all the same
	claim core.Claim
	fence core.Fence
	paint *stream.Consumer

	begun   sync.Once
	painted chan struct{} // closed when painting has ended; nil while it has not begun

	mu      sync.Mutex
	route   core.Route
	row     core.Delivery // of the live message; it has no id until something is shown
	posting bool          // a message is being made
	lost    bool          // the fate of one is unknown: no more previews, and the final says that it may be a repeat
	held    bool          // the text ended before anything was shown: Settled shows it
	marked  bool          // the final's row is born as being sent, and the call is paid for
	closed  bool
	asking  int
	since   time.Time
	typed   time.Time
	first   time.Time // when something was shown first

	// What the message that was changed last looks like: without the buttons that it was too young for.
	seenRef, seenHash string

	checked time.Time       // when the fence was last known to hold
	plain   bool            // the platform refused the markup of a preview
	under   context.Context // of the last post, without its end: what it made is recorded under it
}

// Open makes the live message of a turn that was just claimed.
func (m *Mouth) Open(ctx context.Context, claim core.Claim, f core.Fence) *View {
	m.pulse.begins(claim.Admission.Conversation, claim.Queued)
	now := time.Now()
	v := &View{m: m, claim: claim, fence: f, route: claim.Admission.Submission.Route, since: now, checked: now}
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
	o := v.c.opts
	mode := stream.Mode(o.Mode)
	switch {
	case !v.c.canEdit(v.route.Chat) && mode != stream.ModeOff:
		mode = stream.ModeBuffer
	case mode != stream.ModeOff && mode != stream.ModeBuffer:
		mode = stream.ModeEdit
	}
	interval := cmp.Or(o.EditInterval, time.Second)
	if v.c.limits.EditEvery > interval && !o.Limits.Off {
		interval = v.c.limits.EditEvery
	}
	stop := &core.Button{Label: "◼ Stop", Data: "stop:" + string(v.claim.Admission.ID)}
	return stream.ConsumerOptions{Mode: mode, EditInterval: interval, BufferThreshold: o.BufferThreshold,
		Unlimited: o.Limits.Off, Cursor: o.Cursor, StopButton: stop, ReplyTo: v.route.ReplyTo, HideInterim: !o.Interim,
		Tools: stream.ToolDisplay{Off: o.ToolProgress == "off", Keep: !o.Cleanup}, Turn: v.fence.Turn,
		OnPart: v.record, Adopt: v.row.Parts, Log: v.c.log}
}

// On shows news of the turn. It never blocks.
func (v *View) On(e core.Event) {
	if v.paint == nil {
		return
	}
	switch e.Type {
	case core.MessageStart, core.MessageComplete:
		return
	case core.ApprovalRequest, core.ClarifyRequest, core.SudoRequest, core.SecretRequest:
		v.ask(+1)
	case core.QuestionResolved:
		v.ask(-1)
	}
	v.begin()
	v.paint.On(e)
}

func (v *View) ask(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asking = max(v.asking+n, 0)
}

// begin starts painting with the first news.
func (v *View) begin() {
	v.begun.Do(func() {
		done := make(chan struct{})
		ok := v.m.spawn(func(ctx context.Context) {
			defer close(done)
			if err := v.paint.Run(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, stream.ErrDead) {
				v.c.log.Warn("a live message could not be shown", "turn", v.fence.Turn, "err", err)
			}
		})
		if ok {
			v.painted = done
		}
	})
}

// End tells the whole text; its commit is pending. What was not shown at all until now waits for the commit, which is then
// also the record of the attempt.
func (v *View) End(text string) {
	if v.paint == nil {
		return
	}
	v.mu.Lock()
	v.held = v.unseen()
	held := v.held
	v.mu.Unlock()
	if !held {
		v.paint.End(text)
	}
}

// unseen reports whether no message was made so far, as far as anybody knows. mu is held.
func (v *View) unseen() bool { return !v.posting && !v.lost && len(v.row.Parts) == 0 }

// Final returns the outbox row to settle the turn with. false: nothing is owed.
func (v *View) Final(o core.Outcome) (core.Delivery, bool) {
	if v.route.IsZero() {
		return core.Delivery{}, false
	}
	if o.Result == core.Failed && v.claim.Admission.Submission.Display["author"] == "bot" {
		return core.Delivery{}, false // bots are not told of failures: they would answer
	}
	v.mu.Lock()
	shown := !v.unseen()
	v.mu.Unlock()
	text := o.Text
	if shown && o.Result != core.Completed {
		text = v.paint.Stands(o.Text) // what was seen is not overwritten
	}
	text, media := stream.Extract(text)
	if text == "" && len(media) == 0 && !shown {
		return core.Delivery{}, false
	}
	return v.final(text, media), true
}

// final makes the row: the live message's own, if it has one. When nothing was shown and the call can be made right after
// the commit, the row is born as being sent, so that the commit is the record of the attempt too.
func (v *View) final(text string, media []core.Media) core.Delivery {
	v.mu.Lock()
	defer v.mu.Unlock()
	a, now := v.claim.Admission, time.Now()
	v.row.LiveUntil = now.Add(liveFor)
	d := core.Delivery{ID: v.row.ID, Conversation: a.Conversation, Admission: a.ID, Turn: v.fence.Turn,
		Kind: core.DeliverFinal, State: core.DeliveryLive, Route: v.route, Text: text, Media: media, Parts: v.parts(),
		LiveUntil: v.row.LiveUntil, Created: now}
	if d.ID == "" {
		d.ID = core.DeliveryID(ulid.Make().String())
	}
	if v.c == nil {
		return d
	}
	v.held = v.unseen()
	if v.held && text != "" && v.c.now(targetOf(v.route), forFinal) == nil {
		v.marked = true
		d.State, d.Parts = core.DeliverySending, []core.Part{{Sent: 1}}
	}
	return d
}

// Settled finishes the message after the commit and marks the row. What the platform does not take now is left to the
// outbox. The error is of the store.
func (v *View) Settled(ctx context.Context, d core.Delivery) error {
	if v.paint == nil {
		return v.m.write(ctx, d, false)
	}
	v.mu.Lock()
	held, marked, unsure := v.held, v.marked, v.lost
	v.mu.Unlock()
	if held || unsure {
		v.stop()
		return v.hand(ctx, d, marked)
	}
	parts, err := v.paint.Finish(ctx, d.Text)
	v.stop()
	v.mu.Lock()
	v.row.Parts = parts
	v.mu.Unlock()
	return v.close(ctx, d, err)
}

// close records what Finish did, or goes on where it could not.
func (v *View) close(ctx context.Context, d core.Delivery, err error) error {
	var wait *stream.Wait
	switch {
	case err == nil && len(d.Media) == 0:
		d.State, d.Done = core.DeliveryDelivered, time.Now()
	case errors.As(err, &wait):
		d.State, d.NotBefore = core.DeliveryOwed, wait.Until
	case kindOf(err) == adapters.Ambiguous || kindOf(err) == adapters.Temporary:
		d.State, d.NotBefore, d.Error = core.DeliveryOwed, time.Now().Add(firstPause), err.Error()
	default:
		return v.hand(ctx, d, false)
	}
	v.mu.Lock()
	d.Route, d.Parts, d.LiveUntil = v.route, v.parts(), time.Time{}
	v.mu.Unlock()
	if err := v.m.save(ctx, v.rows(d)...); err != nil {
		return err
	}
	if d.State == core.DeliveryDelivered {
		crash.Point(crash.AfterDelivered)
	}
	return nil
}

// hand goes on as the outbox does, with every fallback.
func (v *View) hand(ctx context.Context, d core.Delivery, marked bool) error {
	v.mu.Lock()
	d.Route = v.route
	if !marked {
		d.Parts = v.parts()
	}
	v.mu.Unlock()
	if rows := v.rows(d); len(rows) > 1 {
		if err := v.m.save(ctx, rows[1]); err != nil {
			return err
		}
	}
	return v.m.write(ctx, d, marked)
}

// rows are d and, when the turn was settled with a row of its own, that of the live message, which is then over.
func (v *View) rows(d core.Delivery) []core.Delivery {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.row.ID == "" || v.row.ID == d.ID {
		return []core.Delivery{d}
	}
	over := v.row
	over.State, over.Done, over.LiveUntil = core.DeliveryMoved, time.Now(), time.Time{}
	return []core.Delivery{d, over}
}

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
	v.begun.Do(func() {})
	if v.painted != nil {
		<-v.painted
	}
}

// wantsTyping reports whether it is time to say that an answer is on its way.
func (v *View) wantsTyping(now time.Time) bool {
	if v.c.caps.Typer == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	every := max(v.c.caps.Typer.TypingFor()-time.Second, time.Second)
	if v.closed || v.asking > 0 || !v.unseen() || v.held ||
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
	if err := v.c.typingNow(ctx, to); err != nil && kindOf(err) != "limited" {
		v.c.learn(to.Chat, lackTyping)
	}
}
