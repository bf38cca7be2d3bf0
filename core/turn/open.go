package turn

import (
	"context"
	"errors"
	"slices"
	"time"

	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/core/prompt"
	"bellhop/core/provider"
	"bellhop/core/tool"
)

// open brings the turn to where the loop begins: the transcript is loaded, the session row exists with its prompt, the
// user message is stored, or a resumed row has found what it had left to do.
func (r *Runner) open(ctx context.Context, t *state) core.Reason {
	t.alive("starting")
	if !t.row.Resume && len(t.in.Claim.Heard) == 0 {
		m := userMessage(*t.row)
		t.unheard = &m
	}
	t.models = r.models(t)
	if len(t.models) == 0 {
		t.cause = errors.New("no model is configured")
		return core.ReasonProvider
	}
	if end := r.load(ctx, t); end != going {
		return end
	}
	if end := r.session(ctx, t); end != going {
		return end
	}
	t.tools = offered(r.o.Tools.Specs(t.row.Admin))
	if t.row.Resume {
		return r.resume(ctx, t)
	}
	if t.unheard != nil {
		if end := r.hear(ctx, t); end != going {
			return end
		}
	}
	crash.Point(crash.AfterOpen)
	return going
}

// load reads the transcript. What has changed once, by the message that came with the claim, is that message.
func (r *Runner) load(ctx context.Context, t *state) core.Reason {
	c := t.in.Claim
	if c.Conversation.History == 1 && len(c.Heard) == 1 {
		t.history = slices.Clone(c.Heard)
		return going
	}
	var err error
	if t.history, err = r.o.Store.Recall(ctx, t.row.Conversation, c.Conversation.History); err != nil {
		return t.unstored(ctx, err)
	}
	return going
}

// models are those of the turn: the submission's choice comes before the conversation's, and every turn begins with the
// first.
func (r *Runner) models(t *state) []Model {
	if r.o.Models == nil {
		return nil
	}
	if m := t.row.Submission.Model; m != "" {
		return r.o.Models(m)
	}
	return r.o.Models(t.in.Claim.Conversation.Model)
}

// session replays the stored prompt, or builds it and only then makes the session row.
func (r *Runner) session(ctx context.Context, t *state) core.Reason {
	if s := t.in.Claim.Opened; s != nil {
		t.system = s.SystemPrompt
		return going
	}
	sub := t.row.Submission
	s := core.Session{ID: t.in.Claim.Session, Conversation: t.row.Conversation, Model: t.models[0].Model, Created: time.Now(),
		SystemPrompt: r.o.Prompt.System(prompt.Input{Hint: r.o.Hint(sub), Group: sub.Group, Lang: sub.Lang, Started: time.Now()})}
	s, err := r.o.Store.OpenSession(ctx, t.in.Fence, s)
	if err != nil {
		return t.unstored(ctx, err)
	}
	t.system = s.SystemPrompt
	return going
}

// hear stores the user message. A row that goes on from another finds that one's message, in its place.
func (r *Runner) hear(ctx context.Context, t *state) core.Reason {
	stored, end := r.append(ctx, t, core.Batch{Messages: []core.Message{*t.unheard}})
	if end != going {
		return end
	}
	t.unheard = nil
	for _, m := range stored {
		if !slices.ContainsFunc(t.history, func(h core.Message) bool { return m.ID != 0 && h.ID == m.ID }) {
			t.history = append(t.history, m)
		}
	}
	return going
}

// Heard returns the message of a row that may be stored with its claim. false: the turn stores it itself, after the files
// have come, or it was stored before.
func Heard(row core.Admission) (core.Message, bool) {
	if row.Resume || len(row.Submission.Attachments) > 0 {
		return core.Message{}, false
	}
	return userMessage(row), true
}

func userMessage(row core.Admission) core.Message {
	sub := row.Submission
	m := core.Message{Admission: row.ID, Turn: row.Turn, Role: core.RoleUser, Content: tool.Repair(sub.Text), Attachment: sub.Attachments}
	if api := prompt.APIText(sub); api != m.Content {
		m.APIContent = api
	}
	return m
}

// resume finds the calls of the newest reply that have no result: those are what the loop begins with.
func (r *Runner) resume(ctx context.Context, t *state) core.Reason {
	ledger, err := r.o.Store.Calls(ctx, t.row.ID)
	if err != nil {
		return t.unstored(ctx, err)
	}
	rows := make(map[string]core.Call, len(ledger))
	for _, c := range ledger {
		rows[c.ID] = c
	}
	for place, made := range unanswered(t.history) {
		row, ok := rows[made.ID]
		if !ok || made.ID == "" {
			continue // of an older turn, or answered
		}
		c := r.plan(ctx, t, made, place)
		c.state = row.State
		if begun := row.State == core.CallStarted || row.State == core.CallDone; begun && row.Effect == core.Once {
			c.refuse(fateUnknown, textUnknown)
		}
		t.round = append(t.round, c)
	}
	return going
}

// unanswered returns the calls of the newest reply in their places; those that have a result are empty.
func unanswered(history []core.Message) []core.ToolCall {
	answered := make(map[string]bool)
	for i := len(history) - 1; i >= 0; i-- {
		m := history[i]
		switch {
		case m.Role == core.RoleTool:
			answered[m.CallID] = true
		case len(m.Calls) > 0:
			calls := slices.Clone(m.Calls)
			for k := range calls {
				if answered[calls[k].ID] {
					calls[k] = core.ToolCall{}
				}
			}
			return calls
		}
	}
	return nil
}

// offered is the wire form of the tools.
func offered(specs []tool.Spec) []provider.Tool {
	out := make([]provider.Tool, len(specs))
	for i, s := range specs {
		out[i] = provider.Tool{Name: s.Name, About: s.About, Schema: s.Schema}
	}
	return out
}
