package deliver

import (
	"context"
	"time"

	"bellhop/adapters"
	"bellhop/stream"
)

// find looks for message i when the platform never said what became of it: where it may be, something of ours that nobody
// knows of and that can be edited is the message, which then shows v and needs no repeat. What is not found is not looked
// for again.
func (w *writer) find(ctx context.Context, i int, v stream.View) (found bool, err error) {
	p := &w.d.Parts[i]
	if p.Ref != "" || p.Mark == "" || !w.c.canEdit(w.to.Chat) {
		return false, nil
	}
	for _, ref := range w.c.near(w.to, p.Mark) {
		err := w.fall(ctx, v, func(m adapters.Outgoing) error {
			if err := w.c.wait(ctx, w.to, w.p, patience); err != nil {
				return err
			}
			return w.c.editNow(ctx, w.to, ref, m)
		})
		switch kindOf(err) {
		case none:
			w.made()
			p.Ref, p.Hash, p.Sent = string(ref), stream.Hash(v), 1
			p.Mark, p.Lost = "", time.Time{}
			return true, nil
		case adapters.Gone:
		case adapters.Unsupported:
			p.Mark = ""
			return false, nil
		default:
			return false, err
		}
	}
	p.Mark = ""
	return false, nil
}
