package stream

import (
	"container/list"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bellhop/core"
)

// Listener is told news. On never blocks, and is called in order within a conversation.
type Listener interface{ On(e core.Event) }

// HubOptions bound a Hub; zero fields take the defaults.
type HubOptions struct {
	Ring          int // events kept per conversation; default 256
	Conversations int // idle conversations kept; default 1024
	Log           *slog.Logger
}

// Hub numbers events, keeps the newest of each conversation, and fans them out. Safe for concurrent use.
type Hub struct {
	log core.Events
	o   HubOptions
	rec *recorder
	all atomic.Pointer[[]*watch] // copied on write, under mu

	mu    sync.Mutex
	rooms map[core.ConversationID]*list.Element // of *room
	idle  *list.List                            // most recently used first
}

// watch gives a Listener an identity of its own: one may be attached twice.
type watch struct{ Listener }

// NewHub makes a hub over the event log. Run must be called for durable events to be recorded.
func NewHub(log core.Events, o HubOptions) *Hub {
	if o.Ring <= 0 {
		o.Ring = 256
	}
	if o.Conversations <= 0 {
		o.Conversations = 1024
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{log: log, o: o, rec: newRecorder(log, o.Log), rooms: map[core.ConversationID]*list.Element{}, idle: list.New()}
	h.all.Store(&[]*watch{})
	return h
}

// enter returns the conversation's room and pins it; leave must follow.
func (h *Hub) enter(c core.ConversationID) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.rooms[c]
	if !ok {
		h.evict()
		e = h.idle.PushFront(newRoom(c, h.o.Ring))
		h.rooms[c] = e
	}
	h.idle.MoveToFront(e)
	r := e.Value.(*room)
	r.pins++
	return r
}

func (h *Hub) leave(r *room) {
	h.mu.Lock()
	r.pins--
	h.mu.Unlock()
}

// evict makes room for one more by forgetting the conversation that was quiet longest. Those that are watched or have
// something under way stay, even above the cap. Call with mu held.
func (h *Hub) evict() {
	for e := h.idle.Back(); e != nil && len(h.rooms) >= h.o.Conversations; {
		r, prev := e.Value.(*room), e.Prev()
		if r.pins == 0 && r.quiet() {
			h.idle.Remove(e)
			delete(h.rooms, r.id)
		}
		e = prev
	}
}

// Open hands the hub a turn's block of core.EventBlock numbers, reserved by its claim, and fans out the news that was
// stored with the claim: it has the first numbers of the block.
func (h *Hub) Open(c core.ConversationID, base int64, news ...core.Event) {
	r := h.enter(c)
	defer h.leave(r)
	r.mu.Lock()
	r.block(base)
	if r.next == base {
		r.next += int64(len(news))
	}
	for i := range news {
		r.put(&news[i])
	}
	r.mu.Unlock()
	h.drain(r)
}

// Number gives a number to news that somebody else's transaction stores. Publish or Drop must follow: news with higher
// numbers waits for it, up to five seconds. The error is of reserving numbers; there is no event then.
func (h *Hub) Number(ctx context.Context, c core.ConversationID, a core.AdmissionID, t core.TurnID, b core.EventBody) (core.Event, error) {
	r := h.enter(c)
	defer h.leave(r)
	e := core.Event{Conversation: c, Admission: a, Turn: t, EventBody: b, At: time.Now()}
	err := h.numbered(ctx, r, func(seq int64) {
		e.Seq = seq
		r.holds = append(r.holds, hold{seq, e.At})
	})
	return e, err
}

// Publish fans out a numbered event that is already stored, or not durable.
func (h *Hub) Publish(e core.Event) {
	r := h.enter(e.Conversation)
	defer h.leave(r)
	r.mu.Lock()
	r.free(e.Seq)
	r.put(&e)
	r.mu.Unlock()
	h.drain(r)
}

// Drop gives up a number: its event was not stored and will not be published.
func (h *Hub) Drop(e core.Event) {
	r := h.enter(e.Conversation)
	defer h.leave(r)
	r.mu.Lock()
	r.free(e.Seq)
	r.mu.Unlock()
	h.drain(r)
}

