package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"bellhop/core"
)

type phase uint8

const (
	waiting  phase = iota // for a slot, for the lease, or for work
	claiming              // a claim is under way and is not cut short
	running
	closing
)

// Live is one drain of one conversation. Its owner calls Wait, Claim, Turn, Close and Rest in this order, over again, and
// End once (Unclaim goes back from Claim to the wait, Claimed tells what was claimed before its Turn); Active and Waiting
// may be called from any goroutine of the turn.
type Live struct {
	registry     *Registry
	conversation core.ConversationID

	mu        sync.Mutex
	phase     phase
	cancel    context.CancelCauseFunc // of the wait or the turn
	pending   *core.Interrupt         // came while waiting
	admission core.AdmissionID
	turn      core.TurnID
	since     time.Time
	active    time.Time
	doing     string
	persons   int       // questions that are open
	asked     time.Time // since when, while persons > 0
	waited    time.Duration
	offers    []Steered
	taken     []Steered // by the turn, which may not live to use them
}

// Wait returns the context under which the drain waits for its lease: a stop ends it with the interrupt as its cause. An
// interrupt by newer input does nothing: what waits keeps its place.
func (l *Live) Wait(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase, l.cancel, l.since = waiting, cancel, time.Now()
	if l.pending != nil {
		cancel(l.pending)
	}
	return ctx, cancel
}

// Claim ends the wait: from now on an interrupt is kept for the turn that is being claimed. false: it came already.
func (l *Live) Claim() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != nil {
		return false
	}
	l.phase = claiming
	return true
}

// Unclaim says that there was nothing to claim yet: the wait goes on. An interrupt that came meanwhile ends it.
func (l *Live) Unclaim() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase = waiting; l.pending != nil {
		l.stop(l.pending)
	}
}

// Claimed says what was claimed: an interrupt that was kept for another row is spent.
func (l *Live) Claimed(a core.Admission) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != nil && !l.pending.Means(a) {
		l.pending = nil
	}
}

// Stopped returns and spends an interrupt that came before anything was claimed, nil when there was none.
func (l *Live) Stopped() *core.Interrupt {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.pending
	l.pending = nil
	return i
}

// Halt ends the wait for the next claim, now or when it begins. A turn that is claimed or runs is left alone.
func (l *Live) Halt(i *core.Interrupt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase == waiting {
		l.stop(i)
	}
}

// stop ends a wait, now or when it begins. Call with mu held.
func (l *Live) stop(i *core.Interrupt) {
	if l.pending == nil {
		l.pending = i
	}
	if l.cancel != nil {
		l.cancel(l.pending)
	}
}

// Waive ends a turn that waits for a person, with i as the cause. false: it does something now, or there is none.
func (l *Live) Waive(i *core.Interrupt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase != running || l.persons == 0 {
		return false
	}
	l.cancel(i)
	return true
}

// Turn begins a turn. Its context ends with the cause of the first Interrupt; it has ended already when one was pending.
func (l *Live) Turn(ctx context.Context, a core.AdmissionID, t core.TurnID) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase, l.cancel, l.admission, l.turn = running, cancel, a, t
	l.since, l.active, l.doing = now, now, ""
	l.persons, l.waited = 0, 0
	if l.pending != nil {
		cancel(l.pending)
		l.pending = nil
	}
	return ctx, cancel
}

// Close says that the turn's work is over and only its settlement is left: from now on an interrupt changes nothing. It
// returns what was offered, whether it was taken or not, and forgets it.
func (l *Live) Close() (offered []Steered) {
	l.mu.Lock()
	defer l.mu.Unlock()
	offered = append(l.taken, l.offers...)
	l.phase, l.cancel, l.doing, l.offers, l.taken, l.persons = closing, nil, "", nil, nil, 0
	return offered
}

// Rest says that the turn is over: the conversation waits, an interrupt hits its next claim.
func (l *Live) Rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase, l.cancel, l.offers, l.taken = waiting, nil, nil, nil
	l.admission, l.turn, l.doing, l.since = "", "", "", time.Now()
}

// End removes the conversation from the registry.
func (l *Live) End() { l.registry.remove(l.conversation) }

// Active says that the turn does something; what may be empty to keep the last words.
func (l *Live) Active(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active = time.Now()
	if what != "" {
		l.doing = what
	}
}

// Waiting says that the turn began or stopped to wait for a person; calls nest.
func (l *Live) Waiting(on bool) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active = now
	switch {
	case on:
		if l.persons++; l.persons == 1 {
			l.asked = now
		}
	case l.persons > 0:
		if l.persons--; l.persons == 0 {
			l.waited += now.Sub(l.asked)
		}
	}
}

// Idle returns how long the turn has shown no activity; waiting for a person is activity.
func (l *Live) Idle() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.persons > 0 {
		return 0
	}
	return time.Since(l.active)
}

// Waited returns how long the turn has waited for people so far.
func (l *Live) Waited() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.persons > 0 {
		return l.waited + time.Since(l.asked)
	}
	return l.waited
}

// TakeSteered returns what was offered since the last call, in order.
func (l *Live) TakeSteered() []Steered {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.offers
	l.offers, l.taken = nil, append(l.taken, taken...)
	return taken
}

// Status tells what the conversation does now.
func (l *Live) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Status{Conversation: l.conversation, Turn: l.turn, Admission: l.admission, Since: l.since,
		LastActive: l.active, Doing: l.doing, WaitingForPerson: l.persons > 0, Steered: len(l.offers)}
}

func (l *Live) interrupt(i core.Interrupt) (core.AdmissionID, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.phase {
	case running:
		l.cancel(&i)
	case claiming:
		if l.pending == nil {
			l.pending = &i
		}
	case waiting:
		if i.Reason == core.ReasonReplaced {
			return "", false
		}
		l.stop(&i)
	}
	return l.admission, true
}

func (l *Live) interruptTurn(id core.AdmissionID, i core.Interrupt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id == "" || l.admission != id {
		return false
	}
	if l.phase == running {
		l.cancel(&i)
	}
	return true
}

func (l *Live) forestall(id core.AdmissionID, i core.Interrupt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i.Of = id
	switch l.phase {
	case running:
		if l.admission != id {
			return false
		}
		l.cancel(&i)
	case claiming:
		if l.pending == nil {
			l.pending = &i
		}
	case waiting:
		l.stop(&i)
	case closing:
		return l.admission == id
	}
	return true
}

func (l *Live) steer(s Steered) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase != running || l.admission == s.ID || len(l.offers) >= MaxSteered {
		return false
	}
	l.offers = append(l.offers, s)
	return true
}

func (l *Live) steered() []Steered {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.offers)
}

func (l *Live) withdraw(id core.AdmissionID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.offers)
	l.offers = slices.DeleteFunc(l.offers, func(s Steered) bool { return s.ID == id })
	return len(l.offers) < n
}

func (l *Live) reword(id core.AdmissionID, text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range l.offers {
		if l.offers[n].ID == id {
			l.offers[n].Text = text
			return true
		}
	}
	return false
}
