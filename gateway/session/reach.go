package session

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"bellhop/core"
)

// reachTime bounds one call to the store or to the other nodes.
const reachTime = 5 * time.Second

// Others are the other nodes that serve the store; *node.Node tells them.
type Others interface {
	Count() int // this one included
	Tell(ctx context.Context, n core.Note)
}

// Rows reads what a Reach must know of turns that run elsewhere; a core.Store is one.
type Rows interface {
	Unsettled(ctx context.Context, c core.ConversationID) ([]core.Admission, error)
	Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error)
}

// What is wanted of a turn that runs elsewhere.
const (
	wantEnd      = "end"
	wantSteer    = "steer"
	wantWithdraw = "withdraw"
	wantReword   = "reword"
	wantLate     = "late" // an offer was not taken: who made it may say so
)

// maxLate is how many offers to turns elsewhere may wait to be told that they came too late; the oldest are forgotten.
const maxLate = 256

// Reach is the registry of what runs here, and beyond it a hand that reaches turns on other nodes by notes. What it says of
// those is from the store; that they obey shows in the chat, where they answer themselves. A note that is lost loses
// nothing for good: commands are rows, so that a stop holds even for a turn whose node dies, and what was to be steered
// waits in the queue.
type Reach struct {
	*Registry
	life   context.Context // of the process: what asks here has no context of its own
	others Others
	rows   Rows
	log    *slog.Logger

	mu   sync.Mutex
	late []Steered // offers that were made elsewhere, oldest first
}

// NewReach returns a Reach that reads and tells while life lasts.
func NewReach(life context.Context, here *Registry, others Others, rows Rows, log *slog.Logger) *Reach {
	return &Reach{Registry: here, life: life, others: others, rows: rows, log: log}
}

// elsewhere returns the row of c that runs on another node. One that is just being claimed here looks the same.
func (r *Reach) elsewhere(c core.ConversationID) (core.Admission, bool) {
	if r.others.Count() < 2 {
		return core.Admission{}, false
	}
	ctx, cancel := context.WithTimeout(r.life, reachTime)
	defer cancel()
	rows, err := r.rows.Unsettled(ctx, c)
	if err != nil {
		r.log.Warn("what runs elsewhere could not be looked at", "session", c, "err", err)
	}
	for _, a := range rows {
		if a.Status == core.Started {
			return a, true
		}
	}
	return core.Admission{}, false
}

func (r *Reach) tell(n core.Note) {
	ctx, cancel := context.WithTimeout(r.life, reachTime)
	defer cancel()
	n.Kind = core.NoteControl
	r.others.Tell(ctx, n)
}

// Interrupt ends what runs in c, here or elsewhere. What waits here may wait for what runs elsewhere.
func (r *Reach) Interrupt(c core.ConversationID, i core.Interrupt) (core.AdmissionID, bool) {
	id, ok := r.Registry.Interrupt(c, i)
	if ok && id != "" {
		return id, true
	}
	if a, there := r.elsewhere(c); there {
		r.tell(core.Note{Control: wantEnd, Conversation: c, Admission: a.ID, Reason: i.Reason, By: i.By, Told: i.Told})
		return a.ID, true
	}
	return id, ok
}

// InterruptTurn is Interrupt for one admission only.
func (r *Reach) InterruptTurn(c core.ConversationID, id core.AdmissionID, i core.Interrupt) bool {
	if r.Registry.InterruptTurn(c, id, i) {
		return true
	}
	a, ok := r.elsewhere(c)
	if ok = ok && a.ID == id; ok {
		r.tell(core.Note{Control: wantEnd, Conversation: c, Admission: id, Reason: i.Reason, By: i.By, Told: i.Told})
	}
	return ok
}

// Steer offers a queued row to what runs in c, here or elsewhere.
func (r *Reach) Steer(c core.ConversationID, id core.AdmissionID, text string) bool {
	return r.Offer(c, Steered{ID: id, Text: text})
}

