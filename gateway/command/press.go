package command

import (
	"context"
	"strings"

	"bellhop/core"
)

// Press does what a button stands for and returns a short text to show at once. Data is "stop:ADMISSION",
// "ans:QUESTION:CHOICE", "fate:ADMISSION:done|retry|drop", or "q:rm|now|steer:ADMISSION"; other data is Invalid.
func (t *Table) Press(ctx context.Context, c Call, data string) (string, error) {
	verb, rest, _ := strings.Cut(data, ":")
	id, what, _ := strings.Cut(rest, ":")
	switch verb {
	case "stop":
		return t.pressStop(ctx, c, core.AdmissionID(id))
	case "ans":
		return t.pressed(ctx, c, core.QuestionID(id), what)
	case "fate":
		return t.settle(ctx, c, core.AdmissionID(id), what)
	case "q":
		return t.pressQueue(ctx, c, id, core.AdmissionID(what))
	}
	return "", core.Errorf("press", core.Invalid, "a button without a meaning")
}

// Halts reports whether a button stops a turn: then it may be obeyed before its press is stored.
func Halts(data string) bool { return strings.HasPrefix(data, stopPress) }

const stopPress = "stop:"

// pressStop stops one turn, and what goes on from it after a crash, but never a later one.
func (t *Table) pressStop(ctx context.Context, c Call, id core.AdmissionID) (string, error) {
	a, err := t.deps.Store.Admission(ctx, id)
	switch {
	case err != nil:
		return "", err
	case a.By != c.By.ID && !c.By.Can(core.CanControl):
		return "", core.Errorf("stop", core.Denied, "%s did not start it", c.By.ID)
	}
	if a.Status == core.Queued { // a turn has a button, and this is none yet
		return "It has not begun.", nil
	}
	for a.Outcome.Reason == core.ReasonRetried {
		if a, err = t.heir(ctx, a); err != nil {
			return "", err
		}
	}
	why := core.Interrupt{Reason: core.ReasonStopped, By: c.By.ID}
	if a.Status == core.Queued { // it goes on as soon as it can
		_, err = t.deps.Desk.Cancel(ctx, c.By, a.ID)
		if !core.Is(err, core.Conflict) { // it has begun
			return PressStopped, err
		}
	}
	if a.ID != "" && t.deps.Sessions.InterruptTurn(a.Conversation, a.ID, why) || t.cutShort(ctx, c, a, why) {
		return PressStopped, nil
	}
	return "It has ended already.", nil
}

// PressStopped is said when a button has stopped a turn.
const PressStopped = "Stopped."

// cutShort keeps a turn that was cut off from going on. Who reads it back now learns it from the registry, who does so
// later from the press, once that is a row; see Stopped.
func (t *Table) cutShort(ctx context.Context, c Call, a core.Admission, why core.Interrupt) bool {
	now, err := t.deps.Store.Admission(ctx, a.ID)
	if err != nil || now.Status != core.Unknown && now.Status != core.Started {
		return false
	}
	live := t.deps.Sessions.Forestall(a.Conversation, a.ID, why)
	return live || !c.Early
}

// heir finds the row that goes on from a, which was cut off; the zero Admission when none does.
func (t *Table) heir(ctx context.Context, a core.Admission) (core.Admission, error) {
	rows, err := t.deps.Store.Recent(ctx, a.Conversation, lookBack)
	for _, r := range rows {
		if r.RetryOf == a.ID {
			return r, err
		}
	}
	return core.Admission{}, err
}

func (t *Table) pressQueue(ctx context.Context, c Call, what string, id core.AdmissionID) (string, error) {
	var err error
	done := ""
	switch what {
	case "rm":
		_, err = t.deps.Desk.Cancel(ctx, c.By, id)
		done = "Removed."
	case "now":
		err = t.deps.Desk.SendNow(ctx, c.By, id)
		done = "It is next."
	case "steer":
		done, err = t.pressSteer(ctx, c, id)
	default:
		return "", core.Errorf("press", core.Invalid, "a button without a meaning")
	}
	if core.Is(err, core.Conflict) {
		return "It is not waiting any more.", nil
	}
	return done, err
}

func (t *Table) pressSteer(ctx context.Context, c Call, id core.AdmissionID) (string, error) {
	a, err := t.deps.Store.Admission(ctx, id)
	switch {
	case err != nil:
		return "", err
	case a.By != c.By.ID && !c.By.Can(core.CanControl):
		return "", core.Errorf("steer", core.Denied, "%s did not write it", c.By.ID)
	case a.Status != core.Queued:
		return "", core.Errorf("steer", core.Conflict, "%s is %s", id, a.Status)
	case t.deps.Sessions.Steer(a.Conversation, id, a.Submission.Text):
		return "I take it into account; if it is too late for that, it is answered next.", nil
	}
	return "Nothing is running; it stays in the queue.", nil
}
