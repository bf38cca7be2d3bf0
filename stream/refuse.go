package stream

import (
	"context"
	"errors"
	"time"
)

// maxBackoff is the longest pause after previews that failed.
const maxBackoff = 30 * time.Second

// waits reports whether a refusal says that the same may work later.
func waits(err error) bool {
	var w *Wait
	return errors.As(err, &w) || errors.Is(err, ErrSkip)
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
