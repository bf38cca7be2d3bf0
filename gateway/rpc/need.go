package rpc

import (
	"context"

	"bellhop/core"
	"bellhop/gateway/command"
	"bellhop/gateway/session"
	"bellhop/stream"
)

// Admission is the one door for input, and what may be done to rows that wait; *admission.Desk is one. Every method
// checks the principal.
type Admission interface {
	Admit(ctx context.Context, entries []core.Entry, cur *core.Cursor) ([]core.Admitted, error)
	Woken(adm []core.Admitted)
	Cancel(ctx context.Context, by core.Principal, id core.AdmissionID) (core.Admission, error)
	Edit(ctx context.Context, by core.Principal, id core.AdmissionID, text string) error
	SendNow(ctx context.Context, by core.Principal, id core.AdmissionID) error
}

// Ask answers questions; *ask.Desk is one.
type Ask interface {
	Answer(ctx context.Context, by core.Principal, id core.QuestionID, answer string) (core.Question, error)
	Open(ctx context.Context, c core.ConversationID) ([]core.Question, error)
}

// Sessions reaches the turns that run here; *session.Registry is one.
type Sessions interface {
	Interrupt(c core.ConversationID, why core.Interrupt) (core.AdmissionID, bool)
	InterruptTurn(c core.ConversationID, id core.AdmissionID, why core.Interrupt) bool
	Offer(c core.ConversationID, s session.Steered) bool
}

// Commands runs slash commands; *command.Table is one.
type Commands interface {
	Find(name string) (command.Command, bool)
	Run(ctx context.Context, c command.Call) (command.Answer, error)
	Press(ctx context.Context, c command.Call, data string) (string, error)
	Turn(c command.Call) (s core.Submission, busy string, ok bool)
	Menu(lang string) []command.MenuItem
}

// Hub is where news comes from; *stream.Hub is one.
type Hub interface {
	Attach(c core.ConversationID, l stream.Listener) (detach func())
	Since(ctx context.Context, c core.ConversationID, seq int64) ([]core.Event, error)
	Emit(ctx context.Context, c core.ConversationID, a core.AdmissionID, t core.TurnID, b core.EventBody)
}

// Store is what this package reads, and the few things it writes, of core.Store.
type Store interface {
	Lookup(ctx context.Context, k core.Key) (core.Conversation, error)
	Bind(ctx context.Context, k core.Key, c core.ConversationID, owner core.PrincipalID, surface string) (core.Conversation, error)
	Conversation(ctx context.Context, id string, owner core.PrincipalID) (core.Conversation, error)
	List(ctx context.Context, owner core.PrincipalID, limit int) ([]core.Conversation, error)
	Edit(ctx context.Context, c core.ConversationID, fn func(*core.Conversation)) (core.Conversation, error)
	Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error)
	Unsettled(ctx context.Context, c core.ConversationID) ([]core.Admission, error)
	Page(ctx context.Context, c core.ConversationID, before int64, limit int) ([]core.Message, error)
	Question(ctx context.Context, id core.QuestionID) (core.Question, error)
	Asked(ctx context.Context, c core.ConversationID, of []core.AdmissionID) ([]core.Question, error)
	Reserve(ctx context.Context, c core.ConversationID, n int) (int64, error)
}
