package core

import (
	"context"
	"encoding/json"
	"time"
)

// EventType names a kind of news; the names are those of the JSON-RPC wire (contract.md).
type EventType string

const (
	MessageStart     EventType = "message.start"
	MessageDelta     EventType = "message.delta"
	MessageReset     EventType = "message.reset"   // the text of the message under way is Text now; deltas go on from it
	MessageInterim   EventType = "message.interim" // text that stands beside tool calls is complete
	MessageComplete  EventType = "message.complete"
	ThinkingDelta    EventType = "thinking.delta"
	ReasoningDelta   EventType = "reasoning.delta"
	ReasoningReady   EventType = "reasoning.available"
	ToolGenerating   EventType = "tool.generating"
	ToolStart        EventType = "tool.start"
	ToolProgress     EventType = "tool.progress"
	ToolComplete     EventType = "tool.complete"
	ApprovalRequest  EventType = "approval.request"
	ClarifyRequest   EventType = "clarify.request"
	SudoRequest      EventType = "sudo.request"
	SecretRequest    EventType = "secret.request"
	QuestionResolved EventType = "question.resolved"
	StatusUpdate     EventType = "status.update"
	SessionInfo      EventType = "session.info"
	QueueUpdate      EventType = "queue.update"
	Background       EventType = "background.complete"
	ErrorEvent       EventType = "error"
)

// Durable reports whether events of this type are rows; the others live in the hub's ring only.
func (t EventType) Durable() bool {
	switch t {
	case MessageDelta, MessageReset, ThinkingDelta, ReasoningDelta, ToolGenerating, ToolProgress, StatusUpdate:
		return false
	}
	return true
}

// Event is a piece of news with its number. Numbers rise within a conversation and survive restarts; they may have gaps.
type Event struct {
	Conversation ConversationID
	Seq          int64
	Admission    AdmissionID
	Turn         TurnID
	EventBody
	At time.Time
}

// EventBody is the news itself; which fields are set depends on the type. Text of a delta is that piece alone.
type EventBody struct {
	Type     EventType  `json:"type"`
	Text     string     `json:"text,omitempty"`
	Call     string     `json:"call,omitempty"`   // tool call id
	Name     string     `json:"name,omitempty"`   // tool name
	Detail   string     `json:"detail,omitempty"` // context of a start, preview of a progress, summary of a completion
	Diff     string     `json:"diff,omitempty"`
	Seconds  float64    `json:"seconds,omitempty"`
	Status   string     `json:"status,omitempty"` // of message.complete: complete, interrupted, error
	Warning  string     `json:"warning,omitempty"`
	Usage    *Usage     `json:"usage,omitempty"`
	Question QuestionID `json:"question,omitempty"`
	Ask      *Ask       `json:"ask,omitempty"`
	Place    int        `json:"place,omitempty"` // of queue.update: rows ahead
}

// JSON returns the body as it is stored.
func (b EventBody) JSON() json.RawMessage {
	j, err := json.Marshal(b)
	if err != nil { // no field can fail to marshal
		panic(err)
	}
	return j
}

// Events keeps durable news and hands out numbers.
type Events interface {
	// Reserve returns the first of n numbers of the conversation for the caller alone.
	Reserve(ctx context.Context, c ConversationID, n int) (int64, error)
	// Record stores news that belongs to no turn's own write. Non-durable types are ignored.
	Record(ctx context.Context, e ...Event) error
	// Since returns stored events with numbers above seq, oldest first, at most limit.
	Since(ctx context.Context, c ConversationID, seq int64, limit int) ([]Event, error)
	// Trim deletes events older than t of conversations at rest.
	Trim(ctx context.Context, before time.Time) (int, error)
}
