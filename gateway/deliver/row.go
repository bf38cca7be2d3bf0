package deliver

import (
	"context"
	"slices"
	"strings"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/stream"
)

// repeated stands above a message whose earlier copy may have arrived: the platform never said.
const repeated = "*(repeated: the first copy may have arrived)*\n\n"

const (
	patience    = 5 * time.Second           // longest wait for the budget inside an attempt; a longer one is stored
	ownFor      = callTime + 30*time.Second // how long a row that is being sent belongs to its sender: longer than any call
	maxResplits = 3
)

// writer brings one row of the outbox to its end, or as far as the platform lets it. It belongs to one goroutine.
type writer struct {
	m      *Mouth
	c      *channel
	d      core.Delivery
	p      priority
	to     adapters.Target
	max    int    // size of one message, 0: no limit
	bare   bool   // without buttons: the peer cannot take them
	marked bool   // the stored row says already that its first message is being sent, by this writer
	made   func() // hears of each message that was made

	threadless, moved bool // each fallback once
}

// write makes the platform show d and stores what came of it. marked: the row was born as being sent by this caller. The
// error is of the store; whatever the platform said is in the row.
func (m *Mouth) write(ctx context.Context, d core.Delivery, marked bool) error {
	return m.writeTelling(ctx, d, marked, func() {})
}

// writeTelling is write for who wants to know when a message was made.
func (m *Mouth) writeTelling(ctx context.Context, d core.Delivery, marked bool, made func()) error {
	c := m.channels[d.Route.Platform]
	switch {
	case c == nil:
		w := &writer{m: m, d: d}
		return w.finish(ctx, errUnconnected)
	case d.Kind == core.DeliverPreview:
		return m.leftover(ctx, d)
	}
	w := &writer{m: m, c: c, d: d, p: priorityOf(d.Kind), to: targetOf(d.Route), max: c.limits.Text,
		bare: c.lacks(d.Route.Chat, lackButtons), marked: marked, made: made}
	w.d.Parts = slices.Clone(d.Parts)
	if err := w.finish(ctx, w.all(ctx)); err != nil {
		return err
	}
	if w.d.State == core.DeliveryDelivered {
		m.sweep(ctx, c, w.d.Route)
	}
	return nil
}

func priorityOf(k core.DeliveryKind) priority {
	if k == core.DeliverFinal || k == core.DeliverQuestion {
		return forFinal
	}
	return forNotice
}

// all shows every message of the row in order: those that are there are edited where they differ, the others are made.
func (w *writer) all(ctx context.Context) error {
	if err := w.c.reachable(ctx); err != nil {
		if w.marked { // it was not sent after all
			w.marked, w.d.Parts = false, nil
		}
		return err
	}
	if err := w.status(ctx); err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		err := w.texts(ctx)
		if err == nil {
			break
		}
		if kindOf(err) != adapters.TooLong || tries == maxResplits {
			return err
		}
		w.max = smaller(w.max, w.c.adapter.Size(w.d.Text))
	}
	if err := w.surplus(ctx); err != nil {
		return err
	}
	return w.media(ctx)
}

// smaller is the next size to try when the platform found max too long.
func smaller(max, size int) int {
	if max == 0 || size < max {
		max = size
	}
	return max * 3 / 4
}

func (w *writer) texts(ctx context.Context) error {
	chunks := w.chunks()
	for i, text := range chunks {
		v := stream.View{Text: text, Final: true}
		if i == len(chunks)-1 && !w.bare {
			v.Buttons = w.d.Buttons
		}
		if i == w.textParts() {
			w.d.Parts = slices.Insert(w.d.Parts, i, core.Part{})
		}
		if err := w.part(ctx, i, v); err != nil {
			return err
		}
	}
	return nil
}

// chunks cuts the text; a message that may carry the mark of a repeat leaves room for it.
func (w *writer) chunks() []string {
	if strings.TrimSpace(w.d.Text) == "" {
		return nil
	}
	if w.max == 0 {
		return []string{w.d.Text}
	}
	max := w.max
	for i := range w.d.Parts {
		if w.again(i) {
			max = w.max - w.c.adapter.Size(repeated)
			break
		}
	}
	return stream.Split(w.d.Text, max, w.c.adapter.Size)
}

// again reports whether message i repeats one whose fate is unknown.
func (w *writer) again(i int) bool {
	sent := w.d.Parts[i].Sent
	if w.marked && i == 0 {
		sent--
	}
	return sent > 1 || sent == 1 && w.d.Parts[i].Ref == ""
}

// part makes message i show v.
func (w *writer) part(ctx context.Context, i int, v stream.View) error {
	if found, err := w.find(ctx, i, v); found || err != nil {
		return err
	}
	p := &w.d.Parts[i]
	if w.again(i) {
		v.Text = repeated + v.Text
	}
	if p.Ref == "" {
		return w.create(ctx, i, v)
	}
	if p.Hash == stream.Hash(v) {
		return nil
	}
	err := w.edit(ctx, p, v)
	if err != errAnew {
		return err
	}
	if w.d.Question != "" && w.d.Kind == core.DeliverNotice { // the card was deleted: its end needs no message of its own
		return nil
	}
	*p = core.Part{}
	return w.create(ctx, i, v)
}

