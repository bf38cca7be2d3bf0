package rpc

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"bellhop/core"
	"bellhop/gateway/ask"
)

// Message is the wire form of one row of a transcript.
type Message struct {
	ID        int64            `json:"id"`
	Admission core.AdmissionID `json:"admission_id"`
	Turn      core.TurnID      `json:"turn_id"`
	Role      core.Role        `json:"role"`
	Text      string           `json:"text"`
	Rendered  string           `json:"rendered"`
	Calls     []Call           `json:"calls,omitempty"`
	CallID    string           `json:"call_id,omitempty"`
	Interim   bool             `json:"interim,omitempty"`
	At        time.Time        `json:"at"`
}

// Call is a tool call of an assistant message.
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type historyParams struct {
	Session string `json:"session_id" need:"yes"`
	Before  int64  `json:"before"` // only messages with a smaller id
	Limit   int    `json:"limit"`
}

type historyResult struct {
	ID       core.ConversationID `json:"session_id"`
	Messages []Message           `json:"messages"` // oldest first
	More     bool                `json:"more"`     // there are older ones
	Asked    []map[string]any    `json:"asked"`    // what people were asked in the turns of these messages, and how it ended
}

func sessionHistory(ctx context.Context, e *Env, p historyParams) (historyResult, error) {
	conv, err := e.conversation(ctx, p.Session, core.CanRead)
	if err != nil {
		return historyResult{}, err
	}
	out, err := e.history(ctx, conv.ID, p.Before, between(p.Limit, 1, 500, 100))
	if err != nil {
		return historyResult{}, err
	}
	out.Asked, err = e.ended(ctx, conv.ID, out.Messages, nil)
	return out, err
}

// history loads a page. Superseded rows are kept off the path, and so off the page.
func (e *Env) history(ctx context.Context, c core.ConversationID, before int64, limit int) (historyResult, error) {
	rows, err := e.s.cfg.Store.Page(ctx, c, before, limit+1)
	if err != nil {
		return historyResult{}, err
	}
	out := historyResult{ID: c, Messages: []Message{}, More: len(rows) > limit}
	for _, m := range rows[:min(limit, len(rows))] {
		if !m.Superseded {
			out.Messages = append(out.Messages, e.s.message(m))
		}
	}
	slices.Reverse(out.Messages)
	return out, nil
}

// ended lists the questions of the turns of some messages that have ended, oldest first, but of those that are live. What
// waits is told by session.resume.
func (e *Env) ended(ctx context.Context, c core.ConversationID, said []Message, live map[core.AdmissionID]bool) ([]map[string]any, error) {
	var of []core.AdmissionID
	for _, m := range said {
		if m.Admission != "" && !live[m.Admission] && !slices.Contains(of[max(0, len(of)-1):], m.Admission) { // those of one turn stand together
			of = append(of, m.Admission)
		}
	}
	list, err := e.s.cfg.Store.Asked(ctx, c, of)
	out := []map[string]any{}
	for _, q := range list {
		if q.State != core.QuestionOpen {
			out = append(out, endedForm(q))
		}
	}
	return out, err
}

// endedForm is a question as it was asked, with how it ended.
func endedForm(q core.Question) map[string]any {
	p := asked(q.ID, q.Ask, time.Time{})
	maps.Copy(p, resolved(core.Event{EventBody: ask.Resolved(q), At: q.Answered}))
	p["admission_id"] = q.Admission
	return p
}

func (s *Server) message(m core.Message) Message {
	out := Message{ID: m.ID, Admission: m.Admission, Turn: m.Turn, Role: m.Role, Text: m.Content, CallID: m.CallID,
		Interim: m.Interim, At: m.At.UTC()}
	if m.Role == core.RoleAssistant {
		out.Rendered = s.cfg.Render(m.Content)
	}
	for _, c := range m.Calls {
		args := c.Args
		if !json.Valid(args) {
			args = nil
		}
		out.Calls = append(out.Calls, Call{c.ID, c.Name, args})
	}
	return out
}
