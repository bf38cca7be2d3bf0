package rpc

import (
	"slices"
	"sync"

	"bellhop/core"
)

// watch listens to one session for one client.
//
//	live     events go to the outbox
//	held     a call that answers about the session is under way; events wait here, and follow its reply
//	lagging  there was no room; the client was told, and nothing more comes until it asks for what it missed
//
// News that nobody can ask for goes to the client in every state, as long as there is room: what has no number, because
// the store is down, and the end of a turn whose number is below those that were told, because it was kept up; it goes
// without its number then, which would say that it is known.
type watch struct {
	id     core.ConversationID
	out    *outbox
	room   int
	detach func()

	mu      sync.Mutex
	held    int
	lagging bool
	waiting []core.Event
	covered int64   // replies told everything up to this number
	last    int64   // number of the last event that went to the outbox
	ends    []int64 // numbers of ends of turns that replies told, the newest mostEnds of them
}

// mostEnds is how many ends of turns are remembered: those that may yet come beside the reply that told them.
const mostEnds = 64

// On takes news from the hub. It never blocks.
func (w *watch) On(e core.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e = w.renumber(e); {
	case e.Seq != 0 && (w.lagging || e.Seq <= w.covered && e.Type != core.MessageComplete):
	case w.held == 0:
		w.pass(e)
	case len(w.waiting) < w.room:
		w.waiting = append(w.waiting, e)
	case !w.lagging:
		w.lag()
	}
}

// renumber takes the number off the end of a turn that comes after higher numbers. w.mu is held.
func (w *watch) renumber(e core.Event) core.Event {
	if e.Type == core.MessageComplete && e.Seq <= max(w.covered, w.last) && !slices.Contains(w.ends, e.Seq) {
		e.Seq = 0
	}
	return e
}

// pass sends an event that the client does not know yet. w.mu is held.
func (w *watch) pass(e core.Event) {
	switch {
	case e.Seq == 0 && w.lagging:
		w.out.push(e) // no room: it was told that it misses something
	case e.Seq == 0 || !w.lagging && e.Seq > w.covered:
		w.send(e)
	}
}

// send hands one event to the outbox, or starts to lag. w.mu is held.
func (w *watch) send(e core.Event) {
	if !w.out.push(e) {
		w.lag()
		return
	}
	w.last = max(w.last, e.Seq)
}

// lag pauses the watch and tells the client. w.mu is held.
func (w *watch) lag() {
	w.pause()
	w.out.tell(w.id, max(w.last, w.covered))
}

// pause lets nothing more through but what has no number. w.mu is held.
func (w *watch) pause() {
	w.lagging = true
	w.waiting = slices.DeleteFunc(w.waiting, func(e core.Event) bool { return e.Seq != 0 })
}

// hold keeps events back until release.
func (w *watch) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held++
}

// catchUp is for a call whose reply tells what the client missed. What waits in the outbox will be in it; from here on
// events are kept even if the watch was lagging.
func (w *watch) catchUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if lowest := w.out.forget(w.id); lowest > 0 {
		w.last = min(w.last, lowest-1)
	}
	w.lagging = false
}

// cover says that the reply under way tells everything up to seq, events among it, and whether the client has yet more to
// fetch: then the watch lags until it does.
func (w *watch) cover(seq int64, more bool, events []core.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range events {
		if e.Type == core.MessageComplete {
			w.ends = append(w.ends, e.Seq)
		}
	}
	w.ends = slices.Delete(w.ends, 0, max(0, len(w.ends)-mostEnds))
	if more {
		w.pause()
		return
	}
	w.covered = max(w.covered, seq)
}

// fail says that there is no such reply: the client has to ask again.
func (w *watch) fail() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lag()
}

// release lets the events go that waited for a reply which now is in the outbox.
func (w *watch) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held--; w.held > 0 {
		return
	}
	waiting := w.waiting
	w.waiting = nil
	for _, e := range waiting {
		w.pass(w.renumber(e))
	}
}
