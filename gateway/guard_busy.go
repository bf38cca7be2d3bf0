package gateway

import (
	"cmp"
	"context"

	"bellhop/core"
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
// row is durable in any case, so what the running turn does not take simply waits. Only a turn that ran before the row was
// there is met: what began since may be the row's own.
func (g *Gateway) meet(ctx context.Context, a *Arrival, adm core.Admitted) {
	row := adm.Admission
	if adm.Merged || adm.Ahead == 0 || row.Status != core.Queued {
		return
	}
	live, ok := g.cfg.Sessions.Status(row.Conversation)
	before := ok && live.Turn != "" && live.Admission != row.ID && !live.Since.After(a.asked)
	if before && a.Entry.Hold == 0 {
		mode, err := g.mode(ctx, a)
		if err == nil && mode != "queue" && g.mayTouch(ctx, a, live.Admission) {
			if mode == "interrupt" && g.cfg.Sessions.InterruptTurn(row.Conversation, live.Admission,
				core.Interrupt{Reason: core.ReasonReplaced, By: a.By.ID}) {
				return
			}
			if mode == "steer" && len(row.Submission.Attachments) == 0 && g.cfg.Sessions.Steer(row.Conversation, row.ID, row.Submission.Text) {
				return
			}
		}
	}
	g.cfg.Mouth.Waiting(row, adm.Ahead)
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
