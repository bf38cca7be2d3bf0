package core

// ConversationID names a conversation for ever. It equals the id of the conversation's first session and has the form
// YYYYMMDD_HHMMSS_XXXXXX (UTC; six characters of lower-case hex), the session key that people are shown.
type ConversationID string

// SessionID names one segment of a conversation's transcript; same form as ConversationID.
type SessionID string

// AdmissionID, TurnID, DeliveryID and QuestionID are ULIDs: unique, and sortable by time of making.
type (
	AdmissionID string
	TurnID      string
	DeliveryID  string
	QuestionID  string
)

// Ref is the end of the id: short enough to be quoted by a person, and in the log.
func (id AdmissionID) Ref() string { return string(id[max(0, len(id)-6):]) }

// RequestID is the caller's name for one request, unique per principal and source: a platform's message id, a client's
// request_id, an Idempotency-Key.
type RequestID string

// Key names a place where people talk: platform[/account]:chat[:tTHREAD][:uUSER]. It points to a conversation, and may
// be pointed to another one (/new, /resume).
type Key string
