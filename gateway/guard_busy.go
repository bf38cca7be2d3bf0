package gateway

import (
	"cmp"
	"context"

	"bellhop/core"
	"bellhop/gateway/session"
)

// guardBusy makes a turn of whatever has come this far. An ordinary message is never held and never merged; photos of an
// album and pieces of a paste wait a moment for the rest. How it meets a running turn is decided once it is durable.
func (g *Gateway) guardBusy(_ context.Context, a *Arrival) (Verdict, error) {
	if a.In.Text == "" && len(a.In.Files) == 0 {
		return Drop, nil
	}
	e := &core.Entry{By: a.By, Submission: a.submission()}
	switch {
	case a.In.Album != "":
		e.Hold = albumHold
	case a.In.Near:
		e.Hold = pasteHold
	}
	a.Entry, a.after = e, g.meet
	return Done, nil
}

// meet lets a fresh row meet what runs in its conversation: it waits, is offered to the running turn, or replaces it. The
// row is durable in any case, so what the running turn does not take simply waits; who asked for it with /steer is told.
// Only a turn that ran before the row was there is met: what began since may be the row's own.
func (g *Gateway) meet(ctx context.Context, a *Arrival, adm core.Admitted) {
	row := adm.Admission
	if adm.Merged || row.Status != core.Queued {
		return
	}
	missed := steerMissed
	live, ok := g.cfg.Sessions.Status(row.Conversation)
	if before := ok && live.Turn != "" && live.Admission != row.ID && !live.Since.After(a.asked); before && adm.Ahead > 0 && a.Entry.Hold == 0 {
		mode, err := g.mode(ctx, a)
		if err == nil && mode != "queue" {
			if !g.mayTouch(ctx, a, live.Admission) {
				missed = steerDenied
			} else if g.touch(a, row, live.Admission, mode) {
				return
			}
		}
	}
	if a.Busy == "steer" {
		g.reply(ctx, a, core.Delivery{Text: missed, Conversation: row.Conversation, Admission: row.ID})
	}
	if adm.Ahead > 0 {
		g.cfg.Mouth.Waiting(row, adm.Ahead)
	}
}

// What is said of a /steer that steered nothing. The message itself is never lost.
const (
	steerMissed = "Nothing runs now that could take this in; I answer it by itself."
	steerDenied = "Only who began what runs may steer it; I answer this by itself, after it."
	steerLate   = "What ran has ended before it could take this in; I answer it by itself."
)

// touch lets a row interrupt or steer the turn that runs. false: it waits.
func (g *Gateway) touch(a *Arrival, row core.Admission, running core.AdmissionID, mode string) bool {
	switch {
	case mode == "interrupt":
		return g.cfg.Sessions.InterruptTurn(row.Conversation, running, core.Interrupt{Reason: core.ReasonReplaced, By: a.By.ID})
	case mode == "steer" && len(row.Submission.Attachments) == 0:
		offer := session.Steered{ID: row.ID, Text: row.Submission.Text}
		if a.Busy == "steer" { // it was asked for, and is not just how messages meet a turn here
			offer.Late = func(ctx context.Context) {
				g.reply(ctx, a, core.Delivery{Text: steerLate, Conversation: row.Conversation, Admission: row.ID})
			}
		}
		return g.cfg.Sessions.Offer(row.Conversation, offer)
	}
	return false
}

// mode is how messages of the arrival's conversation meet a running turn.
func (g *Gateway) mode(ctx context.Context, a *Arrival) (string, error) {
	if a.Busy != "" {
		return a.Busy, nil
	}
	conv, err := g.cfg.Store.Lookup(ctx, a.Key)
	if err != nil {
		g.log.Warn("a busy mode could not be read; the message waits", "platform", a.Platform, "err", err)
		return "", err
	}
	return cmp.Or(conv.Busy, a.Opts.Busy, g.cfg.Busy, "queue"), nil
}

// mayTouch reports whether the sender may change what runs: in a chat of two always, in a group its author and who has
// control.
func (g *Gateway) mayTouch(ctx context.Context, a *Arrival, running core.AdmissionID) bool {
	if !a.In.Group || a.By.Can(core.CanControl) {
		return true
	}
	row, err := g.cfg.Store.Admission(ctx, running)
	return err == nil && row.By == a.By.ID
}
