package ask

import (
	"context"
	"slices"
	"time"

	"bellhop/core"
)

// given stands in the row for an answer that is not written down.
const given = "(given)"

// secret is an answer that waits in memory for its turn.
type secret struct {
	value string
	until time.Time
}

// Answer ends a question. The first answer wins, at whichever door. Errors: NotFound; Denied; Invalid when the answer is
// none of an approval's choices; Conflict when the question is not open any more, the row as it ended comes back beside it.
func (d *Desk) Answer(ctx context.Context, by core.Principal, id core.QuestionID, answer string) (core.Question, error) {
	const op = "answer"
	q, err := d.rows.Question(ctx, id)
	if err != nil {
		return q, err
	}
	if !may(by, q) {
		return core.Question{}, core.Errorf(op, core.Denied, "%s may not answer %s", by.ID, id)
	}
	if q.State != core.QuestionOpen {
		return q, core.Errorf(op, core.Conflict, "%s is %s", id, q.State)
	}
	if choice, _ := core.ReadChoice(answer); q.Ask.Kind == core.Approval && !slices.Contains(choices, choice) {
		return q, core.Errorf(op, core.Invalid, "no such choice")
	}
	if !time.Now().Before(q.Deadline) {
		d.expire(ctx) // what was promised at the deadline counts, not who is quicker now
	}
	row, err := d.store(ctx, by, q, answer)
	if err != nil {
		return row, err
	}
	d.end(ctx, row)
	return row, nil
}

// store writes the answer. The value of a hidden one stays in memory: it is kept in the same breath as the row says that
// it was given, so that whoever sees the row finds the value of the answer that won.
func (d *Desk) store(ctx context.Context, by core.Principal, q core.Question, answer string) (core.Question, error) {
	if !hidden(q.Ask.Kind) {
		return d.rows.Answer(ctx, q.ID, answer, by)
	}
	d.giving.Lock()
	defer d.giving.Unlock()
	row, err := d.rows.Answer(ctx, q.ID, given, by)
	if err == nil {
		d.secrets[q.ID] = secret{value: answer, until: q.Deadline}
	}
	return row, err
}

var choices = []core.Choice{core.ChoiceOnce, core.ChoiceSession, core.ChoiceAlways, core.ChoiceDeny}

// may reports whether by may answer q. The row's kind and author never change, so the check holds until the store has
// found the row open.
func may(by core.Principal, q core.Question) bool {
	if by.ID == "" {
		return false
	}
	operator := by.Admin && by.Can(core.CanOperate)
	author := by.ID == q.For
	switch q.Ask.Kind {
	case core.Approval, core.Sudo:
		return by.Can(core.CanApprove) && (operator || author && by.Admin)
	case core.Fate:
		return false
	}
	return by.Can(core.CanRespond) && (operator || author)
}

func hidden(k core.QuestionKind) bool { return k == core.Sudo || k == core.Secret }

// result is what the turn gets: the row with the answer filled in.
func (d *Desk) result(q core.Question) core.Question {
	switch {
	case q.State == core.QuestionAnswered && hidden(q.Ask.Kind):
		d.giving.Lock()
		defer d.giving.Unlock()
		q.Answer = d.secrets[q.ID].value
		delete(d.secrets, q.ID)
	case q.State != core.QuestionAnswered && q.Ask.Kind == core.Approval:
		q.Answer = string(core.ChoiceDeny)
	case q.State != core.QuestionAnswered:
		q.Answer = ""
	}
	return q
}

// Open lists the open questions of c, or of all conversations when c is empty, oldest first.
func (d *Desk) Open(ctx context.Context, c core.ConversationID) ([]core.Question, error) {
	return d.rows.Asking(ctx, c)
}

// Drop ends the open questions of an admission whose turn wants no answer any more. It also works when ctx has ended.
func (d *Desk) Drop(ctx context.Context, a core.AdmissionID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	dropped, err := d.rows.Drop(ctx, a)
	if err != nil {
		d.log.Warn("the questions of a turn could not be dropped; they expire", "admission", a, "err", err)
		return
	}
	for _, q := range dropped {
		d.end(ctx, q)
	}
}
