package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
	"bellhop/stream/markup"
)

// here returns the conversation of the call, and makes it when nobody has spoken there yet.
func (t *Table) here(ctx context.Context, c Call) (core.ConversationID, error) {
	if c.Conversation.ID != "" {
		return c.Conversation.ID, nil
	}
	made, err := t.deps.Store.Bind(ctx, c.Key, "", c.By.ID, c.Submission.Surface)
	return made.ID, err
}

func (t *Table) modelOf(c Call) string {
	return "`" + cmp.Or(c.Conversation.Model, t.deps.Model, "the built-in one") + "`"
}

func (t *Table) model(ctx context.Context, c Call) (Answer, error) {
	var names []string
	if t.deps.Models != nil {
		names = t.deps.Models()
	}
	name, _ := word(c.Args)
	switch {
	case name == "":
		text := "I answer with " + t.modelOf(c) + "."
		if len(names) > 1 {
			text += " There are: `" + strings.Join(names, "`, `") + "`. `/model default` goes back."
		}
		return say(text)
	case strings.EqualFold(name, "default"):
		name = ""
	case !slices.Contains(names, name):
		text := "I have no model called `" + strings.ReplaceAll(markup.Clip(name, previewLength), "`", "'") + "`."
		if len(names) > 0 {
			text += " There are: `" + strings.Join(names, "`, `") + "`."
		}
		return say(text)
	}
	id, err := t.here(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	if _, err := t.deps.Store.Edit(ctx, id, func(v *core.Conversation) { v.Model = name }); err != nil {
		return Answer{}, err
	}
	return say("From the next message on I answer with `" + cmp.Or(name, t.deps.Model, "the built-in one") + "`.")
}

func (t *Table) busyOf(c Call) string { return cmp.Or(c.Conversation.Busy, t.deps.Busy, "queue") }

func busyWords(mode string) string {
	switch mode {
	case "steer":
		return "are taken into account at once"
	case "interrupt":
		return "replace what I do"
	}
	return "wait their turn"
}

func (t *Table) busy(ctx context.Context, c Call) (Answer, error) {
	mode, _ := word(c.Args)
	mode = strings.ToLower(mode)
	switch mode {
	case "":
		return say("While I work, messages " + busyWords(t.busyOf(c)) + " (`" + t.busyOf(c) + "`). You can choose `queue`, `steer` or `interrupt`.")
	case "queue", "steer", "interrupt":
	default:
		return say("There are `queue` (messages wait), `steer` (they are taken into account at once) and `interrupt` (they replace what I do).")
	}
	id, err := t.here(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	if _, err := t.deps.Store.Edit(ctx, id, func(v *core.Conversation) { v.Busy = mode }); err != nil {
		return Answer{}, err
	}
	return say("From now on, messages " + busyWords(mode) + ".")
}

func (t *Table) usage(_ context.Context, c Call) (Answer, error) {
	v := c.Conversation
	if v.Turns == 0 {
		return say("Nothing has been spent here yet.")
	}
	u := v.Usage
	text := fmt.Sprintf("%d answers, %d model calls, %d tokens read", v.Turns, u.Calls, u.Input)
	if u.CacheRead > 0 {
		text += fmt.Sprintf(" (%d of them cached)", u.CacheRead)
	}
	text += fmt.Sprintf(", %d written.", u.Output)
	if u.Cost > 0 {
		about := ""
		if u.Estimated {
			about = "about "
		}
		text += fmt.Sprintf(" Cost: %s$%.4f.", about, u.Cost)
	}
	return say(text)
}
