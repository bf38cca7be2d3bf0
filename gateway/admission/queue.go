package admission

import (
	"context"

	"bellhop/core"
)

// own loads a row that waits and checks that by may change it: its author, or who has control. The author of a row never
// changes, so the check still holds when the store finds the row queued inside its transaction.
func (d *Desk) own(ctx context.Context, op string, by core.Principal, id core.AdmissionID) (core.Admission, error) {
	a, err := d.store.Admission(ctx, id)
	if err != nil {
		return a, err
	}
	if !mayChange(by, a) {
		return core.Admission{}, core.Errorf(op, core.Denied, "%s did not write %s", by.ID, id)
	}
	if a.Status != core.Queued {
		return a, core.Errorf(op, core.Conflict, "%s is %s", id, a.Status)
	}
	return a, nil
}

func mayChange(by core.Principal, a core.Admission) bool {
	return by.ID != "" && (by.ID == a.By && by.Can(core.CanSubmit) || by.Can(core.CanControl))
}

// Cancel ends a row that waits. It returns the ended row. Conflict: it does not wait any more.
func (d *Desk) Cancel(ctx context.Context, by core.Principal, id core.AdmissionID) (core.Admission, error) {
	const op = "cancel"
	a, err := d.own(ctx, op, by, id)
	if err != nil {
		return a, err
	}
	o := core.Outcome{Result: core.Cancelled, Reason: core.ReasonDropped}
	if by.ID == a.By {
		o.Reason = core.ReasonDeleted
	}
	ended, err := d.store.Cancel(ctx, a.Conversation, o, id)
	switch {
	case err != nil:
		return a, err
	case len(ended) == 0:
		return a, core.Errorf(op, core.Conflict, "%s was taken up", id)
	}
	d.gone(ctx, ended)
	d.o.Wake(a.Conversation)
	return ended[0], nil
}

// gone takes back what rows that were cancelled have on offer, and finishes what those before them left.
func (d *Desk) gone(ctx context.Context, ended []core.Admission) {
	for _, a := range ended {
		d.o.Sessions.Withdraw(a.Conversation, a.ID)
		if a.RetryOf == "" {
			continue
		}
		if err := d.o.Forsaken(ctx, a); err != nil {
			d.o.Log.Warn("the live message of a turn that does not go on could not be finished", "admission", a.ID, "err", err)
		}
	}
}

// Edit replaces the text of a row that waits. Conflict: it does not wait any more.
func (d *Desk) Edit(ctx context.Context, by core.Principal, id core.AdmissionID, text string) error {
	const op = "edit"
	a, err := d.own(ctx, op, by, id)
	if err != nil {
		return err
	}
	a.Submission.Text = text
	s := normalize(a.Submission)
	if isBlank(s.Text) && len(s.Attachments) == 0 {
		return core.Errorf(op, core.Invalid, "an empty message")
	}
	if err := d.store.Amend(ctx, id, s.Text); err != nil {
		return err
	}
	d.o.Sessions.Reword(a.Conversation, id, s.Text)
	return nil
}

// Move puts a row that waits at place among the rows that wait in its conversation; 0 is the next to run.
func (d *Desk) Move(ctx context.Context, by core.Principal, id core.AdmissionID, place int) error {
	const op = "move"
	if place < 0 {
		return core.Errorf(op, core.Invalid, "place %d", place)
	}
	a, err := d.own(ctx, op, by, id)
	if err != nil {
		return err
	}
	if err := d.store.Move(ctx, id, place); err != nil {
		return err
	}
	d.o.Wake(a.Conversation)
	return nil
}

// SendNow puts a row that waits at the head and ends its hold.
func (d *Desk) SendNow(ctx context.Context, by core.Principal, id core.AdmissionID) error {
	a, err := d.own(ctx, "send now", by, id)
	if err != nil {
		return err
	}
	if err := d.store.Move(ctx, id, 0); err != nil {
		return err
	}
	if err := d.store.Unhold(ctx, id); err != nil {
		return err
	}
	d.o.Wake(a.Conversation)
	return nil
}

// Clear ends the rows of c that wait: all of them for who has control over the conversation, else by's own. It returns
// the rows it ended. reason is what they end with, for example core.ReasonNew.
func (d *Desk) Clear(ctx context.Context, by core.Principal, c core.ConversationID, reason core.Reason) ([]core.Admission, error) {
	ids, err := d.clearable(ctx, by, c)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	ended, err := d.store.Cancel(ctx, c, core.Outcome{Result: core.Cancelled, Reason: reason}, ids...)
	if err != nil {
		return nil, err
	}
	d.gone(ctx, ended)
	return ended, nil
}

// clearable names the rows, so that a message that is admitted meanwhile is not swept away with them.
func (d *Desk) clearable(ctx context.Context, by core.Principal, c core.ConversationID) ([]core.AdmissionID, error) {
	if by.ID == "" || !by.Can(core.CanSubmit) && !by.Can(core.CanControl) {
		return nil, core.Errorf("clear", core.Denied, "%s may not clear the queue", by.ID)
	}
	rows, err := d.store.Unsettled(ctx, c)
	if err != nil {
		return nil, err
	}
	var ids []core.AdmissionID
	for _, a := range rows {
		if a.Status == core.Queued && mayChange(by, a) {
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
}

// reword keeps an offer to steer in step with the row that was edited or deleted on its platform.
func (d *Desk) reword(a core.Admission) {
	if a.Status == core.Terminal {
		d.o.Sessions.Withdraw(a.Conversation, a.ID)
		return
	}
	d.o.Sessions.Reword(a.Conversation, a.ID, a.Submission.Text)
}
