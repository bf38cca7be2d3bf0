package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// interrupt ends what runs, with reason. stopped is false when nothing did, ended is empty when it only waited to begin. Who
// has control, and everybody in a chat of two, ends whatever runs or comes next; anybody else their own turn, and no other
// that may run by the time it is told. What was claimed after a command that is repeated was not meant.
func (t *Table) interrupt(ctx context.Context, c Call, reason core.Reason) (ended core.AdmissionID, stopped bool, err error) {
	id, why := c.Conversation.ID, core.Interrupt{Reason: reason, By: c.By.ID, Told: !c.Submission.Route.IsZero()}
	if id == "" {
		return "", false, nil
	}
	anything := c.By.Can(core.CanControl) || !c.Conversation.Group
	if anything && !c.Again {
		ended, stopped = t.deps.Sessions.Interrupt(id, why)
		return ended, stopped, nil
	}
	status, live := t.deps.Sessions.Status(id)
	if !live || status.Admission == "" {
		return "", false, nil
	}
	a, err := t.deps.Store.Admission(ctx, status.Admission)
	switch {
	case err != nil:
		return "", false, err
	case c.Again && c.later(a.Claimed):
		return "", false, nil
	case !anything && a.By != c.By.ID:
		return "", false, core.Errorf("stop", core.Denied, "%s did not start what runs", c.By.ID)
	}
	return a.ID, t.deps.Sessions.InterruptTurn(id, a.ID, why), nil
}

// empty ends what waits and then what runs: the other way round, the first of what waits would run in between.
func (t *Table) empty(ctx context.Context, c Call, reason core.Reason) (gone []core.Admission, stopped bool, err error) {
	if gone, err = t.clear(ctx, c, reason); err != nil {
		return nil, false, err
	}
	_, stopped, err = t.interrupt(ctx, c, reason)
	return gone, stopped, err
}

// clear ends what waits. Of a command that is repeated it ends what waited when it was given.
func (t *Table) clear(ctx context.Context, c Call, reason core.Reason) (gone []core.Admission, err error) {
	if !c.Again {
		return t.deps.Desk.Clear(ctx, c.By, c.Conversation.ID, reason)
	}
	rows, err := t.waiting(ctx, c.Conversation.ID)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if c.later(r.Created) {
			continue
		}
		ended, err := t.deps.Desk.Cancel(ctx, c.By, r.ID)
		switch {
		case err == nil:
			gone = append(gone, ended)
		case !core.Is(err, core.Conflict) && !core.Is(err, core.Denied): // begun meanwhile, or another's
			return gone, err
		}
	}
	return gone, nil
}

// lookBack is how many of a conversation's newest rows may hold a stop that its turn did not live to obey.
const lookBack = 64

// Stopped reports whether somebody who may has asked to stop row since it was claimed. Commands and presses are rows, so
// this is known when the process that took them is gone, and the turn with it. A stop that was carried out before it was
// stored names what it has stopped: what was claimed since is not that. s is a core.Store.
func Stopped(ctx context.Context, s interface {
	Recent(ctx context.Context, c core.ConversationID, limit int) ([]core.Admission, error)
}, row core.Admission) (bool, error) {
	rows, err := s.Recent(ctx, row.Conversation, lookBack)
	for _, r := range rows {
		named, late := r.Submission.Stops, r.Created.Before(row.Claimed)
		if r.Outcome.Reason == core.ReasonCommand && (named == row.ID || named == "" && !late && stops(r, row)) {
			return true, err
		}
	}
	return false, err
}

// stops reports whether a command or a press stops what runs for row, if it is of somebody who may.
func stops(asked, row core.Admission) bool {
	by := asked.Principal()
	own := by.ID == row.By || by.Can(core.CanControl)
	text := asked.Submission.Text
	if id, ok := strings.CutPrefix(text, stopPress); ok {
		return own && id == string(row.ID)
	}
	name, _ := word(text)
	name, _, _ = strings.Cut(strings.ToLower(name), "@")
	return (own || !row.Submission.Group) && (name == "/stop" || name == "/new")
}

func (t *Table) stop(ctx context.Context, c Call) (Answer, error) {
	if what, _ := word(c.Args); strings.EqualFold(what, "all") && c.Conversation.ID != "" {
		gone, stopped, err := t.empty(ctx, c, core.ReasonStopped)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Text: stoppedWords(stopped) + cleared(gone), Stopped: stopped}, nil
	}
	ended, stopped, err := t.interrupt(ctx, c, core.ReasonStopped)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Text: stoppedWords(stopped), Stopped: stopped, Ended: ended}
	if c.Conversation.ID == "" {
		return a, nil
	}
	rows, err := t.deps.Store.Unsettled(ctx, c.Conversation.ID)
	if err != nil {
		if stopped { // an error would say that it was not, and have it repeated
			return a, nil
		}
		return Answer{}, err
	}
	if !stopped && cutOff(rows) != "" {
		a.Text += " What was cut off does not go on."
	}
	if rows = waited(rows, ended); len(rows) > 0 {
		a.Text += " Still waiting:\n" + numbered(rows) + "\n`/stop all` clears them."
	}
	return a, nil
}

