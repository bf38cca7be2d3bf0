package stream

import (
	"context"
	"errors"
	"iter"
	"slices"

	"bellhop/core"
)

// sincePage is how many rows are read at once.
const sincePage = 1000

// Since returns the events after number seq that can still be had, in order, without doubles: stored rows and what the
// ring holds. Text whose deltas fell out of the ring comes as one message.reset. The error is the store's.
func (h *Hub) Since(ctx context.Context, c core.ConversationID, seq int64) ([]core.Event, error) {
	r := h.enter(c)
	defer h.leave(r)
	live, told := h.recent(r, seq)
	rows, err := h.rows(ctx, c, seq)
	if err != nil {
		return nil, err
	}
	all := append(live, rows...)
	all = slices.DeleteFunc(all, func(e core.Event) bool { return !told(e.Seq) })
	slices.SortStableFunc(all, func(a, b core.Event) int { return int(a.Seq - b.Seq) })
	return slices.CompactFunc(all, func(a, b core.Event) bool { return a.Seq == b.Seq }), nil
}

// recent returns what is in memory, and a test that is false for news that the listeners will still be told. It is taken
// before the rows are read: what leaves memory meanwhile is found there.
func (h *Hub) recent(r *room, seq int64) (es []core.Event, told func(int64) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &r.text
	reset := t.lost > seq
	for e := range r.ring.all() {
		text := e.Type == core.MessageDelta || e.Type == core.MessageReset
		if e.Seq <= seq || reset && text && e.Seq >= t.first {
			continue
		}
		es = append(es, e)
	}
	if reset {
		es = append(es, t.event(r.id))
	}
	es = append(es, h.rec.waiting(r.id, seq)...)
	top, first, end := r.top, r.first, r.end
	return es, func(n int64) bool { return n <= top || n < first || n >= end }
}

// event is all of the open text as one reset.
func (o *open) event(c core.ConversationID) core.Event {
	return core.Event{Conversation: c, Seq: o.last, Admission: o.admission, Turn: o.turn, At: o.at,
		EventBody: core.EventBody{Type: core.MessageReset, Text: o.b.String()}}
}

func (h *Hub) rows(ctx context.Context, c core.ConversationID, seq int64) (all []core.Event, err error) {
	for {
		page, err := h.log.Since(ctx, c, seq, sincePage)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < sincePage {
			return all, nil
		}
		seq = page[len(page)-1].Seq
	}
}

// Follow yields the events after number seq, stored and live ones, each once and in order, until ctx ends or the reader
// stops. It reads at its own pace: a reader that falls behind catches up from what is kept. An error of the store is
// yielded and ends it; the end of ctx is not an error.
func (h *Hub) Follow(ctx context.Context, c core.ConversationID, seq int64) iter.Seq2[core.Event, error] {
	return func(yield func(core.Event, error) bool) {
		sub := NewSubscription(h.o.Ring)
		defer h.Attach(c, sub)()
		for behind := true; ; {
			if behind {
				missed, err := h.Since(ctx, c, seq)
				if err != nil {
					if ctx.Err() == nil {
						yield(core.Event{}, err)
					}
					return
				}
				for _, e := range missed {
					seq = e.Seq
					if !yield(e, nil) {
						return
					}
				}
			}
			e, err := sub.Next(ctx)
			if behind = errors.Is(err, ErrLagged); behind || err == nil && e.Seq > 0 && e.Seq <= seq {
				continue
			}
			if err != nil {
				return
			}
			seq = max(seq, e.Seq)
			if !yield(e, nil) {
				return
			}
		}
	}
}
