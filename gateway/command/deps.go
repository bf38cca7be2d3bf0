package command

import (
	"context"

	"bellhop/core"
	"bellhop/gateway/session"
)

// Desk changes rows that wait; *admission.Desk is one. Each method checks who asks.
type Desk interface {
	Cancel(ctx context.Context, by core.Principal, id core.AdmissionID) (core.Admission, error)
	Edit(ctx context.Context, by core.Principal, id core.AdmissionID, text string) error
	SendNow(ctx context.Context, by core.Principal, id core.AdmissionID) error
	Clear(ctx context.Context, by core.Principal, c core.ConversationID, reason core.Reason) ([]core.Admission, error)
}

// Asker answers questions; *ask.Desk is one.
type Asker interface {
	Answer(ctx context.Context, by core.Principal, id core.QuestionID, answer string) (core.Question, error)
	Open(ctx context.Context, c core.ConversationID) ([]core.Question, error)
}

// Fate settles turns that were cut off; *readback.Reader is one.
type Fate interface {
	Resolve(ctx context.Context, by core.Principal, id core.AdmissionID, as string) (*core.Admission, error)
}

// Sessions knows what runs; *session.Registry is one.
type Sessions interface {
	Interrupt(c core.ConversationID, i core.Interrupt) (core.AdmissionID, bool)
	InterruptTurn(c core.ConversationID, id core.AdmissionID, i core.Interrupt) bool
	Forestall(c core.ConversationID, id core.AdmissionID, i core.Interrupt) bool
	Steer(c core.ConversationID, id core.AdmissionID, text string) bool
	Status(c core.ConversationID) (session.Status, bool)
}

// Store reads conversations and rows, and points keys; a core.Store is one.
type Store interface {
	Bind(ctx context.Context, k core.Key, c core.ConversationID, owner core.PrincipalID, surface string) (core.Conversation, error)
	Edit(ctx context.Context, c core.ConversationID, fn func(*core.Conversation)) (core.Conversation, error)
	Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error)
	Unsettled(ctx context.Context, c core.ConversationID) ([]core.Admission, error)
	Recent(ctx context.Context, c core.ConversationID, limit int) ([]core.Admission, error)
	Question(ctx context.Context, id core.QuestionID) (core.Question, error)
}

// People lets people in; gateway.Access is one.
type People interface {
	Approve(ctx context.Context, code string) (core.Grant, error)
	Allow(ctx context.Context, p core.PrincipalID, admin bool) error
	Revoke(ctx context.Context, p core.PrincipalID) error
	List(ctx context.Context) ([]core.Grant, error)
}

// Deps is what the commands work on.
type Deps struct {
	Desk     Desk
	Ask      Asker
	Fate     Fate
	Sessions Sessions
	Store    Store
	People   People
	Wake     func(core.ConversationID)                            // a conversation's queue has changed; nil: nobody is woken
	Tell     func(ctx context.Context, g core.Grant, text string) // says something to a person in their own chat; nil: nobody is told
	Models   func() []string                                      // what /model may choose; nil: there is no choice
	Model    string                                               // the default
	Busy     string                                               // the default busy mode
	Version  string
}
