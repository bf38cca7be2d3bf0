package stream

import (
	"context"
	"errors"
	"strings"
	"time"

	"bellhop/core"
)

// skipMax is how often a final may be refused with ErrSkip, which is meant for previews.
const skipMax = 5

// Finish makes what is visible equal to final, without cursor, Stop and status message, and returns the messages that
// show it. No call is made where nothing needs to change. It works with and without Go, and after a restart with what is
// adopted. MEDIA: lines of final are left out; see Extract.
//
// It waits for what the Surface asks to wait for, if ctx allows; else *Wait comes back, and Finish of another Consumer that
// adopts the returned parts goes on. Every part has its own result: one that fails does not stop those behind it, and the
// error joins all failures. ErrDead and the end of ctx stop at once. After Abandon nothing is done; the error is ErrAbandoned.
func (c *Consumer) Finish(ctx context.Context, final string) ([]core.Part, error) {
	c.mu.Lock()
	if c.phase == over {
		c.mu.Unlock()
		return nil, ErrAbandoned
	}
	c.phase = finishing
	c.stir()
	c.tools.endWait()
	status := c.tools.text() // no event changes it any more
	c.mu.Unlock()
	if !c.acquire(ctx) {
		return nil, ctx.Err()
	}
	defer c.release()
	f := finisher{painter: c.p, over: c.over, did: status}
	return f.finish(ctx, c.script.blocks, final) // no event changes them any more
}

func (c *Consumer) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase == over
}

// finisher is the painter when every call counts.
type finisher struct {
	*painter
	over func() bool
	did  string // what tools did
	errs []error
	stop error // nothing more can be said

	tooLong bool // the last call said so
}

func (f *finisher) finish(ctx context.Context, blocks []*block, final string) ([]core.Part, error) {
	if f.dead {
		return f.all(), ErrDead
	}
	if f.o.Mode != ModeOff {
		f.interim(ctx, blocks)
	}
	text, _ := Extract(final)
	f.repeat(text)
	f.answer(ctx, text)
	f.rest(ctx, f.base+len(f.pieces))
	f.sweep(ctx)
	f.endStatus(ctx)
	return f.all(), errors.Join(append(f.errs, f.stop)...)
}

// answer shows all of text. A message that the platform finds too long makes all of it be cut shorter.
func (f *finisher) answer(ctx context.Context, text string) {
	for try := 0; ; try++ {
		f.tooLong = false
		failed := len(f.errs)
		for i, v := range f.views(text) {
			if f.place(ctx, f.base+i, v); f.tooLong && try < 8 {
				break
			}
		}
		if !f.tooLong || try == 8 {
			return
		}
		f.k.max -= f.k.max / 8
		f.errs, f.block, f.pieces = f.errs[:failed], nil, nil
	}
}

// interim shows the blocks before the last for good, if there was no time for it.
func (f *finisher) interim(ctx context.Context, blocks []*block) {
	for _, b := range blocks {
		if !b.sealed {
			return
		}
		f.enter(b, b.reset)
		text, _ := Extract(b.text())
		f.answer(ctx, text)
		f.rest(ctx, f.base+len(f.pieces))
		f.off = len(text)
		f.leave(text)
	}
}

// repeat takes back the block before when the final says the same and nothing was shown since.
func (f *finisher) repeat(text string) {
	if len(f.parts) == f.base && f.prior.text != "" && f.prior.text == strings.TrimSpace(text) {
		f.base = f.prior.base
	}
}

// views cuts text into messages. Where it only goes on from what was painted, the cuts stay where they are.
func (f *finisher) views(text string) []View {
	goesOn := f.block != nil && f.block.reset == f.reset && f.off <= len(text) && text[:f.off] == f.block.text()[:f.off]
	if !goesOn {
		f.pieces, f.off, f.carry = nil, 0, carry{}
	}
	f.pieces = append(f.pieces, f.k.all(text[f.off:], f.carry)...)
	views := make([]View, 0, len(f.pieces))
	for _, p := range f.pieces {
		views = append(views, View{Text: trimmed(p), Final: true})
	}
	return views
}

