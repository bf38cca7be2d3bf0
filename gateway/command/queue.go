package command

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"bellhop/core"
	"bellhop/stream/markup"
)

const (
	previewLength = 60 // graphemes of a message in a list
	listLength    = 10 // rows named in a list
	buttonRows    = 4  // rows of a list that get buttons
)

func queued(rows []core.Admission) []core.Admission {
	var out []core.Admission
	for _, r := range rows {
		if r.Status == core.Queued {
			out = append(out, r)
		}
	}
	return out
}

func (t *Table) waiting(ctx context.Context, c core.ConversationID) ([]core.Admission, error) {
	if c == "" {
		return nil, nil
	}
	rows, err := t.deps.Store.Unsettled(ctx, c)
	return queued(rows), err
}

// numbered lists rows with their numbers and first words.
func numbered(rows []core.Admission) string {
	var b strings.Builder
	for n, r := range rows {
		if n == listLength {
			fmt.Fprintf(&b, "… and %d more\n", len(rows)-n)
			break
		}
		fmt.Fprintf(&b, "%d. %s\n", n+1, firstWords(r))
	}
	return b.String()
}

// firstWords is the first line of a message, without markup. An edit changes the text and not the title, which is for
// messages without a text.
func firstWords(r core.Admission) string {
	text, _, _ := strings.Cut(strings.TrimSpace(r.Submission.Text), "\n")
	text = strings.Join(strings.Fields(cmp.Or(text, r.Submission.Title)), " ")
	if text == "" {
		return "(no text)"
	}
	return "`" + strings.ReplaceAll(markup.Clip(text, previewLength), "`", "'") + "`"
}

func (t *Table) queue(ctx context.Context, c Call) (Answer, error) {
	verb, rest := word(c.Args)
	switch strings.ToLower(verb) {
	case "", "list":
		return t.showQueue(ctx, c)
	case "edit":
		n, text := word(rest)
		return t.onRow(ctx, c, n, func(r core.Admission) (Answer, error) {
			if text == "" {
				return say("Write the new text after the number: `/queue edit " + n + " text`.")
			}
			if err := t.deps.Desk.Edit(ctx, c.By, r.ID, text); err != nil {
				return Answer{}, err
			}
			return say("Message " + n + " is changed.")
		})
	case "rm":
		return t.onRow(ctx, c, rest, func(r core.Admission) (Answer, error) {
			if _, err := t.deps.Desk.Cancel(ctx, c.By, r.ID); err != nil {
				return Answer{}, err
			}
			return say("Removed: " + firstWords(r))
		})
	case "clear":
		if c.Conversation.ID == "" {
			return say("Nothing is waiting.")
		}
		gone, err := t.clear(ctx, c, core.ReasonDropped)
		if err != nil {
			return Answer{}, err
		}
		return say(strings.TrimSpace(cleared(gone)))
	}
	s, busy, _ := t.Turn(c)
	return Answer{Submit: &s, Busy: busy}, nil
}

// Turn returns the submission that a command is nothing but another form of: /queue TEXT and /steer TEXT. A door that
// stores input in batches admits it at once, in one row with the command's own request id. ok is false for all others.
func (t *Table) Turn(c Call) (s core.Submission, busy string, ok bool) {
	s = c.Submission
	s.Text = strings.TrimSpace(c.Args)
	if s.Text == "" {
		return s, "", false
	}
	switch c.Name {
	case "steer":
		return s, "steer", true
	case "queue":
		switch verb, _ := word(c.Args); strings.ToLower(verb) {
		case "list", "edit", "rm", "clear":
			return s, "", false
		}
		return s, "queue", true
	}
	return s, "", false
}

func (t *Table) showQueue(ctx context.Context, c Call) (Answer, error) {
	rows, err := t.waiting(ctx, c.Conversation.ID)
	if err != nil || len(rows) == 0 {
		return Answer{Text: "Nothing is waiting."}, err
	}
	a := Answer{Text: "Waiting:\n" + numbered(rows)}
	for n, r := range rows {
		if n == buttonRows {
			break
		}
		num := strconv.Itoa(n + 1)
		a.Buttons = append(a.Buttons,
			core.Button{Label: num + " first", Data: "q:now:" + string(r.ID), Row: n},
			core.Button{Label: num + " remove", Data: "q:rm:" + string(r.ID), Row: n})
	}
	return a, nil
}

// onRow runs fn on the row that number n of the list names.
func (t *Table) onRow(ctx context.Context, c Call, n string, fn func(core.Admission) (Answer, error)) (Answer, error) {
	rows, err := t.waiting(ctx, c.Conversation.ID)
	if err != nil {
		return Answer{}, err
	}
	i, err := strconv.Atoi(n)
	switch {
	case c.Again: // the numbers may have moved
		return say("I was restarted just then, and do not know whether that was done. Look at `/queue`.")
	case len(rows) == 0:
		return say("Nothing is waiting.")
	case err != nil || i < 1 || i > len(rows):
		return say(fmt.Sprintf("Which one? Give a number from 1 to %d; `/queue` lists them.", len(rows)))
	}
	return fn(rows[i-1])
}

func (t *Table) steer(_ context.Context, c Call) (Answer, error) {
	s, busy, ok := t.Turn(c)
	if !ok {
		return say("Write what I should know after the command: `/steer use the other file`.")
	}
	return Answer{Submit: &s, Busy: busy}, nil
}
