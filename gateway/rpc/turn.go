package rpc

import (
	"context"
	"strings"

	"bellhop/core"
	"bellhop/gateway/session"
)

type turnResult struct {
	Status    string           `json:"status"` // interrupted, idle; steered, queued
	Admission core.AdmissionID `json:"admission_id,omitempty"`
}

type interruptParams struct {
	Session   string           `json:"session_id" need:"yes"`
	Admission core.AdmissionID `json:"admission_id"` // only if this one runs
}

// sessionInterrupt stops the running turn. What waits in the queue stays there.
func sessionInterrupt(ctx context.Context, e *Env, p interruptParams) (turnResult, error) {
	conv, err := e.conversation(ctx, p.Session, core.CanControl)
	if err != nil {
		return turnResult{}, err
	}
	why := core.Interrupt{Reason: core.ReasonStopped, By: e.By.ID}
	id, ok := p.Admission, false
	if p.Admission != "" {
		ok = e.s.cfg.Sessions.InterruptTurn(conv.ID, p.Admission, why)
	} else {
		id, ok = e.s.cfg.Sessions.Interrupt(conv.ID, why)
	}
	if !ok {
		return turnResult{Status: "idle"}, nil
	}
	e.stopped(ctx, conv, id)
	return turnResult{Status: "interrupted", Admission: id}, nil
}

// stopped stores that a turn was stopped, so that it stays so if this process dies before the turn has ended. The stop
// itself does not wait for that, nor for a store that fails.
func (e *Env) stopped(ctx context.Context, conv core.Conversation, id core.AdmissionID) {
	sub, err := e.submission(ctx, conv, "/stop", "")
	if err == nil {
		sub.Stops = id
		_, err = e.admit(ctx, core.Entry{By: e.By, Submission: sub, Terminal: &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}})
	}
	if err != nil {
		e.s.log.Warn("a stop could not be stored; it does not outlive this process", "session", conv.ID, "admission", id, "err", err)
	}
}

type steerParams struct {
	Session   string         `json:"session_id" need:"yes"`
	Text      string         `json:"text" need:"yes"`
	RequestID core.RequestID `json:"request_id"`
}

// sessionSteer puts a message into the next tool result of the running turn. It is a row first; when the turn ends before
// it takes it, or none runs, the row is an ordinary message.
func sessionSteer(ctx context.Context, e *Env, p steerParams) (turnResult, error) {
	if strings.TrimSpace(p.Text) == "" {
		return turnResult{}, fault(BadParams, "text is required")
	}
	conv, err := e.conversation(ctx, p.Session, core.CanSubmit|core.CanControl)
	if err != nil {
		return turnResult{}, err
	}
	e.c.follow(e, conv.ID)
	sub, err := e.submission(ctx, conv, p.Text, p.RequestID)
	if err != nil {
		return turnResult{}, err
	}
	r, err := e.steer(ctx, conv, sub)
	return turnResult{Status: r.Status, Admission: r.Admission}, err
}

// steerLate is told when the turn ended without what it was to be steered with.
const steerLate = "What ran has ended before it could take this in; it is answered by itself."

// steer admits a message and offers it to the running turn. A repeated one was offered when it was new.
func (e *Env) steer(ctx context.Context, conv core.Conversation, sub core.Submission) (promptResult, error) {
	if !e.By.Can(core.CanControl) {
		return promptResult{}, fault(NotAllowed, "you may not do that here")
	}
	out, err := e.submit(ctx, sub, true)
	if err != nil {
		return promptResult{}, err
	}
	out.Status = "queued"
	offer := session.Steered{ID: out.Admission, Text: sub.Text, Late: func(ctx context.Context) {
		e.s.cfg.Hub.Emit(ctx, conv.ID, out.Admission, "", core.EventBody{Type: core.StatusUpdate, Name: "steer", Status: "late", Text: steerLate})
	}}
	if !out.Duplicate && e.s.cfg.Sessions.Offer(conv.ID, offer) {
		out.Status = "steered"
	}
	return out, nil
}
