package rpc

import (
	"context"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// Queued is the wire form of a message that runs or waits.
type Queued struct {
	Admission core.AdmissionID `json:"admission_id"`
	Text      string           `json:"text"`
	Author    string           `json:"author"`
	Status    core.Status      `json:"status"`
	Place     int              `json:"place"` // rows before it; 0 runs, or is next
	Created   time.Time        `json:"created"`
}

type queueResult struct {
	ID    core.ConversationID `json:"session_id"`
	Queue []Queued            `json:"queue"`
}

func queueList(ctx context.Context, e *Env, p sessionParams) (queueResult, error) {
	conv, err := e.conversation(ctx, p.Session, core.CanRead)
	if err != nil {
		return queueResult{}, err
	}
	return e.queue(ctx, conv.ID)
}

func (e *Env) queue(ctx context.Context, c core.ConversationID) (queueResult, error) {
	rows, err := e.s.cfg.Store.Unsettled(ctx, c)
	return queueResult{ID: c, Queue: queueOf(rows)}, err
}

func queueOf(rows []core.Admission) []Queued {
	out := make([]Queued, len(rows))
	for i, a := range rows {
		out[i] = Queued{a.ID, a.Submission.Text, a.Submission.Author, a.Status, i, a.Created.UTC()}
	}
	return out
}

// queueNews tells everybody who follows the session that its queue has changed.
func (e *Env) queueNews(ctx context.Context, row core.Admission, place int) {
	e.s.cfg.Hub.Emit(ctx, row.Conversation, row.ID, "", core.EventBody{Type: core.QueueUpdate, Place: place})
}

// changed answers a call that changed the queue, and tells the others.
func (e *Env) changed(ctx context.Context, row core.Admission) (queueResult, error) {
	e.queueNews(ctx, row, 0)
	return e.queue(ctx, row.Conversation)
}

type rowParams struct {
	Admission core.AdmissionID `json:"admission_id" need:"yes"`
}

type editParams struct {
	Admission core.AdmissionID `json:"admission_id" need:"yes"`
	Text      string           `json:"text" need:"yes"`
}

// waiting finds a row that still waits, in a session where the caller has the capability.
func (e *Env) waiting(ctx context.Context, id core.AdmissionID, need core.Capability) (core.Admission, error) {
	row, err := e.s.cfg.Store.Admission(ctx, id)
	if core.Is(err, core.NotFound) {
		return core.Admission{}, notWaiting()
	}
	if err != nil {
		return core.Admission{}, err
	}
	if _, err := e.conversation(ctx, string(row.Conversation), need); err != nil {
		return core.Admission{}, err
	}
	if row.Status != core.Queued {
		return core.Admission{}, notWaiting()
	}
	return row, nil
}

func notWaiting() error { return fault(SessionNow, "that message is not waiting any more") }

func late(err error) error {
	if core.Is(err, core.Conflict) || core.Is(err, core.NotFound) {
		return notWaiting()
	}
	return err
}

func queueEdit(ctx context.Context, e *Env, p editParams) (queueResult, error) {
	if strings.TrimSpace(p.Text) == "" {
		return queueResult{}, fault(BadParams, "text is required")
	}
	row, err := e.waiting(ctx, p.Admission, core.CanSubmit)
	if err != nil {
		return queueResult{}, err
	}
	if err := e.s.cfg.Admission.Edit(ctx, e.By, row.ID, p.Text); err != nil {
		return queueResult{}, late(err)
	}
	return e.changed(ctx, row)
}

func queueRemove(ctx context.Context, e *Env, p rowParams) (queueResult, error) {
	row, err := e.waiting(ctx, p.Admission, core.CanSubmit)
	if err != nil {
		return queueResult{}, err
	}
	if _, err := e.s.cfg.Admission.Cancel(ctx, e.By, row.ID); err != nil {
		return queueResult{}, late(err)
	}
	return e.changed(ctx, row)
}

// queueNow makes a waiting message the next one and ends the turn that runs before it, so that next is now. Which turn that
// is, is read first: once the message is next it may be what runs.
func queueNow(ctx context.Context, e *Env, p rowParams) (queueResult, error) {
	row, err := e.waiting(ctx, p.Admission, core.CanControl)
	if err != nil {
		return queueResult{}, err
	}
	before, err := e.started(ctx, row.Conversation)
	if err != nil {
		return queueResult{}, err
	}
	if err := e.s.cfg.Admission.SendNow(ctx, e.By, row.ID); err != nil {
		return queueResult{}, late(err)
	}
	if before != "" {
		e.s.cfg.Sessions.InterruptTurn(row.Conversation, before, core.Interrupt{Reason: core.ReasonReplaced, By: e.By.ID})
	}
	return e.changed(ctx, row)
}

// started returns the row of c whose turn has begun, "" when there is none.
func (e *Env) started(ctx context.Context, c core.ConversationID) (core.AdmissionID, error) {
	rows, err := e.s.cfg.Store.Unsettled(ctx, c)
	if i := slices.IndexFunc(rows, func(a core.Admission) bool { return a.Status == core.Started }); err == nil && i >= 0 {
		return rows[i].ID, nil
	}
	return "", err
}
