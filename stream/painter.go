package stream

import (
	"context"
	"slices"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/stream/markup"
)

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
