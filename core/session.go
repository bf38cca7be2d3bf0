package core

import (
	"context"
	"time"
)

// Rotation says why a session follows another.
type Rotation string

const (
	RotationNone    Rotation = ""
	RotationCompact Rotation = "rotation"
	RotationBranch  Rotation = "branch"
	RotationAgent   Rotation = "sub-agent"
)

// Session is one segment of a conversation's transcript with the prompt it was opened with. Its row is made by the first
// turn, after the prompt exists.
type Session struct {
	ID           SessionID
	Conversation ConversationID
	ParentID     SessionID
	Reason       Rotation
	SystemPrompt string
	Model        string
	Created      time.Time
}

// Conversation is the stable thing that queue, lease, transcript and event numbers hang on.
type Conversation struct {
	ID      ConversationID
	Key     Key // where it began
	Owner   PrincipalID
	Title   string
	Surface string
	Group   bool
	Model   string // chosen with /model; empty: the default
	Busy    string // busy mode chosen with /busy; empty: the default
	Route   Route  // where it last spoke
	Created time.Time
	Updated time.Time
	Turns   int64 // settled turns
	Usage   Usage
	History int64 // history version: raised by each change of the transcript
	// Approved are the approval keys allowed for this session ("session" choices).
	Approved []string
}

// Sessions keeps conversations, their segments and the keys that point to them.
type Sessions interface {
	// Lookup returns the conversation a key points to. NotFound: nobody spoke there yet.
	Lookup(ctx context.Context, k Key) (Conversation, error)
	// Bind points a key to a conversation, which may be new: then it is created for owner. An empty id asks for a fresh one.
	Bind(ctx context.Context, k Key, c ConversationID, owner PrincipalID, surface string) (Conversation, error)
	// Rekey moves every binding and open row from one key to another (a group became a supergroup). Routes move with it.
	Rekey(ctx context.Context, from, to Key, chat string) error
	// Conversation finds by conversation id, by the id of any session in it, or by title of owner's (newest first).
	Conversation(ctx context.Context, id string, owner PrincipalID) (Conversation, error)
	// List returns conversations, newest activity first; owner "" lists all.
	List(ctx context.Context, owner PrincipalID, limit int) ([]Conversation, error)
	// Edit changes title, model, busy mode or approvals; fn runs inside the transaction.
	Edit(ctx context.Context, c ConversationID, fn func(*Conversation)) (Conversation, error)
	// OpenSession makes the session row of a turn's session if it does not exist, and returns the row that does.
	OpenSession(ctx context.Context, f Fence, s Session) (Session, error)
	// Session returns the newest segment by rotation. NotFound: no turn has run yet.
	Session(ctx context.Context, c ConversationID) (Session, error)
	// DeleteConversation removes a conversation with everything that hangs on it. Busy: rows of it are open.
	DeleteConversation(ctx context.Context, c ConversationID) error
}
