package deliver

import (
	"context"
	"slices"
	"strings"

	"bellhop/adapters"
	"bellhop/stream"
)

// textParts counts the messages of text; those of media follow them.
func (w *writer) textParts() int {
	for i, p := range w.d.Parts {
		if strings.HasPrefix(p.Hash, mediaHash) {
			return i
		}
	}
	return len(w.d.Parts)
}

// status removes the message that told what tools did, which a turn that was cut off left behind.
func (w *writer) status(ctx context.Context) error {
	for i := len(w.d.Parts) - 1; i >= 0; i-- {
		if w.d.Parts[i].Hash == stream.StatusHash {
			if err := w.remove(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// surplus removes messages of a preview that was longer than what is left to say.
func (w *writer) surplus(ctx context.Context) error {
	want := len(w.chunks())
	for w.textParts() > want {
		if err := w.remove(ctx, w.textParts()-1); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes message i where the platform can, and forgets it. One whose fate is unknown is looked for later (sweep),
// when there is something newer.
func (w *writer) remove(ctx context.Context, i int) error {
	p := w.d.Parts[i]
	if p.Ref == "" && w.c.losses != nil {
		w.c.losses.spare(w.to.Chat, p.Mark)
	}
	if p.Ref != "" && w.c.caps.Deleter != nil && !w.c.lacks(w.to.Chat, lackDelete) {
		if err := w.delete(ctx, adapters.Ref(p.Ref)); err != nil {
			return err
		}
	}
	w.d.Parts = slices.Delete(w.d.Parts, i, i+1)
	return nil
}

// delete deletes a message. One that is gone, or that this peer does not let go, is no error.
func (w *writer) delete(ctx context.Context, ref adapters.Ref) error {
	err := w.c.wait(ctx, w.to, w.p, patience)
	if err == nil {
		err = w.c.deleteNow(ctx, w.to, ref)
	}
	switch kindOf(err) {
	case none, adapters.Gone:
		return nil
	case adapters.Unsupported:
		w.c.learn(w.to.Chat, lackDelete)
		return nil
	}
	return err
}
