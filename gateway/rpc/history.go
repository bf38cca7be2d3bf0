package rpc

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"bellhop/core"
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
}

func sessionHistory(ctx context.Context, e *Env, p historyParams) (historyResult, error) {
	conv, err := e.conversation(ctx, p.Session, core.CanRead)
	if err != nil {
		return historyResult{}, err
	}
	return e.history(ctx, conv.ID, p.Before, between(p.Limit, 1, 500, 100))
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