// waited lists what waited when ended was stopped: the first of it may have begun since.
func waited(rows []core.Admission, ended core.AdmissionID) []core.Admission {
	return slices.DeleteFunc(rows, func(r core.Admission) bool {
		return r.Status != core.Queued && (ended == "" || r.ID == ended || r.Status != core.Started)
	})
}

func stoppedWords(stopped bool) string {
	if stopped {
		return "Stopped."
	}
	return "Nothing is running."
}

func cleared(gone []core.Admission) string {
	switch len(gone) {
	case 0:
		return " No message was waiting."
	case 1:
		return " The message that waited will not be answered:\n" + numbered(gone)
	}
	return fmt.Sprintf(" %d messages that waited will not be answered:\n", len(gone)) + numbered(gone)
}

// fresh is /new: what runs is stopped, what waits is cancelled, and the key points to a new conversation.
func (t *Table) fresh(ctx context.Context, c Call) (Answer, error) {
	text := "A new conversation. I start without what was said before."
	if c.Conversation.ID != "" {
		gone, stopped, err := t.empty(ctx, c, core.ReasonNew)
		if err != nil {
			return Answer{}, err
		}
		if stopped {
			text += " What I was doing is stopped."
		}
		if len(gone) > 0 {
			text += cleared(gone)
		}
	}
	surface := c.Submission.Surface
	if _, err := t.deps.Store.Bind(ctx, c.Key, "", c.By.ID, surface); err != nil {
		return Answer{}, err
	}
	return say(text)
}

func (t *Table) status(ctx context.Context, c Call) (Answer, error) {
	if c.Conversation.ID == "" {
		return say("I am here. Nothing has been said yet.")
	}
	var b strings.Builder
	live, ok := t.deps.Sessions.Status(c.Conversation.ID)
	switch {
	case !ok || live.Turn == "":
		b.WriteString("Nothing is running.")
	case live.WaitingForPerson:
		fmt.Fprintf(&b, "I am waiting for an answer, for %s so far.", ago(live.Since))
	default:
		doing := live.Doing
		if doing == "" {
			doing = "at work"
		}
		fmt.Fprintf(&b, "I am %s, for %s so far.", doing, ago(live.Since))
	}
	rows, err := t.deps.Store.Unsettled(ctx, c.Conversation.ID)
	if err != nil {
		return Answer{}, err
	}
	waiting := queued(rows)
	if len(waiting) > 0 {
		fmt.Fprintf(&b, "\nWaiting:\n%s", numbered(waiting))
	}
	for _, r := range rows {
		if r.Status == core.Unknown {
			fmt.Fprintf(&b, "\nOne turn was cut off and its fate is yours to decide: `/resolve %s done`, `retry` or `drop`.", r.ID)
		}
	}
	fmt.Fprintf(&b, "\nModel: %s. While I work, messages %s.", t.modelOf(c), busyWords(t.busyOf(c)))
	return say(b.String())
}

// ago is the time since at, as people say it.
func ago(at time.Time) string {
	d := time.Since(at)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

func (t *Table) resolve(ctx context.Context, c Call) (Answer, error) {
	id, how := word(c.Args)
	if how == "" {
		id, how = "", id
	}
	how = strings.ToLower(how)
	switch how {
	case "done", "retry", "drop":
	default:
		return say("Say what became of it: `/resolve done` (it happened), `/resolve retry` (run it again) or `/resolve drop` (leave it).")
	}
	if id == "" {
		row, err := t.undecided(ctx, c)
		if err != nil || row == "" {
			return Answer{Text: "No turn of this conversation was cut off."}, err
		}
		id = string(row)
	}
	text, err := t.settle(ctx, c, core.AdmissionID(strings.ToUpper(id)), how)
	return Answer{Text: text}, err
}

// undecided finds the turn of the conversation whose fate is unknown.
func (t *Table) undecided(ctx context.Context, c Call) (core.AdmissionID, error) {
	if c.Conversation.ID == "" {
		return "", nil
	}
	rows, err := t.deps.Store.Unsettled(ctx, c.Conversation.ID)
	rows = slices.DeleteFunc(rows, func(r core.Admission) bool { return c.later(r.Claimed) })
	return cutOff(rows), err
}

func cutOff(rows []core.Admission) core.AdmissionID {
	for _, r := range rows {
		if r.Status == core.Unknown {
			return r.ID
		}
	}
	return ""
}

// settle ends a turn that was cut off as the caller says, and returns words for it.
func (t *Table) settle(ctx context.Context, c Call, id core.AdmissionID, how string) (string, error) {
	row, err := t.deps.Store.Admission(ctx, id)
	if err != nil {
		return "", err
	}
	_, err = t.deps.Fate.Resolve(ctx, c.By, id, how)
	switch {
	case core.Is(err, core.Conflict):
		return "That was settled already.", nil
	case err != nil:
		return "", err
	}
	if t.deps.Wake != nil {
		t.deps.Wake(row.Conversation)
	}
	switch how {
	case "done":
		return "Noted as done.", nil
	case "retry":
		return "I try it again.", nil
	}
	return "Dropped.", nil
}
