package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bellhop/core"
	"bellhop/stream/markup"
)

// choices are the words people use for an approval.
func choiceOf(w string) (core.Choice, bool) {
	switch strings.ToLower(w) {
	case "", "once", "yes", "ok":
		return core.ChoiceOnce, true
	case "session":
		return core.ChoiceSession, true
	case "always":
		return core.ChoiceAlways, true
	}
	return "", false
}

// notHere refuses a password or a secret: what is written in a command is kept in the store.
const notHere = "Passwords and secrets are not taken here, because what is written here is kept. Answer on the page of this gateway " +
	"or in `bellhop chat`, or refuse with `/deny`."

func (t *Table) approve(ctx context.Context, c Call) (Answer, error) {
	q, rest, hint, err := t.question(ctx, c)
	if err != nil || hint != "" {
		return Answer{Text: hint}, err
	}
	switch {
	case q.Ask.Kind == core.Sudo || q.Ask.Kind == core.Secret:
		return say(notHere)
	case q.Ask.Kind != core.Approval && rest == "":
		return say("Write your answer after the command: `/approve " + short(q.ID) + " …`.")
	case q.Ask.Kind != core.Approval:
		return t.answer(ctx, c, q, rest)
	}
	choice, ok := choiceOf(rest)
	if !ok {
		return say("`/approve` takes `once`, `session` or `always`.")
	}
	return t.answer(ctx, c, q, string(choice))
}

// maxReason is how much of a reason, in graphemes, the model is told.
const maxReason = 500

func (t *Table) deny(ctx context.Context, c Call) (Answer, error) {
	q, reason, hint, err := t.question(ctx, c)
	if err != nil || hint != "" {
		return Answer{Text: hint}, err
	}
	if q.Ask.Kind != core.Approval {
		return t.answer(ctx, c, q, "")
	}
	return t.answer(ctx, c, q, core.Deny(markup.Clip(reason, maxReason)))
}

// question finds the open question that is meant: by its id or the end of it, else the only one of this conversation, else,
// for an admin, the only one there is. Nobody has meant one that was asked after the command was given. hint is what to say
// when none or several fit.
func (t *Table) question(ctx context.Context, c Call) (q core.Question, rest, hint string, err error) {
	first, after := word(c.Args)
	open, err := t.open(ctx, c)
	if err != nil {
		return q, "", "", err
	}
	if len(first) >= 4 {
		i := slices.IndexFunc(open, func(q core.Question) bool { return strings.HasSuffix(string(q.ID), strings.ToUpper(first)) })
		if i >= 0 {
			return open[i], after, "", nil
		}
		if looksLikeID(first) {
			return t.ended(ctx, core.QuestionID(strings.ToUpper(first)))
		}
	}
	open = slices.DeleteFunc(open, func(q core.Question) bool { return c.later(q.Created) })
	here := slices.DeleteFunc(slices.Clone(open), func(q core.Question) bool { return q.Conversation != c.Conversation.ID })
	if len(here) > 0 {
		open = here
	}
	switch len(open) {
	case 0:
		return q, "", "There is nothing to answer.", nil
	case 1:
		return open[0], strings.TrimSpace(c.Args), "", nil
	}
	return q, "", several(open), nil
}

// open lists the questions that the caller can see: those of the conversation, and for who may approve all others.
func (t *Table) open(ctx context.Context, c Call) ([]core.Question, error) {
	if c.By.Admin && c.By.Can(core.CanApprove) {
		return t.deps.Ask.Open(ctx, "")
	}
	if c.Conversation.ID == "" {
		return nil, nil
	}
	return t.deps.Ask.Open(ctx, c.Conversation.ID)
}

func (t *Table) ended(ctx context.Context, id core.QuestionID) (q core.Question, rest, hint string, err error) {
	q, err = t.deps.Store.Question(ctx, id)
	switch {
	case core.Is(err, core.NotFound):
		return q, "", "I know no such question.", nil
	case err != nil:
		return q, "", "", err
	}
	return q, "", closed(q), nil
}

func looksLikeID(s string) bool {
	return len(s) == 26 && strings.Trim(strings.ToUpper(s), "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}

func short(id core.QuestionID) string {
	s := string(id)
	return s[max(0, len(s)-6):]
}

func several(open []core.Question) string {
	var b strings.Builder
	b.WriteString("Which one?\n")
	for n, q := range open {
		if n == listLength {
			fmt.Fprintf(&b, "… and %d more\n", len(open)-n)
			break
		}
		fmt.Fprintf(&b, "- `/approve %s` – %s\n", short(q.ID), markup.Clip(q.Ask.Title, previewLength))
	}
	return b.String()
}

// answer answers q and says what came of it.
func (t *Table) answer(ctx context.Context, c Call, q core.Question, answer string) (Answer, error) {
	row, err := t.deps.Ask.Answer(ctx, c.By, q.ID, answer)
	switch {
	case core.Is(err, core.Conflict):
		return say(closed(row))
	case core.Is(err, core.Denied):
		return say("This is not yours to answer; the owner of this gateway is asked.")
	case err != nil:
		return Answer{}, err
	}
	return say(given(q, answer))
}

func given(q core.Question, answer string) string {
	if q.Ask.Kind != core.Approval {
		return "Thank you."
	}
	switch core.Choice(answer) {
	case core.ChoiceOnce:
		return "Allowed once."
	case core.ChoiceSession:
		return "Allowed for this session."
	case core.ChoiceAlways:
		return "Allowed from now on."
	}
	return "Denied – not run."
}

// closed tells why a question cannot be answered any more.
func closed(q core.Question) string {
	switch q.State {
	case core.QuestionExpired:
		return "Expired – not run."
	case core.QuestionDropped:
		return "Not needed any more – not run."
	}
	who := q.ByName
	if who == "" {
		who = string(q.By)
	}
	if who == "" {
		return "Already answered."
	}
	return "Already answered by " + named(who) + "."
}

// pressed answers a question by a button: a choice, or the number of one.
func (t *Table) pressed(ctx context.Context, c Call, id core.QuestionID, answer string) (string, error) {
	q, err := t.deps.Store.Question(ctx, id)
	if err != nil {
		return "", err
	}
	if q.Ask.Kind != core.Approval {
		n, err := strconv.Atoi(answer)
		if err != nil || n < 0 || n >= len(q.Ask.Choices) {
			return "", core.Errorf("press", core.Invalid, "no such choice")
		}
		answer = q.Ask.Choices[n]
	}
	a, err := t.answer(ctx, c, q, answer)
	return a.Text, err
}
