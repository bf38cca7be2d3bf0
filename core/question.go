package core

import (
	"context"
	"strings"
	"time"
)

// QuestionKind is what is asked of a person.
type QuestionKind string

const (
	Approval QuestionKind = "approval"
	Clarify  QuestionKind = "clarify"
	Sudo     QuestionKind = "sudo"
	Secret   QuestionKind = "secret"
	Fate     QuestionKind = "fate" // an unknown turn: done, retry or drop
)

// Choice is an answer to an approval. The empty choice means no answer yet.
type Choice string

const (
	ChoiceOnce    Choice = "once"
	ChoiceSession Choice = "session"
	ChoiceAlways  Choice = "always"
	ChoiceDeny    Choice = "deny"
)

// denied stands before the reason of a refusal.
const denied = string(ChoiceDeny) + ": "

// Deny is the answer that refuses an approval, with what the person said about it; reason may be empty.
func Deny(reason string) string {
	if reason = strings.TrimSpace(reason); reason != "" {
		return denied + reason
	}
	return string(ChoiceDeny)
}

// ReadChoice reads the answer to an approval. reason is what came with a refusal.
func ReadChoice(answer string) (c Choice, reason string) {
	if reason, ok := strings.CutPrefix(answer, denied); ok {
		return ChoiceDeny, reason
	}
	return Choice(answer), ""
}

// Ask is a question before it has an id.
type Ask struct {
	Kind    QuestionKind `json:"kind"`
	Call    string       `json:"call,omitempty"` // the tool call it is about
	Tool    string       `json:"tool,omitempty"`
	Title   string       `json:"title"`            // one line: "Run a command?"
	Detail  string       `json:"detail,omitempty"` // the command, the question; shown in a code block or as text
	Risk    string       `json:"risk,omitempty"`   // why it needs a person
	Key     string       `json:"key,omitempty"`    // what session and always would allow
	Choices []string     `json:"choices,omitempty"`
}

// QuestionState is where a question stands.
type QuestionState string

const (
	QuestionOpen     QuestionState = "open"
	QuestionAnswered QuestionState = "answered"
	QuestionExpired  QuestionState = "expired"
	QuestionDropped  QuestionState = "dropped" // its turn ended first
)

// Question is a row: it survives a restart and is answered exactly once, at whichever door comes first.
type Question struct {
	ID           QuestionID
	Conversation ConversationID
	Admission    AdmissionID
	Turn         TurnID
	Ask          Ask
	State        QuestionState
	Answer       string
	By           PrincipalID
	ByName       string
	For          PrincipalID // the turn's author
	Deadline     time.Time
	Created      time.Time
	Answered     time.Time
}

// Questions keeps open questions.
type Questions interface {
	// Put stores a question. When the admission has an open question about the same call, that one comes back instead. So
	// does one that has ended, when an earlier turn asked the same about the same call and died before it went on; not so
	// a password or a secret, which were not written down.
	Put(ctx context.Context, q Question) (Question, error)
	// Answer ends an open question. Conflict: it is not open any more; the stored row comes back beside the error.
	Answer(ctx context.Context, id QuestionID, answer string, by Principal) (Question, error)
	// Expire ends open questions whose deadline has passed and returns them.
	Expire(ctx context.Context, now time.Time) ([]Question, error)
	// Drop ends the open questions of an admission, for example when its turn was stopped.
	Drop(ctx context.Context, id AdmissionID) ([]Question, error)
	Question(ctx context.Context, id QuestionID) (Question, error)
	// Asking lists open questions of a conversation, or all when c is empty, oldest first.
	Asking(ctx context.Context, c ConversationID) ([]Question, error)
	// Asked lists the questions of some admissions of a conversation, whatever became of them, oldest first.
	Asked(ctx context.Context, c ConversationID, of []AdmissionID) ([]Question, error)
	// Ended lists questions that ended at or after since, oldest first.
	Ended(ctx context.Context, since time.Time) ([]Question, error)
}
