package stream

import (
	"slices"
	"strings"
	"sync"
	"time"

	"bellhop/core"
)

// holdMax is how long news waits for a lower number that was given out and not published.
const holdMax = 5 * time.Second

// room is one conversation in the hub.
//
//	number --> queue (by number; waits behind held numbers) --> ring, listeners
type room struct {
	id        core.ConversationID
	pins      int        // users; guarded by Hub.mu
	reserving sync.Mutex // held while a block is fetched

	mu               sync.Mutex
	start, next, end int64 // the current block, and the next number in it
	first            int64 // of the first block
	last             int64 // highest number of earlier blocks
	holds            []hold
	queue            []core.Event
	busy             bool // somebody tells the listeners
	watches          []*watch
	ring             *ring
	top              int64 // highest number told
	text             open
}

// hold is a number given out whose event is not published yet.
type hold struct {
	seq int64
	at  time.Time
}

func newRoom(c core.ConversationID, max int) *room { return &room{id: c, ring: newRing(max)} }

// quiet reports whether nothing is under way that would be lost with the room.
func (r *room) quiet() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.holds) == 0 && len(r.queue) == 0 && len(r.watches) == 0
}

// block installs numbers, unless higher ones were given out already: numbers never fall.
func (r *room) block(base int64) {
	last := r.last
	if r.next > r.start {
		last = r.next - 1
	}
	if base > last {
		if r.last = last; r.first == 0 {
			r.first = base
		}
		r.start, r.next, r.end = base, base, base+core.EventBlock
	}
}

func (r *room) free(seq int64) {
	r.holds = slices.DeleteFunc(r.holds, func(h hold) bool { return h.seq == seq })
}

// put queues e in its place; almost always the last.
func (r *room) put(e *core.Event) {
	i := len(r.queue)
	for i > 0 && r.queue[i-1].Seq > e.Seq {
		i--
	}
	r.queue = slices.Insert(r.queue, i, *e)
}

// ready takes the next event that may be told out of the queue into e, and remembers it. Numbers held for too long are let
// go. Events are large, and many are on their way at the bottom of a deep stack: none is copied that need not be.
func (r *room) ready(e *core.Event) bool {
	if len(r.queue) == 0 {
		return false
	}
	*e = r.queue[0]
	if len(r.holds) > 0 && e.Seq > 0 {
		late := time.Now().Add(-holdMax)
		r.holds = slices.DeleteFunc(r.holds, func(h hold) bool { return !h.at.After(late) })
		if slices.ContainsFunc(r.holds, func(h hold) bool { return h.seq < e.Seq }) {
			return false
		}
	}
	r.queue = slices.Delete(r.queue, 0, 1)
	if e.Seq > 0 {
		r.top = max(r.top, e.Seq)
		r.text.add(e)
		r.text.lose(r.ring.insert(e))
		if e.Type == core.MessageComplete {
			r.ring.keep(core.EventType.Durable)
		}
	}
	return true
}

// open is the text since the last boundary. Deltas that fall out of the ring are replayed from it as one reset.
type open struct {
	b           strings.Builder
	first, last int64 // numbers of its events
	lost        int64 // highest of them that fell out of the ring
	admission   core.AdmissionID
	turn        core.TurnID
	at          time.Time
}

func (o *open) add(e *core.Event) {
	switch e.Type {
	case core.MessageReset:
		o.b.Reset()
	case core.MessageDelta:
	case core.MessageStart, core.MessageInterim, core.MessageComplete, core.ToolStart:
		*o = open{}
		return
	default:
		return
	}
	if o.first == 0 {
		o.first = e.Seq
	}
	o.last, o.admission, o.turn, o.at = e.Seq, e.Admission, e.Turn, e.At
	o.b.WriteString(e.Text)
}

func (o *open) lose(seq int64, t core.EventType, fell bool) {
	if fell && seq >= o.first && seq <= o.last && (t == core.MessageDelta || t == core.MessageReset) {
		o.lost = max(o.lost, seq)
	}
}
