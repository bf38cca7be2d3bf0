package deliver

import (
	"context"
	"errors"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/stream"
)

var errNowhere = errors.New("there is no place left to look for a message")

// guess returns a place, other than those that were tried, where a lost message may be, and nobody else's can be. It holds
// until anything is sent to the chat: ask again before each use.
func (c *channel) guess(to adapters.Target, name string, tried map[adapters.Ref]bool) (ref adapters.Ref, ok bool) {
	mark, known := c.losses.markOf(to.Chat, name)
	if !known {
		return "", false
	}
	_, near := c.caps.Tracer.Trace(to, mark)
	if !c.losses.alone(to.Chat, name) { // asked last: what was lost until Trace answered is known by now
		return "", false
	}
	for _, ref := range near {
		if !tried[ref] {
			return ref, true
		}
	}
	return "", false
}

// look edits what may be the lost message with a name until something of ours takes it: that is the message, and shows v.
// No ref: it is nowhere, as far as can be told now.
func (w *writer) look(ctx context.Context, name string, v stream.View) (adapters.Ref, error) {
	tried := map[adapters.Ref]bool{}
	for {
		ref, ok := w.c.guess(w.to, name, tried)
		if !ok {
			return "", nil
		}
		err := w.fall(ctx, v, func(m adapters.Outgoing) error {
			if err := w.c.wait(ctx, w.to, w.p, patience); err != nil {
				return err
			}
			if ref, ok = w.c.guess(w.to, name, tried); !ok {
				return errNowhere
			}
			return w.c.editNow(ctx, w.to, ref, m)
		})
		switch {
		case err == nil:
			w.c.losses.found(w.to.Chat, name)
			return ref, nil
		case errors.Is(err, errNowhere), kindOf(err) == adapters.Unsupported:
			return "", nil
		case kindOf(err) != adapters.Gone:
			return "", err
		}
		tried[ref] = true
	}
}

// find looks for message i when the platform never said what became of it. What is found shows v and needs no repeat.
func (w *writer) find(ctx context.Context, i int, v stream.View) (found bool, err error) {
	p := &w.d.Parts[i]
	if p.Ref != "" || p.Mark == "" || !w.c.canEdit(w.to.Chat) {
		return false, nil
	}
	ref, err := w.look(ctx, p.Mark, v)
	if ref == "" {
		return false, err
	}
	w.made()
	p.Ref, p.Hash, p.Sent, p.Mark, p.Lost = string(ref), stream.Hash(v), 1, "", time.Time{}
	return true, nil
}

// sweep takes away what was lost in a chat and is not needed, or was repeated: now there is something newer, below which
// it is looked for. It comes after the row was stored, and what does not work is left for the next time.
func (m *Mouth) sweep(ctx context.Context, c *channel, r core.Route) {
	if c == nil || c.losses == nil || !c.canEdit(r.Chat) || c.caps.Deleter == nil || c.lacks(r.Chat, lackDelete) {
		return
	}
	w := &writer{m: m, c: c, d: core.Delivery{Route: r}, p: forPreview, to: targetOf(r), made: func() {}}
	for _, o := range c.losses.spares(r.Chat) {
		if err := w.takeAway(ctx, o); err != nil {
			c.log.Debug("a message that may stand twice was not looked for to the end", "target", r.Chat, "err", err)
			return
		}
	}
}

// takeAway removes a loss that can be found, and the mark of the message that repeats it. One that was repeated and is
// nowhere below its repeat does not exist.
func (w *writer) takeAway(ctx context.Context, o loss) error {
	alone := w.c.losses.alone(w.to.Chat, o.name)
	ref, err := w.look(ctx, o.name, stream.View{Text: "…", Final: true}) // only what can be edited is ours to delete
	if err != nil {
		return err
	}
	if ref == "" {
		if alone && o.copied != "" {
			w.c.losses.found(w.to.Chat, o.name)
		}
		return nil
	}
	if err := w.delete(ctx, ref); err != nil || o.copied == "" {
		return err
	}
	return w.edit(ctx, &core.Part{Ref: string(o.copied)}, o.plain)
}
