package stream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/stream/markup"
)

// maxBackoff is the longest pause after previews that failed.
const maxBackoff = 30 * time.Second

// painter knows what is shown and makes it what it should be. It belongs to the holder of the Consumer's token.
type painter struct {
	s Surface
	o ConsumerOptions
	k cutter

	parts []core.Part // messages with text, in order
	base  int         // the first of the block under way

	block  *block // under way
	reset  int    // of the block, as it was painted
	pieces []string
	off    int       // text of the block that pieces cover
	carry  carry     // what the live piece needs
	stop   int       // the part that shows a Stop button, -1
	first  time.Time // of all previews
	late   bool      // the Stop button was due and painted
	size   int       // text that was painted
	shrunk bool      // text was retracted: messages may be left over
	quiet  bool      // no more previews of this block: its message vanished
	prior  prior

	junk []core.Part // messages that must go, and could not yet

	sketch sketch // in the place of the last piece

	status    core.Part
	statusRev int
	noStatus  bool

	seen       int // revision of the script that is painted
	last       time.Time
	lastStatus time.Time
	notBefore  time.Time
	fails      int
	dead       bool
}

// prior is the block before: a final that repeats it is not said again.
type prior struct {
	text string
	base int
}

func newPainter(s Surface, o ConsumerOptions) *painter {
	p := &painter{s: s, o: o, k: newCutter(s.Max(), s.Size), stop: -1, sketch: newSketch(s, o.Mode)}
	if f, ok := s.(Fitter); ok {
		p.k.fits = f.Fits
	}
	for _, part := range o.Adopt {
		switch {
		case part.Ref == "":
		case part.Hash == StatusHash:
			p.junk = append(p.junk, part)
		default:
			p.parts = append(p.parts, part)
		}
	}
	return p
}

// due is when there is something to paint; the zero time when nothing waits. end is when the text ended, if it has.
func (p *painter) due(s *script, t *tools, end time.Time) time.Time {
	at := p.dueText(s, end)
	if st := p.dueStatus(t, !end.IsZero()); at.IsZero() || !st.IsZero() && st.Before(at) {
		at = st
	}
	if !at.IsZero() && at.Before(p.notBefore) {
		at = p.notBefore
	}
	if p.dead {
		return time.Time{}
	}
	return at
}

func (p *painter) dueText(s *script, end time.Time) time.Time {
	if len(s.blocks) == 0 {
		return time.Time{}
	}
	b, now, ended := s.blocks[0], time.Now(), !end.IsZero()
	drafts := p.drafts(b.sealed)
	switch {
	case drafts && (s.rev == p.seen || ended && p.drawn(b)):
		return p.fades(b)
	case drafts && ended:
		return end.Add(endGrace)
	case s.rev == p.seen:
		return p.dueStop(b, ended)
	}
	behind := len(s.blocks) > 1 && s.blocks[1].visible()
	shown := p.block == b && p.size > 0
	switch {
	case p.o.Mode == ModeBuffer && !b.sealed:
		return time.Time{}
	case ended, b.sealed && (behind || !shown || p.sketch.hash != ""):
		return now
	case !b.sealed && (p.quiet && p.block == b || !b.visible() && !shown):
		return time.Time{}
	case !shown, p.o.Unlimited && len(b.text())-p.size >= max(p.o.BufferThreshold, p.size):
		return now // an edit sends the whole text again: once it is long, the interval is soon enough
	case drafts:
		return p.last.Add(p.o.DraftInterval)
	}
	return p.last.Add(p.o.EditInterval)
}

