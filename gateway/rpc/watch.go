package rpc

import (
	"sync"

	"bellhop/core"
)

// watch listens to one session for one client.
//
//	live     events go to the outbox
//	held     a call that answers about the session is under way; events wait here, and follow its reply
//	lagging  there was no room; the client was told, and nothing more comes until it asks for what it missed
type watch struct {
	id     core.ConversationID
	out    *outbox
	room   int
	detach func()

	mu      sync.Mutex
	held    int
	lagging bool
	waiting []core.Event
	covered int64 // replies told everything up to this number
	last    int64 // number of the last event that went to the outbox
}

// On takes news from the hub. It never blocks.
func (w *watch) On(e core.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.lagging || e.Seq <= w.covered:
	case w.held == 0:
		w.send(e)
	case len(w.waiting) < w.room:
		w.waiting = append(w.waiting, e)
	default:
		w.lag()
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
	w.lagging, w.waiting = true, nil
	w.out.tell(w.id, max(w.last, w.covered))
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

// cover says that the reply under way tells everything up to seq, and whether the client has yet more to fetch: then the
// watch lags until it does.
func (w *watch) cover(seq int64, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if more {
		w.lagging, w.waiting = true, nil
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
		if !w.lagging && e.Seq > w.covered {
			w.send(e)
		}
	}
}
