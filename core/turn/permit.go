package turn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/core/tool"
)

// maxDetail is how much of a call, in bytes, a person is shown who must decide about it.
const maxDetail = 8000

const (
	textDenied  = "The person did not allow this, so it was not run. Do not try to reach the same in another way; say what you could not do."
	textExpired = "Nobody answered in time, so this was not run. Say what you could not do."
	textNobody  = "This needs a person's approval, and nobody can be asked here, so it was not run."
	textUnasked = "The person could not be asked, so this was not run."
)

// permit gets leave for the calls that need it. What is denied has its result then.
func (r *Runner) permit(ctx context.Context, t *state, part []*call) core.Reason {
	for _, c := range part {
		if c.ended != nil {
			continue
		}
		switch r.ruling(ctx, t, c) {
		case tool.Allow:
		case tool.Forbid:
			c.refuse(fateDenied, forbidden("is on the list of what must not be run"))
		default:
			if end := r.consult(ctx, t, c); end != going {
				return end
			}
		}
	}
	return going
}

// ruling is what the standing rules and earlier answers make of a call.
func (r *Runner) ruling(ctx context.Context, t *state, c *call) tool.Verdict {
	v := c.risk.Verdict
	if c.risk.Key == "" {
		return v
	}
	if r.o.Standing != nil {
		ruled, err := r.o.Standing.Ruling(ctx, c.risk)
		if err != nil {
			t.log.Warn("standing approvals cannot be read; the person is asked", "call", c.ID, "err", err)
			return v
		}
		if ruled == tool.Allow || ruled == tool.Forbid {
			return ruled
		}
	}
	if t.granted[c.risk.Key] {
		return tool.Allow
	}
	return v
}

// consult asks a person about one call.
func (r *Runner) consult(ctx context.Context, t *state, c *call) core.Reason {
	if r.o.Asker == nil {
		c.refuse(fateDenied, textNobody)
		return going
	}
	if c.state == core.CallRecorded {
		if _, end := r.append(ctx, t, core.Batch{Calls: []core.Call{c.row(t, core.CallAsked)}}); end != going {
			return end
		}
		c.state = core.CallAsked
	}
	crash.Point(crash.AfterAsk)
	q, err := r.wait(ctx, t, t.question(c))
	switch end := interrupted(ctx); {
	case end != going:
		return end
	case err != nil:
		t.log.Error("a person could not be asked", "call", c.ID, "err", err)
		c.refuse(fateDenied, textUnasked)
	case q.State != core.QuestionAnswered:
		c.refuse(fateDenied, textExpired)
	default:
		r.answered(ctx, t, c, q)
		crash.Point(crash.AfterAnswer)
	}
	return going
}

// wait asks; the time it takes is nobody's.
func (r *Runner) wait(ctx context.Context, t *state, q core.Question) (core.Question, error) {
	begun := time.Now()
	t.waiting(true)
	defer func() {
		t.waiting(false)
		t.budget.waited(time.Since(begun))
	}()
	return r.o.Asker.Ask(ctx, q)
}

func (t *state) waiting(on bool) {
	if t.in.Waiting != nil {
		t.in.Waiting(on)
	}
}

func (t *state) question(c *call) core.Question {
	ask := core.Ask{Kind: core.Approval, Call: c.ID, Tool: c.Name, Title: title(c.spec), Detail: c.risk.Detail,
		Risk: c.risk.Why, Key: c.risk.Key,
		Choices: []string{string(core.ChoiceOnce), string(core.ChoiceSession), string(core.ChoiceAlways), string(core.ChoiceDeny)}}
	if ask.Detail == "" {
		ask.Detail = c.risk.Summary
	}
	if ask.Detail = tool.Repair(ask.Detail); len(ask.Detail) > maxDetail {
		ask.Detail = fmt.Sprintf("%s\n[%d bytes in all: the end is not shown]", tool.Shorten(ask.Detail, maxDetail), len(ask.Detail))
	}
	if rememberedAs(c.risk) == "" {
		ask.Choices = []string{string(core.ChoiceOnce), string(core.ChoiceDeny)}
	}
	return core.Question{Conversation: t.row.Conversation, Admission: t.row.ID, Turn: t.in.Fence.Turn, Ask: ask, For: t.row.By}
}

func title(s tool.Spec) string {
	if s.Verb != "" {
		return s.Verb + " — allow it?"
	}
	return "Use the tool " + s.Name + "?"
}

// rememberedAs is the key that an approval beyond once is kept under, "" when there is none.
func rememberedAs(r tool.Risk) string {
	if r.Once {
		return ""
	}
	return r.Key
}

// answered does what the person chose. An answer that cannot be remembered still counts once.
func (r *Runner) answered(ctx context.Context, t *state, c *call, q core.Question) {
	key := rememberedAs(c.risk)
	var err error
	choice, reason := core.ReadChoice(q.Answer)
	switch choice {
	case core.ChoiceOnce:
	case core.ChoiceSession:
		if key == "" {
			break
		}
		t.granted[key] = true
		_, err = r.o.Store.Edit(ctx, t.row.Conversation, func(c *core.Conversation) {
			if !slices.Contains(c.Approved, key) {
				c.Approved = append(c.Approved, key)
			}
		})
	case core.ChoiceAlways:
		if key == "" {
			break
		}
		t.granted[key] = true
		if r.o.Standing != nil {
			err = r.o.Standing.Allow(ctx, key, q.By)
		}
	default:
		c.refuse(fateDenied, refusal(reason))
	}
	if err != nil {
		t.log.Warn("an approval could not be remembered", "call", c.ID, "err", err)
	}
}

// refusal tells the model that a person said no, and what they said about it.
func refusal(reason string) string {
	if reason == "" {
		return textDenied
	}
	return textDenied + " They said: " + tool.Repair(reason)
}
