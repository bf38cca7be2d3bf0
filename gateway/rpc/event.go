package rpc

import (
	"time"

	"bellhop/core"
	"bellhop/gateway/rpc/jsonrpc"
)

// Event is the params of an event notification.
type Event struct {
	Type      core.EventType      `json:"type"`
	Session   core.ConversationID `json:"session_id"`
	Seq       int64               `json:"seq"` // 0: not numbered, and not to be had again
	Admission core.AdmissionID    `json:"admission_id"`
	Turn      core.TurnID         `json:"turn_id"`
	Payload   any                 `json:"payload"`
}

// deltaPayload is that of text under way; a struct, because there are many of them.
type deltaPayload struct {
	Text     string `json:"text"`
	Rendered string `json:"rendered"` // HTML of complete text; empty in deltas, as a piece of Markdown has none
}

// startPayload tells whose turn goes on: after a crash the message that a client waits for is answered by another row.
type startPayload struct {
	RetryOf string `json:"retry_of,omitempty"`
}

type textPayload struct {
	Text string `json:"text"`
}

// Ready is the type of the first message on every connection.
const Ready core.EventType = "gateway.ready"

func readyFrame(version string) []byte {
	return frameOf(Event{Type: Ready, Payload: map[string]any{"version": version, "skin": map[string]any{}}})
}

func frameOf(e Event) []byte { return jsonrpc.Notification("event", e) }

// eventFrame makes the notification of what was taken from an outbox.
func (s *Server) eventFrame(it item) []byte {
	if it.lag {
		return frameOf(Event{Type: core.StatusUpdate, Session: it.event.Conversation, Payload: map[string]any{
			"kind": "lagged", "since": it.event.Seq,
			"message": "you read too slowly and missed some news; ask session.events.since"}})
	}
	return frameOf(s.wire(it.event))
}

// wire turns an event of the hub into its wire form.
func (s *Server) wire(e core.Event) Event {
	return Event{Type: e.Type, Session: e.Conversation, Seq: e.Seq, Admission: e.Admission, Turn: e.Turn,
		Payload: s.payload(e)}
}

// payload is the table of contract.md.
func (s *Server) payload(e core.Event) any {
	switch e.Type {
	case core.MessageDelta:
		return deltaPayload{Text: e.Text}
	case core.MessageStart:
		return startPayload{e.Detail}
	case core.ReasoningReady:
		return map[string]any{}
	case core.ThinkingDelta, core.ReasoningDelta, core.MessageReset:
		return textPayload{e.Text}
	case core.ToolGenerating:
		return map[string]any{"name": e.Name}
	case core.ToolStart:
		return map[string]any{"id": e.Call, "name": e.Name, "context": e.Detail}
	case core.ToolProgress:
		return map[string]any{"id": e.Call, "name": e.Name, "preview": e.Detail}
	case core.ToolComplete:
		return map[string]any{"id": e.Call, "name": e.Name, "summary": e.Detail, "inline_diff": e.Diff,
			"duration": e.Seconds, "status": e.Status}
	case core.MessageInterim:
		return deltaPayload{e.Text, s.cfg.Render(e.Text)}
	case core.MessageComplete:
		return map[string]any{"text": e.Text, "rendered": s.cfg.Render(e.Text), "usage": usageOf(e.Usage),
			"status": e.Status, "warning": e.Warning}
	case core.QuestionResolved:
		return resolved(e)
	}
	if e.Ask != nil {
		return asked(e.Question, *e.Ask, time.Time{})
	}
	return other(e)
}

// other is the form of news that is mostly a sentence.
func other(e core.Event) map[string]any {
	p := map[string]any{"message": firstOf(e.Text, e.Detail, e.Warning), "status": e.Status}
	if e.Name != "" {
		p["kind"] = e.Name
	}
	if e.Type == core.QueueUpdate {
		p["place"] = e.Place
	}
	return p
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// asked is the form of a question that waits. deadline may be zero: unknown.
func asked(id core.QuestionID, a core.Ask, deadline time.Time) map[string]any {
	p := map[string]any{"request_id": id, "kind": a.Kind, "title": a.Title, "question": firstOf(a.Detail, a.Title),
		"detail": a.Detail, "risk": a.Risk, "tool": a.Tool, "call_id": a.Call, "choices": choicesOf(a)}
	if !deadline.IsZero() {
		p["deadline"] = deadline.UTC().Format(time.RFC3339)
	}
	return p
}

func choicesOf(a core.Ask) []string {
	if len(a.Choices) > 0 || a.Kind != core.Approval {
		return append([]string{}, a.Choices...)
	}
	return []string{string(core.ChoiceOnce), string(core.ChoiceSession), string(core.ChoiceAlways), string(core.ChoiceDeny)}
}

// resolved tells how a question ended, by whom and when. What was typed in answer to sudo and secret is not in the event.
func resolved(e core.Event) map[string]any {
	p := map[string]any{"request_id": e.Question, "state": e.Status, "answer": e.Detail, "by": e.Name, "message": e.Text}
	if e.Ask != nil {
		p["kind"] = e.Ask.Kind
	}
	if !e.At.IsZero() {
		p["at"] = e.At.UTC().Format(time.RFC3339)
	}
	return p
}

// Usage is the wire form of what a turn or a session cost.
type Usage struct {
	Calls      int     `json:"calls"`
	Input      int     `json:"input_tokens"`
	Output     int     `json:"output_tokens"`
	CacheRead  int     `json:"cache_read_tokens"`
	CacheWrite int     `json:"cache_write_tokens"`
	Reasoning  int     `json:"reasoning_tokens"`
	Cost       float64 `json:"cost_usd"`
	Estimated  bool    `json:"estimated"`
}

func usageOf(u *core.Usage) Usage {
	if u == nil {
		return Usage{}
	}
	return Usage{u.Calls, u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.Cost, u.Estimated}
}