func (w *writer) edit(ctx context.Context, p *core.Part, v stream.View) error {
	if !w.c.canEdit(w.to.Chat) {
		return errAnew
	}
	err := w.fall(ctx, v, func(m adapters.Outgoing) error {
		if err := w.c.wait(ctx, w.to, w.p, patience); err != nil {
			return err
		}
		return w.c.editNow(ctx, w.to, adapters.Ref(p.Ref), m)
	})
	switch kindOf(err) {
	case none, adapters.Empty:
		p.Hash = stream.Hash(v)
		return nil
	case adapters.Gone:
		return errAnew
	case adapters.Unsupported:
		w.c.learn(w.to.Chat, lackEdit)
		return errAnew
	}
	return err
}

// early is a *later while it is too soon to repeat message i, whose fate is unknown. When other messages were made since,
// it is sooner.
func (w *writer) early(i int) error {
	p, now := w.d.Parts[i], time.Now()
	if p.Ref != "" || p.Lost.IsZero() {
		return nil
	}
	pause := copyPauses[min(max(p.Sent-1, 0), len(copyPauses)-1)]
	if pause > copyLook && w.c.reach.madeSince(p.Lost) {
		pause = max(pause/copyShorter, copyLook)
	}
	at := p.Lost.Add(pause)
	if !now.Before(at) {
		return nil
	}
	if soon := now.Add(copyLook); soon.Before(at) {
		at = soon
	}
	return &later{At: at}
}

// unsent notes how creating message i failed: it certainly is not there, or nobody knows.
func (w *writer) unsent(i int, lost string, err error) {
	p := &w.d.Parts[i]
	if kindOf(err) != adapters.Ambiguous {
		p.Sent--
		return
	}
	p.Mark = lost
	p.Lost = time.Now().Truncate(time.Millisecond) // as the store keeps times
}

// create makes message i. The attempt is stored before the call, and its id after it by the next write of the row.
func (w *writer) create(ctx context.Context, i int, v stream.View) error {
	if err := w.early(i); err != nil {
		return err
	}
	var ref adapters.Ref
	err := w.fall(ctx, v, func(m adapters.Outgoing) error {
		if i == 0 {
			m.ReplyTo = w.d.Route.ReplyTo
		}
		if !w.marked || i > 0 { // else the call is paid for
			if err := w.c.wait(ctx, w.to, w.p, patience); err != nil {
				return err
			}
		}
		if err := w.mark(ctx, i); err != nil {
			return err
		}
		crash.Point(crash.BeforeSend)
		var lost string
		var err error
		if ref, lost, err = w.c.sendNow(ctx, w.to, m); err != nil {
			w.unsent(i, lost, err)
		}
		return err
	})
	switch kindOf(err) {
	case none:
		crash.Point(crash.AfterSend)
		w.made()
		if name := w.d.Parts[i].Mark; name != "" && w.c.losses != nil {
			w.c.losses.repeat(w.to.Chat, name, ref, unmarked(v))
		}
		w.d.Parts[i] = core.Part{Ref: string(ref), Hash: stream.Hash(v), Sent: w.d.Parts[i].Sent}
		return nil
	case adapters.Empty: // nothing a person could see
		return nil
	}
	return err
}

// unmarked is v without the mark of a repeat.
func unmarked(v stream.View) stream.View {
	v.Text = strings.TrimPrefix(v.Text, repeated)
	return v
}

// mark stores that message i is about to be sent, together with what is known of those before it.
func (w *writer) mark(ctx context.Context, i int) error {
	if w.marked && i == 0 {
		w.marked = false
		return nil
	}
	w.d.Parts[i].Sent++
	w.d.State, w.d.LiveUntil = core.DeliverySending, time.Now().Add(ownFor)
	if err := w.m.save(ctx, w.d); err != nil {
		w.d.Parts[i].Sent--
		return &storeError{err}
	}
	return nil
}

// fall makes one call and goes down the fallbacks that concern the form of a message, each once.
func (w *writer) fall(ctx context.Context, v stream.View, call func(adapters.Outgoing) error) error {
	m := outgoing(v)
	for {
		err := call(m)
		switch k := kindOf(err); {
		case k == adapters.Markup && !m.Plain:
			m.Plain = true
		case k == adapters.NoThread && !w.threadless && w.to.Thread != "":
			w.threadless, w.to.Thread = true, ""
		case k == adapters.Moved && !w.moved && movedTo(err) != "":
			w.moved = true
			if err := w.m.follow(ctx, w.c, &w.d.Route, movedTo(err)); err != nil {
				return &storeError{err}
			}
			w.to.Chat = w.d.Route.Chat
		case k == adapters.Unsupported && len(m.Buttons) > 0:
			w.c.learn(w.to.Chat, lackButtons)
			w.bare, m.Buttons = true, nil
		default:
			return err
		}
	}
}

// outgoing is the platform's form of v.
func outgoing(v stream.View) adapters.Outgoing {
	m := adapters.Outgoing{Text: v.Text, ReplyTo: v.ReplyTo, Live: !v.Final}
	for i, b := range v.Buttons {
		if i == 0 || b.Row != v.Buttons[i-1].Row {
			m.Buttons = append(m.Buttons, nil)
		}
		row := len(m.Buttons) - 1
		m.Buttons[row] = append(m.Buttons[row], adapters.Button{Label: b.Label, Data: b.Data, Style: b.Style})
	}
	return m
}