// dueStop is when a text that does not grow any more gets its Stop button: a model that hangs is what one wants to stop.
func (p *painter) dueStop(b *block, ended bool) time.Time {
	shown := p.block == b && p.size > 0 && !b.sealed && !p.quiet
	if p.late || p.o.StopAfter <= 0 || p.o.StopButton == nil || ended || !shown || p.o.Mode == ModeBuffer || p.stop >= 0 {
		return time.Time{}
	}
	return later(p.first.Add(p.o.StopAfter), p.last.Add(p.o.EditInterval))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (p *painter) dueStatus(t *tools, ended bool) time.Time {
	switch {
	case p.noStatus || p.o.Tools.Off:
		return time.Time{}
	case p.status.Ref == "":
		if ended {
			return time.Time{}
		}
		return t.due()
	case ended && (!p.o.Tools.Keep || len(t.lines) == 0):
		return p.lastStatus
	case t.rev == p.statusRev:
		return time.Time{}
	}
	return p.lastStatus.Add(p.o.EditInterval)
}

// paint shows what there is to show now: blocks in order, then the status message.
func (p *painter) paint(ctx context.Context, c *Consumer) {
	for {
		sc := c.scene()
		if sc.over || p.dead {
			return
		}
		again, err := p.text(ctx, c, sc)
		if err == nil && !again {
			p.seen = sc.rev
			err = p.tools(ctx, sc)
		}
		if err != nil {
			p.refused(ctx, err)
			return
		}
		if !again {
			return
		}
	}
}

// text paints the first block. again: it stands for good and the next one can be painted.
func (p *painter) text(ctx context.Context, c *Consumer, sc scene) (again bool, err error) {
	if sc.block == nil || p.o.Mode == ModeBuffer && !sc.sealed {
		return false, nil
	}
	p.enter(sc.block, sc.reset)
	whole := sc.sealed || sc.ended && !sc.more
	if p.quiet && !whole {
		return false, nil
	}
	piece, err := p.full(ctx, c, sc.text)
	if err != nil {
		return false, err
	}
	if err := p.tail(ctx, sc, piece, whole); err != nil {
		return false, err
	}
	p.size = len(sc.text)
	if whole || p.shrunk {
		if err := p.trim(ctx, piece != "" || !whole); err != nil {
			return false, err
		}
	}
	if sc.sealed {
		p.leave(sc.text)
		c.painted(sc.block)
	}
	return sc.sealed, nil
}

// enter begins a block, or begins it again when its text was retracted.
func (p *painter) enter(b *block, reset int) {
	if p.block == b && p.reset == reset {
		return
	}
	p.shrunk = p.block == b
	p.quiet = p.quiet && p.block == b
	p.block, p.reset = b, reset
	p.pieces, p.off, p.carry, p.size = nil, 0, carry{}, 0
}

// leave makes the messages of a block stand for good.
func (p *painter) leave(text string) {
	end := p.base + len(p.pieces)
	if strings.TrimSpace(text[min(p.off, len(text)):]) != "" {
		end++
	}
	for len(p.parts) > end { // it could not be deleted
		p.junk = append(p.junk, core.Part{Ref: p.parts[end].Ref, Hash: StatusHash, Sent: 1})
		p.parts = slices.Delete(p.parts, end, end+1)
	}
	p.prior = prior{strings.TrimSpace(text), p.base}
	p.base = len(p.parts)
	p.block, p.pieces, p.off, p.carry, p.size, p.stop, p.quiet = nil, nil, 0, carry{}, 0, -1, false
	p.report()
}

// full shows the pieces of text that are full, and returns the last one, which is not.
func (p *painter) full(ctx context.Context, c *Consumer, text string) (string, error) {
	for {
		rest := trimmed(text[p.off:])
		if strings.TrimSpace(rest) == "" {
			return "", nil
		}
		piece, n, next := p.k.cut(rest, p.carry)
		if n == len(rest) {
			return trimmed(piece), nil
		}
		if c.scene().over {
			return "", context.Canceled
		}
		if err := p.show(ctx, p.base+len(p.pieces), View{Text: trimmed(piece)}, true); err != nil {
			return "", err
		}
		p.pieces = append(p.pieces, trimmed(piece))
		p.off, p.carry = p.off+n, next
	}
}

func trimmed(s string) string { return strings.TrimRight(s, " \t\r\n") }

// live is the view of a text that goes on: what is open is closed, with a cursor if there is room for it.
func (p *painter) live(rest, piece string) View {
	if !p.carry.inCode {
		rest = rest[blank(rest, p.carry.inLine):]
	}
	cursor, drafts := p.o.Cursor, p.drafts(false)
	if drafts { // the platform shows by itself that a draft grows
		cursor = ""
	}
	v := View{Text: markup.Live(p.carry.prefix+rest, cursor)}
	if p.k.over(v.Text) {
		v.Text = markup.Preview(p.carry.prefix + rest)
	}
	if p.k.over(v.Text) {
		v.Text = piece
	}
	if b := p.o.StopButton; b != nil && (drafts || p.o.StopAfter <= 0 || !p.first.IsZero() && time.Since(p.first) >= p.o.StopAfter) {
		v.Buttons, p.late = []core.Button{*b}, !drafts
	}
	return v
}

// keepStop leaves a Stop button that is there until the answer is committed: taking it away costs a call of its own.
func (p *painter) keepStop(v *View, sc scene) {
	if sc.ended && !sc.sealed && p.stop >= 0 && p.stop == p.base+len(p.pieces) && p.o.StopButton != nil {
		v.Buttons = []core.Button{*p.o.StopButton}
	}
}

// show makes the i-th message look like v: no call when it does already. A message that vanished is not edited again;
// what must be shown takes the next message, or a new one.
func (p *painter) show(ctx context.Context, i int, v View, must bool) error {
	if strings.TrimSpace(v.Text) == "" {
		return nil
	}
	for i < len(p.parts) {
		if p.parts[i].Hash == Hash(v) {
			return nil
		}
		err := p.s.Edit(ctx, p.parts[i].Ref, v)
		if err == nil {
			p.acked(i, v)
			return nil
		}
		if !errors.Is(err, ErrGone) {
			return err
		}
		p.forget(i)
		if p.quiet = true; !must {
			return nil
		}
	}
	if i == 0 {
		v.ReplyTo = p.o.ReplyTo
	}
	ref, err := p.s.Post(ctx, v)
	if err != nil {
		return &postError{err}
	}
	p.parts = append(p.parts, core.Part{Ref: ref, Sent: 1})
	p.sketch.hash = ""
	p.acked(i, v)
	return nil
}

// postError is of a Post: when it has no meaning that we know, nobody can tell whether there is a message now.
type postError struct{ error }

func (e *postError) Unwrap() error { return e.error }

// acked notes what a message shows.
func (p *painter) acked(i int, v View) {
	p.parts[i].Hash = Hash(v)
	p.last, p.fails = time.Now(), 0
	if p.first.IsZero() {
		p.first = p.last
	}
	switch {
	case len(v.Buttons) > 0:
		p.stop = i
	case p.stop == i:
		p.stop = -1
	}
	p.report()
}

func (p *painter) forget(i int) {
	p.parts = slices.Delete(p.parts, i, i+1)
	if p.stop == i {
		p.stop = -1
	}
	p.report()
}

// trim deletes the messages behind the last piece; the live one stays when keep is set. What cannot be deleted is left
// until Finish.
func (p *painter) trim(ctx context.Context, keep bool) error {
	end := p.base + len(p.pieces)
	if keep {
		end++
	}
	for len(p.parts) > end {
		i := len(p.parts) - 1
		err := p.s.Delete(ctx, p.parts[i].Ref)
		if err != nil && !errors.Is(err, ErrGone) {
			if waits(err) && !errors.Is(err, ErrSkip) || errors.Is(err, ErrDead) || ctx.Err() != nil {
				return err
			}
			break
		}
		p.forget(i)
	}
	p.shrunk = false
	return nil
}

// tools paints the status message.
func (p *painter) tools(ctx context.Context, sc scene) error {
	if sc.ended {
		if p.o.Tools.Keep && sc.status != "" {
			return nil
		}
		return p.clearStatus(ctx)
	}
	if sc.status == "" {
		return p.dropStatus(ctx, sc.tools)
	}
	if p.noStatus || p.o.Tools.Off || p.status.Ref != "" && p.statusRev == sc.tools {
		return nil
	}
	v := View{Text: sc.status}
	if b := p.o.StopButton; b != nil {
		v.Buttons = []core.Button{*b}
	}
	if p.status.Ref != "" {
		if time.Since(p.lastStatus) < p.o.EditInterval {
			return nil
		}
		p.statusRev, p.lastStatus = sc.tools, time.Now()
		err := p.s.Edit(ctx, p.status.Ref, v)
		if errors.Is(err, ErrGone) {
			p.status, p.noStatus = core.Part{}, true
			p.report()
			return nil
		}
		return err
	}
	ref, err := p.s.Post(ctx, v)
	if err != nil {
		p.noStatus = !waits(err)
		return err
	}
	p.status = core.Part{Ref: ref, Hash: StatusHash, Sent: 1}
	p.sketch.hash = ""
	p.statusRev, p.lastStatus = sc.tools, time.Now()
	p.report()
	return nil
}

// dropStatus takes the status message away while there is nothing to tell; it may come again.
func (p *painter) dropStatus(ctx context.Context, rev int) error {
	if p.status.Ref == "" || p.noStatus || p.statusRev == rev {
		return nil
	}
	err := p.s.Delete(ctx, p.status.Ref)
	if err != nil && !errors.Is(err, ErrGone) {
		if p.lastStatus = time.Now(); !waits(err) {
			p.statusRev = rev // Finish tries once more
		}
		return err
	}
	p.status, p.statusRev = core.Part{}, rev
	p.report()
	return nil
}

// clearStatus takes the status message away.
func (p *painter) clearStatus(ctx context.Context) error {
	if p.status.Ref == "" {
		return nil
	}
	if err := p.s.Delete(ctx, p.status.Ref); err != nil && !errors.Is(err, ErrGone) {
		p.noStatus = true // Finish tries once more
		return err
	}
	p.status, p.noStatus = core.Part{}, true
	p.report()
	return nil
}

// waits reports whether a refusal says that the same may work later.
func waits(err error) bool {
	var w *Wait
	return errors.As(err, &w) || errors.Is(err, ErrSkip)
}

// report tells which messages there are.
func (p *painter) report() { p.o.OnPart(p.all()) }

func (p *painter) all() []core.Part {
	parts := append(slices.Clone(p.parts[p.base:]), p.junk...)
	if p.status.Ref != "" {
		parts = append(parts, p.status)
	}
	return parts
}

// refused decides when previews go on.
func (p *painter) refused(ctx context.Context, err error) {
	var w *Wait
	var post *postError
	now := time.Now()
	switch {
	case errors.Is(err, ErrDead):
		p.dead = true
	case errors.As(err, &w):
		p.notBefore = w.Until
	case errors.Is(err, ErrSkip):
		p.notBefore = now.Add(p.o.EditInterval)
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
	case errors.Is(err, ErrTooLong) && p.fails < 8:
		p.fails++
		p.k.max -= p.k.max / 8
		p.block = nil // cut it again
	default:
		p.quiet = p.quiet || errors.As(err, &post)
		p.notBefore = now.Add(min(p.o.EditInterval<<min(p.fails, 6), maxBackoff))
		p.fails++
		p.o.Log.Warn("preview failed", "attempt", p.fails, "err", err)
	}
}
