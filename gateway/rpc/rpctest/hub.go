package rpctest

import (
	"context"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/stream"
)

// Hub numbers news, keeps all of it, and fans it out in order.
type Hub struct {
	mu        sync.Mutex
	events    map[core.ConversationID][]core.Event
	seq       map[core.ConversationID]int64
	listeners map[core.ConversationID]map[int]stream.Listener
	next      int
}

// NewHub makes an empty Hub.
func NewHub() *Hub {
	return &Hub{events: map[core.ConversationID][]core.Event{}, seq: map[core.ConversationID]int64{},
		listeners: map[core.ConversationID]map[int]stream.Listener{}}
}

// Emit numbers news and tells it.
func (h *Hub) Emit(c core.ConversationID, a core.AdmissionID, t core.TurnID, body core.EventBody) core.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq[c]++
	e := core.Event{Conversation: c, Seq: h.seq[c], Admission: a, Turn: t, EventBody: body, At: time.Now()}
	h.events[c] = append(h.events[c], e)
	for _, l := range h.listeners[c] {
		l.On(e)
	}
	return e
}

// door is the Hub as the server wants it.
type door struct{ *Hub }

func (d door) Emit(_ context.Context, c core.ConversationID, a core.AdmissionID, t core.TurnID, b core.EventBody) {
	d.Hub.Emit(c, a, t, b)
}

func (h *Hub) above(c core.ConversationID) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seq[c] + 1
}

// Attach tells l the news of c from now on.
func (h *Hub) Attach(c core.ConversationID, l stream.Listener) (detach func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listeners[c] == nil {
		h.listeners[c] = map[int]stream.Listener{}
	}
	h.next++
	id := h.next
	h.listeners[c][id] = l
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners[c], id)
	}
}

// Since returns the events after seq.
func (h *Hub) Since(_ context.Context, c core.ConversationID, seq int64) ([]core.Event, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.events[c]
	for i, e := range all {
		if e.Seq > seq {
			return append([]core.Event(nil), all[i:]...), nil
		}
	}
	return nil, nil
}

// Listeners counts who listens to c.
func (h *Hub) Listeners(c core.ConversationID) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners[c])
}
