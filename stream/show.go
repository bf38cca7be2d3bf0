package stream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

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

// report tells which messages there are.
func (p *painter) report() { p.o.OnPart(p.all()) }

func (p *painter) all() []core.Part {
	parts := append(slices.Clone(p.parts[p.base:]), p.junk...)
	if p.status.Ref != "" {
		parts = append(parts, p.status)
	}
	return parts
}