// place makes the i-th message show v. The next message, or a new one, takes the place of one that cannot be edited, which
// is deleted: order is kept, and nothing is shown twice.
func (f *finisher) place(ctx context.Context, i int, v View) {
	for i < len(f.parts) {
		if f.parts[i].Ref == "" { // an attempt that failed
			f.forget(i)
			continue
		}
		if f.parts[i].Hash == Hash(v) {
			return
		}
		ref := f.parts[i].Ref
		err := f.call(ctx, skipMax, func() error { return f.s.Edit(ctx, ref, v) })
		if err == nil {
			f.acked(i, v)
			return
		}
		if f.stop != nil || f.tooLong {
			return
		}
		if !errors.Is(err, ErrGone) {
			f.o.Log.Warn("edit of an answer failed: it is sent again", "err", err)
			f.junk = append(f.junk, core.Part{Ref: ref, Hash: StatusHash, Sent: 1})
		}
		f.forget(i)
	}
	f.post(ctx, i, v)
}

// post sends a new message. It is noted before, so that a crash in between is known of.
func (f *finisher) post(ctx context.Context, i int, v View) {
	if f.stop != nil {
		return
	}
	if i == 0 {
		v.ReplyTo = f.o.ReplyTo
	}
	f.parts = append(f.parts, core.Part{Sent: 1})
	f.report()
	err := f.call(ctx, skipMax, func() (err error) {
		f.parts[i].Ref, err = f.s.Post(ctx, v)
		return err
	})
	if err == nil {
		f.acked(i, v)
		return
	}
	if f.tooLong { // it was refused: there is no message
		f.parts = f.parts[:i]
	} else if waits(err) || errors.Is(err, ErrDead) {
		f.parts[i].Sent = 0
	}
	if f.stop == nil {
		f.errs = append(f.errs, err)
	}
	f.report()
}

// rest deletes the messages behind the answer.
func (f *finisher) rest(ctx context.Context, end int) {
	for i := len(f.parts) - 1; i >= end && f.stop == nil; i-- {
		ref := f.parts[i].Ref
		if ref == "" {
			f.forget(i)
			continue
		}
		err := f.call(ctx, 0, func() error { return f.s.Delete(ctx, ref) })
		if err == nil || errors.Is(err, ErrGone) {
			f.forget(i)
		} else if f.stop == nil {
			f.errs = append(f.errs, err)
		}
	}
}

// sweep deletes what is no part of the answer.
func (f *finisher) sweep(ctx context.Context) {
	var left []core.Part
	for _, part := range f.junk {
		err := f.call(ctx, 0, func() error { return f.s.Delete(ctx, part.Ref) })
		if err != nil && !errors.Is(err, ErrGone) {
			left = append(left, part)
			if f.stop == nil {
				f.errs = append(f.errs, err)
			}
		}
	}
	f.junk = left
}

// endStatus deletes the status message, also a kept one that has nothing to tell. Where it is kept, or cannot be deleted, it loses its Stop button.
func (f *finisher) endStatus(ctx context.Context) {
	if f.status.Ref == "" {
		return
	}
	if !f.o.Tools.Keep || f.did == "" {
		err := f.call(ctx, 0, func() error { return f.clearStatus(ctx) })
		if err != nil && f.stop == nil && !errors.Is(err, ErrSkip) {
			f.errs = append(f.errs, err)
		}
		if !errors.Is(err, ErrSkip) {
			return
		}
	}
	if f.o.StopButton != nil {
		v := View{Text: f.did, Final: true}
		f.call(ctx, 0, func() error { return f.s.Edit(ctx, f.status.Ref, v) }) // cosmetic: a failure changes nothing
	}
}

// call makes one call as often as waiting helps, and again up to skips times after ErrSkip. f.stop is set when nothing
// more can be said.
func (f *finisher) call(ctx context.Context, skips int, do func() error) error {
	for skipped := 0; f.stop == nil; {
		if f.over() {
			f.stop = ErrAbandoned
			break
		}
		err := do()
		f.tooLong = errors.Is(err, ErrTooLong)
		var w *Wait
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrDead), ctx.Err() != nil:
			f.stop = err
		case errors.As(err, &w):
			if !sleep(ctx, w.Until) {
				f.stop = err
			}
		case errors.Is(err, ErrSkip) && skipped < skips:
			skipped++
			sleep(ctx, time.Now().Add(f.o.EditInterval))
		default:
			return err
		}
	}
	return f.stop
}

// sleep waits until t. It reports false, at once, when ctx will not last.
func sleep(ctx context.Context, t time.Time) bool {
	if end, ok := ctx.Deadline(); ok && end.Before(t) {
		return false
	}
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
