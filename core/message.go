package core

import (
	"context"
	"encoding/json"
	"time"
)

// Role is who speaks in a transcript.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one row of a transcript. Content is what people read; APIContent is what was sent when that differs. The
// wire copy of a request is built from messages and never written back.
type Message struct {
	ID         int64 // set by the store; orders the transcript
	Session    SessionID
	Admission  AdmissionID
	Turn       TurnID
	Role       Role
	Content    string
	APIContent string
	Reasoning  string
	Calls      []ToolCall // of an assistant message
	CallID     string     // of a tool message: the call it answers
	Synthetic  bool       // made by us, not by the model or the tool
	Superseded bool       // kept off the path: the history was changed under the turn
	Interim    bool       // text beside tool calls
	Attachment []Attachment
	At         time.Time
}

// ToolCall is a call as the model made it. ID is unique within the conversation and is the idempotency key of the call.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// CallState is how far a recorded call got. Only started and done may have had an effect.
type CallState string

const (
	CallRecorded CallState = "recorded"
	CallAsked    CallState = "asked"   // a question about it is open
	CallStarted  CallState = "started" // committed before it executes
	CallDone     CallState = "done"    // its result is a tool message
)

// Effect is what a tool declares about repeating a call; it drives the read-back of unknown turns.
type Effect string

const (
	ReadOnly   Effect = "read_only"  // repeating it changes nothing
	Idempotent Effect = "idempotent" // repeating it with the same key changes nothing more
	Once       Effect = "once"       // must never be repeated by itself
)

// Call is the ledger row of one tool call.
type Call struct {
	ID        string
	Admission AdmissionID
	Turn      TurnID
	Place     int // order within its assistant message
	Name      string
	Args      json.RawMessage
	Effect    Effect
	State     CallState
	Changed   time.Time
}

// Batch is what one append makes durable together.
type Batch struct {
	Messages []Message
	Calls    []Call  // inserted, or moved to their new state
	Events   []Event // lifecycle news rows; deltas are never rows
	Consume  []AdmissionID
	// Consume ends queued rows (completed, steered) whose text the messages carry. Conflict, and nothing written, when one
	// of them is not queued any more.

	// Sync asks for a commit that survives power loss: a tool is about to start, or has ended.
	Sync bool
}

// Transcripts keeps what was said. Every write shows a fence.
type Transcripts interface {
	// Load returns the live messages of the conversation's newest session in order; superseded rows are left out.
	Load(ctx context.Context, c ConversationID) ([]Message, error)
	// Recall is Load at a version of the conversation's history, as a claim tells it. A store that remembers the transcript
	// at that version need not read it. The messages are the caller's.
	Recall(ctx context.Context, c ConversationID, version int64) ([]Message, error)
	// Append writes a batch and returns the messages with their ids. A user message of an admission that has one already
	// is adopted: the stored row comes back and nothing is doubled. Stale, NoSpace, Unavailable, Corrupt: nothing written.
	Append(ctx context.Context, f Fence, b Batch) ([]Message, error)
	// Calls returns the ledger of one admission in call order.
	Calls(ctx context.Context, id AdmissionID) ([]Call, error)
	// Said returns the messages of one admission in order, the synthetic and superseded ones too.
	Said(ctx context.Context, id AdmissionID) ([]Message, error)
	// Page returns messages of a conversation, all sessions, newest first, with ids below before (0: newest).
	Page(ctx context.Context, c ConversationID, before int64, limit int) ([]Message, error)
}
