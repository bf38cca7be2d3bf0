package turn

import (
	"slices"
	"strings"

	"bellhop/core"
	"bellhop/core/tool"
)

// close ends a turn, however it ends: the outcome with the words for a person, and the rows that make the transcript
// whole. After a lost lease nothing is written and nothing is said.
func (r *Runner) close(t *state, why core.Reason) (core.Outcome, []core.Message) {
	t.uncertain = t.uncertain || t.dangling(why)
	o := core.Outcome{Result: t.result(why), Reason: why, Usage: t.usage, Uncertain: t.uncertain}
	if t.cause != nil && o.Result != core.Completed {
		o.Error = tool.Shorten(tool.Repair(t.cause.Error()), 1000)
	}
	if why == core.ReasonLeaseLost {
		t.log.Warn("a turn lost its lease", "err", o.Error)
		return o, nil
	}
	if o.Result == core.Failed {
		o.Ref = t.row.ID.Ref()
		t.log.Error("a turn failed", "reason", why, "ref", o.Ref, "err", o.Error)
	}
	closing := t.message(core.RoleAssistant)
	closing.Reasoning = t.thought
	switch shown := t.shown.text(); {
	case t.final != "":
		o.Text = tool.Repair(t.final)
	case why == core.ReasonSilent:
		closing.Synthetic, closing.APIContent = true, "[Nothing more to say.]"
	default:
		shown = longer(shown, t.shown.seen())
		o.Text = joined(whole(shown), t.farewell(why, o.Ref, shown != ""))
		closing.Synthetic = shown == ""
		closing.APIContent = joined(shown, "[This turn ended here: "+string(why)+".]")
	}
	closing.Content = o.Text
	return o, append(t.missing(), closing)
}

// dangling reports whether a call with an effect ran whose result our own fault kept out of the transcript.
func (t *state) dangling(why core.Reason) bool {
	if why != core.ReasonPersistence && why != core.ReasonPanic {
		return false
	}
	return slices.ContainsFunc(t.round, func(c *call) bool { return c.begun && !c.stored && c.effect != core.ReadOnly })
}

// result is how the row ends for a reason.
func (t *state) result(why core.Reason) core.Result {
	switch why {
	case core.ReasonAnswered, core.ReasonSilent:
		return core.Completed
	case core.ReasonBudget:
		if t.final == "" {
			return core.Failed
		}
		return core.Completed
	case core.ReasonTime:
		if t.final == "" {
			return core.Interrupted
		}
		return core.Completed
	case core.ReasonPersistence, core.ReasonProvider, core.ReasonOverflow, core.ReasonPanic, core.ReasonGuard:
		return core.Failed
	}
	return core.Interrupted
}

// missing makes the rows that the transcript lacks: the user message when the turn did not come so far, and a result for
// every call of the round.
func (t *state) missing() []core.Message {
	var rows []core.Message
	if t.unheard != nil {
		rows = append(rows, *t.unheard)
	}
	for _, c := range t.round {
		if c.stored {
			continue
		}
		if c.ended == nil {
			c.refuse(fateSkipped, textSkipped)
		}
		rows = append(rows, c.message(t))
	}
	return rows
}

// longer returns what people see: the attempt under way, or what an earlier one had shown beyond it.
func longer(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}

// whole closes a code fence that was cut open, so that what follows is not taken for code.
func whole(text string) string {
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, f := range []string{"```", "~~~"} {
			switch {
			case !strings.HasPrefix(line, f) || open != "" && open != f:
			case open == f:
				open = ""
			default:
				open = f
			}
		}
	}
	if open == "" {
		return text
	}
	return strings.TrimSuffix(text, "\n") + "\n" + open
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