// Emit numbers news and fans it out; durable types are also recorded, in order, by Run. When no number can be had the
// news still reaches those who watch now, with Seq 0, and is lost for everybody else.
func (h *Hub) Emit(ctx context.Context, c core.ConversationID, a core.AdmissionID, t core.TurnID, b core.EventBody) {
	r := h.enter(c)
	defer h.leave(r)
	e := core.Event{Conversation: c, Admission: a, Turn: t, EventBody: b, At: time.Now()}
	err := h.numbered(ctx, r, func(seq int64) {
		e.Seq = seq
		r.put(&e)
		if b.Type.Durable() {
			h.rec.add(e)
		}
	})
	if err != nil {
		h.o.Log.Warn("news of the type "+string(b.Type)+" has no number", "session", c, "err", err)
		r.mu.Lock()
		r.put(&e)
		r.mu.Unlock()
	}
	h.drain(r)
}

// numbered calls use, with the room locked, with the next number.
func (h *Hub) numbered(ctx context.Context, r *room, use func(seq int64)) error {
	for {
		r.mu.Lock()
		if r.next < r.end {
			seq := r.next
			r.next++
			use(seq)
			r.mu.Unlock()
			return nil
		}
		r.mu.Unlock()
		if err := h.refill(ctx, r); err != nil {
			return err
		}
	}
}

// refill reserves a block when the room has none left. One at a time per room.
func (h *Hub) refill(ctx context.Context, r *room) error {
	r.reserving.Lock()
	defer r.reserving.Unlock()
	r.mu.Lock()
	full := r.next < r.end
	r.mu.Unlock()
	if full {
		return nil
	}
	base, err := h.log.Reserve(ctx, r.id, core.EventBlock)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.block(base)
	r.mu.Unlock()
	return nil
}

// drain tells the listeners what is ready. Whoever finds somebody at it leaves the work to them, so that news stays in
// order without a lock being held while listeners are told.
func (h *Hub) drain(r *room) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		return
	}
	r.busy = true
	defer func() { r.busy = false }()
	for e := new(core.Event); r.ready(e); {
		h.tell(r, e)
	}
}

// tell unlocks the room while it calls the listeners.
func (h *Hub) tell(r *room, e *core.Event) {
	watches := r.watches
	r.mu.Unlock()
	defer r.mu.Lock()
	for _, w := range watches {
		w.On(*e)
	}
	for _, w := range *h.all.Load() {
		w.On(*e)
	}
}

// Attach tells l the news of one conversation from now on. An event that is on its way may still come after detach.
func (h *Hub) Attach(c core.ConversationID, l Listener) (detach func()) {
	r := h.enter(c) // stays pinned until detach
	w := &watch{l}
	r.mu.Lock()
	r.watches = append(slices.Clone(r.watches), w)
	r.mu.Unlock()
	return sync.OnceFunc(func() {
		r.mu.Lock()
		r.watches = without(r.watches, w)
		r.mu.Unlock()
		h.leave(r)
	})
}

// AttachAll tells l the news of every conversation from now on.
func (h *Hub) AttachAll(l Listener) (detach func()) {
	w := &watch{l}
	h.mu.Lock()
	defer h.mu.Unlock()
	all := append(slices.Clone(*h.all.Load()), w)
	h.all.Store(&all)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		all := without(*h.all.Load(), w)
		h.all.Store(&all)
	}
}

func without(ws []*watch, w *watch) []*watch {
	return slices.DeleteFunc(slices.Clone(ws), func(x *watch) bool { return x == w })
}

// Run records durable events until ctx ends, and flushes before it returns.
func (h *Hub) Run(ctx context.Context) error {
	var sweep sync.WaitGroup
	sweep.Go(func() { h.sweep(ctx) })
	defer sweep.Wait()
	return h.rec.run(ctx)
}

// sweep lets go of numbers that were given out and never published.
func (h *Hub) sweep(ctx context.Context) {
	tick := time.NewTicker(holdMax)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, r := range h.holding() {
			h.drain(r)
			h.leave(r)
		}
	}
}

// holding returns the rooms that wait for a number, pinned.
func (h *Hub) holding() []*room {
	h.mu.Lock()
	defer h.mu.Unlock()
	var rs []*room
	for _, e := range h.rooms {
		r := e.Value.(*room)
		r.mu.Lock()
		if len(r.holds) > 0 {
			r.pins++
			rs = append(rs, r)
		}
		r.mu.Unlock()
	}
	return rs
}
