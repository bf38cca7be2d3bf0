package session

import (
	"context"
	"sync"
	"time"

	"bellhop/core"
)

// MaxSteered is how many rows may be offered to one turn before it takes any.
const MaxSteered = 32

// Steered is a queued row that was offered to the running turn.
type Steered struct {
	ID   core.AdmissionID
	Text string
	Late func(ctx context.Context) // called when the turn ended without it: the row has its own turn; may be nil
}

// Status is what a live conversation does now. Turn and Admission are empty while it waits for its next claim.
type Status struct {
	Conversation     core.ConversationID
	Turn             core.TurnID
	Admission        core.AdmissionID
	Since            time.Time // when the turn, or the wait for it, began
	LastActive       time.Time
	Doing            string // "thinking", "running shell"; empty: nothing to tell
	WaitingForPerson bool
	Steered          int // rows that were offered and not yet taken
}

// Registry holds the live conversations. Safe for concurrent use.
type Registry struct {
	mu   sync.Mutex
	live map[core.ConversationID]*Live
}

// New returns an empty registry.
func New() *Registry { return &Registry{live: make(map[core.ConversationID]*Live)} }

// Begin registers a drain of c. It returns false when c is live already; otherwise the caller must End what it got.
func (r *Registry) Begin(c core.ConversationID) (*Live, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.live[c]; ok {
		return nil, false
	}
	l := &Live{registry: r, conversation: c, since: time.Now()}
	r.live[c] = l
	return l, true
}

func (r *Registry) find(c core.ConversationID) *Live {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[c]
}

// Interrupt ends the running turn of c with i as the cause, and returns its admission. Between two claims, also before the
// first one, a stop hits the row that would have been claimed next and no admission is returned. false: c is not live here,
// or newer input would replace something that does not run yet.
func (r *Registry) Interrupt(c core.ConversationID, i core.Interrupt) (core.AdmissionID, bool) {
	l := r.find(c)
	if l == nil {
		return "", false
	}
	return l.interrupt(i)
}

// InterruptTurn is Interrupt for one admission only: a button under an old message must not stop a newer turn. false: that
// admission is not running here.
func (r *Registry) InterruptTurn(c core.ConversationID, id core.AdmissionID, i core.Interrupt) bool {
	l := r.find(c)
	return l != nil && l.interruptTurn(id, i)
}

// Forestall keeps one row from going on, which was claimed or cut off: its turn if it runs, else the claim or the read-back
// that is under way or comes next, if that is about this row or what goes on from it. Nothing else is hit. false: what is
// live here is another's turn, or nothing is.
func (r *Registry) Forestall(c core.ConversationID, id core.AdmissionID, i core.Interrupt) bool {
	l := r.find(c)
	return l != nil && l.forestall(id, i)
}

// Steer offers a queued row to the running turn of c. The row stays queued until the turn consumes it. false: nothing runs,
// the turn is the row's own, or too much is offered already; the row simply waits for its own turn.
func (r *Registry) Steer(c core.ConversationID, id core.AdmissionID, text string) bool {
	return r.Offer(c, Steered{ID: id, Text: text})
}

// Offer is Steer for who wants to know when the turn ends without taking the row. Then, and only then, Late is called.
func (r *Registry) Offer(c core.ConversationID, s Steered) bool {
	l := r.find(c)
	return l != nil && l.steer(s)
}

// Steered lists what was offered to the running turn of c and not yet taken.
func (r *Registry) Steered(c core.ConversationID) []Steered {
	l := r.find(c)
	if l == nil {
		return nil
	}
	return l.steered()
}

// Withdraw takes back an offer, for example because its row was cancelled. false: it was not on offer.
func (r *Registry) Withdraw(c core.ConversationID, id core.AdmissionID) bool {
	l := r.find(c)
	return l != nil && l.withdraw(id)
}

// Reword changes the text of an offer whose row was edited. false: it was not on offer.
func (r *Registry) Reword(c core.ConversationID, id core.AdmissionID, text string) bool {
	l := r.find(c)
	return l != nil && l.reword(id, text)
}

// Status tells what c does. false: it is not live here.
func (r *Registry) Status(c core.ConversationID) (Status, bool) {
	l := r.find(c)
	if l == nil {
		return Status{}, false
	}
	return l.Status(), true
}

// Running lists the conversations whose turn runs now, in no particular order.
func (r *Registry) Running() []Status {
	r.mu.Lock()
	all := make([]*Live, 0, len(r.live))
	for _, l := range r.live {
		all = append(all, l)
	}
	r.mu.Unlock()
	running := make([]Status, 0, len(all))
	for _, l := range all {
		if s := l.Status(); s.Turn != "" {
			running = append(running, s)
		}
	}
	return running
}

func (r *Registry) remove(c core.ConversationID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, c)
}
