package rpc

import (
	"context"
	"sync"

	"bellhop/core"
)

// maxReplies is how many replies may wait for a client before it is not read any more.
const maxReplies = 64

// maxBytes bounds the text of the events that wait for one client.
const maxBytes = 4 << 20

// outbox is what waits to be written to one client. Its replies overtake its events; the room for events is bounded.
type outbox struct {
	room int

	mu      sync.Mutex
	replies [][]byte
	events  []item
	bytes   int
	done    bool          // nothing more will come
	ready   chan struct{} // something may be there to write
	drained chan struct{} // a reply was taken
}

// item is one event that waits, or the news that some were dropped.
type item struct {
	event core.Event
	lag   bool // event.Seq is the last number that was queued
}

func newOutbox(room int) *outbox {
	return &outbox{room: room, ready: make(chan struct{}, 1), drained: make(chan struct{}, 1)}
}

// reply queues a reply. It never refuses: the reader stops reading before they become many.
func (o *outbox) reply(frame []byte) {
	o.mu.Lock()
	o.replies = append(o.replies, frame)
	o.mu.Unlock()
	signal(o.ready)
}

// crowded waits until few enough replies wait, or ctx ends.
func (o *outbox) crowded(ctx context.Context) {
	for {
		o.mu.Lock()
		n := len(o.replies)
		o.mu.Unlock()
		if n < maxReplies {
			return
		}
		select {
		case <-o.drained:
		case <-ctx.Done():
			return
		}
	}
}

// push queues an event and reports whether there was room.
func (o *outbox) push(e core.Event) bool {
	size := weight(e)
	o.mu.Lock()
	ok := len(o.events) < o.room && o.bytes+size <= maxBytes
	if ok {
		o.events = append(o.events, item{event: e})
		o.bytes += size
	}
	o.mu.Unlock()
	signal(o.ready)
	return ok
}

// forget drops what waits of a session and can be asked for again, and returns the lowest number among it; 0: nothing
// waited.
func (o *outbox) forget(c core.ConversationID) (lowest int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.events[:0:0]
	for _, it := range o.events {
		if it.event.Conversation != c || it.event.Seq == 0 && !it.lag {
			kept = append(kept, it)
			continue
		}
		o.bytes -= weight(it.event)
		if n := it.event.Seq; !it.lag && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	o.events = kept
	return lowest
}

// tell queues the news that events of a session after seq were dropped. There is at most one for each open session.
func (o *outbox) tell(c core.ConversationID, seq int64) {
	o.mu.Lock()
	o.events = append(o.events, item{event: core.Event{Conversation: c, Seq: seq}, lag: true})
	o.mu.Unlock()
	signal(o.ready)
}

// finish says that nothing more will come.
func (o *outbox) finish() {
	o.mu.Lock()
	o.done = true
	o.mu.Unlock()
	signal(o.ready)
}

func (o *outbox) finished() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.done
}

// next returns a reply, or else the oldest event; it waits for one. The error is of ctx, or errGone when the outbox is
// finished and empty.
func (o *outbox) next(ctx context.Context) (reply []byte, it item, err error) {
	for {
		if reply, it, ok := o.take(); ok {
			return reply, it, nil
		}
		if o.finished() {
			return nil, item{}, errGone
		}
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil, item{}, context.Cause(ctx)
		}
	}
}

func (o *outbox) take() (reply []byte, it item, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.replies) > 0:
		reply, o.replies[0] = o.replies[0], nil
		o.replies = o.replies[1:]
		signal(o.drained)
	case len(o.events) > 0:
		it, o.events[0] = o.events[0], item{}
		o.events = o.events[1:]
		o.bytes -= weight(it.event)
	default:
		return nil, item{}, false
	}
	return reply, it, true
}

func weight(e core.Event) int { return len(e.Text) + len(e.Detail) + len(e.Diff) + len(e.Warning) }

// signal leaves a token in a channel of room for one.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