// Offer is Steer for who wants to know when the turn ends without taking the row. A turn elsewhere says so by a note.
func (r *Reach) Offer(c core.ConversationID, s Steered) bool {
	if r.Registry.Offer(c, s) {
		return true
	}
	a, ok := r.elsewhere(c)
	if !ok || a.ID == s.ID {
		return false
	}
	r.await(s)
	r.tell(core.Note{Control: wantSteer, Conversation: c, Admission: s.ID})
	return true
}

// await remembers whom to tell when an offer that was made elsewhere is not taken.
func (r *Reach) await(s Steered) {
	if s.Late == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.late) == maxLate {
		r.late = slices.Delete(r.late, 0, 1)
	}
	r.late = append(r.late, Steered{ID: s.ID, Late: s.Late})
}

// missed tells who made an offer, if that was here, that it was not taken.
func (r *Reach) missed(id core.AdmissionID) {
	r.mu.Lock()
	i := slices.IndexFunc(r.late, func(s Steered) bool { return s.ID == id })
	if i < 0 {
		r.mu.Unlock()
		return
	}
	late := r.late[i].Late
	r.late = slices.Delete(r.late, i, i+1)
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.life, reachTime)
	defer cancel()
	late(ctx)
}

// Withdraw takes back an offer.
func (r *Reach) Withdraw(c core.ConversationID, id core.AdmissionID) bool {
	if r.Registry.Withdraw(c, id) {
		return true
	}
	if _, ok := r.elsewhere(c); ok {
		r.tell(core.Note{Control: wantWithdraw, Conversation: c, Admission: id})
	}
	return false
}

// Reword changes the text of an offer whose row was edited.
func (r *Reach) Reword(c core.ConversationID, id core.AdmissionID, text string) bool {
	if r.Registry.Reword(c, id, text) {
		return true
	}
	if _, ok := r.elsewhere(c); ok {
		r.tell(core.Note{Control: wantReword, Conversation: c, Admission: id})
	}
	return false
}

// Status tells what c does, as far as it is known here: of a turn elsewhere that it runs, and since when.
func (r *Reach) Status(c core.ConversationID) (Status, bool) {
	s, live := r.Registry.Status(c)
	if live && s.Turn != "" {
		return s, true
	}
	a, ok := r.elsewhere(c)
	if !ok {
		return s, live
	}
	return Status{Conversation: c, Turn: a.Turn, Admission: a.ID, Since: a.Claimed, LastActive: a.Claimed}, true
}

// Heard does what another node wants of a turn that runs here.
func (r *Reach) Heard(n core.Note) {
	why := core.Interrupt{Reason: n.Reason, By: n.By, Told: n.Told}
	switch n.Control {
	case wantEnd:
		r.Registry.InterruptTurn(n.Conversation, n.Admission, why)
	case wantLate:
		r.missed(n.Admission)
	case wantWithdraw:
		r.Registry.Withdraw(n.Conversation, n.Admission)
	case wantSteer, wantReword:
		if _, ok := r.Registry.Status(n.Conversation); ok {
			r.offer(n)
		}
	}
}

// offer reads the row that is to be put into the turn: notes carry names only.
func (r *Reach) offer(n core.Note) {
	ctx, cancel := context.WithTimeout(r.life, reachTime)
	defer cancel()
	a, err := r.rows.Admission(ctx, n.Admission)
	switch {
	case err != nil:
		r.log.Warn("a message that was to be put into a turn could not be read; it waits", "admission", n.Admission, "err", err)
	case a.Status != core.Queued || a.Conversation != n.Conversation:
	case n.Control == wantReword:
		r.Registry.Reword(n.Conversation, a.ID, a.Submission.Text)
	default:
		r.Registry.Offer(n.Conversation, Steered{ID: a.ID, Text: a.Submission.Text, Late: func(context.Context) {
			r.tell(core.Note{Control: wantLate, Conversation: n.Conversation, Admission: n.Admission})
		}})
	}
}
