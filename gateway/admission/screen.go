package admission

import (
	"context"

	"bellhop/core"
)

// batch is a batch on its way through the door: in goes to the store, out is what the caller gets.
type batch struct {
	in     []core.Entry
	checks []check // of in
	out    []core.Admitted
	place  []int // of in within out
}

// check is the conversation an entry was authorized for; nothing when it needed no such check.
type check struct {
	needed bool
	found  core.ConversationID
}

// merge puts the store's answers where their entries stood.
func (b *batch) merge(got []core.Admitted) {
	for n, a := range got {
		if b.out[b.place[n]].Err == nil {
			b.out[b.place[n]] = a
		}
	}
}

// screen authorizes and normalizes each entry. The error is of the store.
func (d *Desk) screen(ctx context.Context, entries []core.Entry) (*batch, error) {
	n := len(entries)
	b := &batch{in: make([]core.Entry, 0, n), checks: make([]check, 0, n), out: make([]core.Admitted, n), place: make([]int, 0, n)}
	for i, e := range entries {
		c, err := d.authorize(ctx, e)
		if err == nil {
			e, err = d.prepare(e)
		}
		switch {
		case err == nil:
			b.in, b.checks, b.place = append(b.in, e), append(b.checks, c), append(b.place, i)
		case core.Is(err, core.Denied), core.Is(err, core.Invalid):
			b.out[i] = core.Admitted{Err: err, Into: "refused"}
			d.o.Log.Info("an input was refused", "platform", e.Submission.Surface, "request", e.Submission.RequestID, "err", err)
		default:
			return nil, err
		}
	}
	return b, nil
}

// runs tells whether an entry can make a turn run; the others are records of what was handled or refused elsewhere.
func runs(e core.Entry) bool { return e.Terminal == nil && e.Raw == nil }

// authorize checks by's right to add input. A platform's membership guards its own chats; where nothing answers through a
// platform, the conversation is local: its owner's.
func (d *Desk) authorize(ctx context.Context, e core.Entry) (check, error) {
	const op = "submit"
	if !runs(e) {
		return check{}, nil
	}
	if e.By.ID == "" || !e.By.Can(core.CanSubmit) {
		return check{}, core.Errorf(op, core.Denied, "%s may not submit", e.By.ID)
	}
	s := e.Submission
	if !s.Route.IsZero() || s.Group || e.By.Can(core.CanOperate) {
		return check{}, nil
	}
	c, err := d.store.Lookup(ctx, s.Key)
	switch {
	case core.Is(err, core.NotFound):
		return check{needed: true}, nil // it will be by's own
	case err != nil:
		return check{}, err
	}
	return check{needed: true, found: c.ID}, owns(e.By, c)
}

func owns(by core.Principal, c core.Conversation) error {
	if c.Group || c.Owner == "" || c.Owner == by.ID {
		return nil
	}
	return core.Errorf("submit", core.Denied, "%s does not own the conversation", by.ID)
}

// landed authorizes again where the commit resolved a key to another conversation than the check saw: the key was pointed
// elsewhere in between. A row that may not be there is ended before anybody is woken.
func (d *Desk) landed(ctx context.Context, b *batch, got []core.Admitted) error {
	for n := range got {
		a := &got[n]
		if c := b.checks[n]; !c.needed || !a.Fresh || a.Err != nil || a.Admission.Conversation == c.found {
			continue
		}
		conv, err := d.store.Conversation(ctx, string(a.Admission.Conversation), "")
		if err != nil {
			return err
		}
		denied := owns(b.in[n].By, conv)
		if denied == nil {
			continue
		}
		o := core.Outcome{Result: core.Rejected, Reason: core.ReasonRefused, Error: denied.Error()}
		if _, err := d.store.Cancel(ctx, a.Admission.Conversation, o, a.Admission.ID); err != nil {
			return err
		}
		b.out[b.place[n]] = core.Admitted{Err: denied, Into: "refused"}
	}
	return nil
}

// prepare normalizes an entry and fills what follows from its payload.
func (d *Desk) prepare(e core.Entry) (core.Entry, error) {
	s := normalize(e.Submission)
	if s.RequestID == "" && !e.Amend && !e.Delete {
		s.RequestID = newRequestID()
	}
	if runs(e) {
		if err := valid(e, s); err != nil {
			return e, err
		}
		if e.Cap == 0 {
			e.Cap = max(d.o.Cap, 0)
		}
	}
	e.Submission = s
	e.Digest = digest(s)
	return e, nil
}

func valid(e core.Entry, s core.Submission) error {
	const op = "submit"
	switch {
	case s.Key == "":
		return core.Errorf(op, core.Invalid, "no conversation key")
	case s.Source == "":
		return core.Errorf(op, core.Invalid, "no source")
	case e.Delete:
		return nil
	case isBlank(s.Text) && isBlank(s.APIText) && len(s.Attachments) == 0:
		return core.Errorf(op, core.Invalid, "an empty message")
	}
	return nil
}
