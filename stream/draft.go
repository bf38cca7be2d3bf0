package stream

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Drafter is a Surface that can show a growing message before there is one. A draft replaces the one before it, fades by
// itself after about 30 s, and goes away with the next Post.
type Drafter interface {
	// Draft shows v below the messages. Its errors are those of Post, and ErrNoDraft; after any that does not ask to wait
	// the turn goes on with messages.
	Draft(ctx context.Context, v View) error
}

const (
	// draftFresh is the age at which a draft that still holds is shown once more, long before it fades.
	draftFresh = 20 * time.Second
	// endGrace is how long the end of a text waits for its commit before it is shown as a draft: one more call on its way
	// is what the message after the commit would have to wait for.
	endGrace = 100 * time.Millisecond
)

// sketch is the draft in the place of the message under way.
type sketch struct {
	d    Drafter // nil: none
	hash string  // of what it shows; "": nothing
	at   time.Time
}

func newSketch(s Surface, mode Mode) sketch {
	if mode != ModeDraft {
		return sketch{}
	}
	d, _ := s.(Drafter)
	return sketch{d: d}
}

// tail shows the last piece of a block, the one that is not full: as a draft, where that is how it is shown, or a message.
func (p *painter) tail(ctx context.Context, sc scene, piece string, whole bool) error {
	if p.drafts(sc.sealed) {
		if err := p.draw(ctx, p.view(sc, piece, whole)); err != errPlain {
			return err
		}
	}
	return p.show(ctx, p.base+len(p.pieces), p.view(sc, piece, whole), whole)
}

// view is how the last piece looks now.
func (p *painter) view(sc scene, piece string, whole bool) View {
	if !whole {
		return p.live(trimmed(sc.text[p.off:]), piece)
	}
	v := View{Text: piece}
	p.keepStop(&v, sc)
	return v
}

// drafts reports whether what is under way is shown as a draft: there is no message for it, and it may still change.
func (p *painter) drafts(sealed bool) bool {
	return p.sketch.d != nil && !sealed && p.base+len(p.pieces) >= len(p.parts)
}

// fades is when a draft that still holds must be shown once more; the zero time when there is none.
func (p *painter) fades(b *block) time.Time {
	if p.sketch.hash == "" || p.quiet || p.block != b || !p.drafts(b.sealed) || !b.visible() {
		return time.Time{}
	}
	return p.sketch.at.Add(draftFresh)
}

// drawn reports whether the draft shows all of b.
func (p *painter) drawn(b *block) bool {
	return p.sketch.hash != "" && p.block == b && p.reset == b.reset && p.size == len(b.text())
}

// errPlain says that drafts are over: the same text must be shown as a message.
var errPlain = errors.New("stream: drafts are over")

// draw shows v as a draft: no call while it is there and fresh. A place without drafts, or where they fail for good, gets
// messages from now on.
func (p *painter) draw(ctx context.Context, v View) error {
	hash := Hash(v)
	if strings.TrimSpace(v.Text) == "" {
		p.sketch.hash = "" // what is there is not this text, and may fade
		return nil
	}
	if p.sketch.hash == hash && time.Since(p.sketch.at) < draftFresh {
		return nil
	}
	err := p.sketch.d.Draft(ctx, v)
	switch {
	case err == nil:
		p.sketch.hash, p.sketch.at = hash, time.Now()
		p.last, p.fails = p.sketch.at, 0
		if p.first.IsZero() {
			p.first = p.last
		}
		return nil
	case waits(err), errors.Is(err, ErrDead), errors.Is(err, ErrTooLong), ctx.Err() != nil:
		return err
	case !errors.Is(err, ErrNoDraft):
		p.o.Log.Warn("drafts failed: the answer is shown as a message", "err", err)
	}
	p.sketch = sketch{}
	return errPlain
}
