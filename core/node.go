package core

import (
	"context"
	"time"
)

// Node is a process that serves a store, alone or together with others.
type Node struct {
	Holder  Holder
	Version string
	Started time.Time
	Expires time.Time // by the store's clock, unless it is heard of again
}

// Seat is the exclusive right to something outside of the store of which there may be only one, for example a bot's
// connection that receives. It has a name, and a generation that never goes back.
type Seat struct {
	Name       string
	Generation int64
	Token      string
	Expires    time.Time // by the store's clock
	TTL        time.Duration
}

// Nodes is who serves the store, and who of them sits where. The store's clock decides.
type Nodes interface {
	// Beat says that a node lives for another ttl. It returns all nodes that do, the eldest first, and those that did within
	// the last hour.
	Beat(ctx context.Context, n Node, ttl time.Duration) (live, gone []Node, err error)
	// Leave counts a node among the gone at once and frees its seats.
	Leave(ctx context.Context, h Holder) error
	// Sit takes a free seat, or one whose node is gone, or keeps the one that h has. Busy: another sits there; the cause is
	// a *Held. alive tells whether a holder still lives; what it says of a dead one is believed at once.
	Sit(ctx context.Context, name string, h Holder, ttl time.Duration, alive func(Holder) bool) (Seat, error)
	// Rise frees a seat that is still ours, and does nothing otherwise.
	Rise(ctx context.Context, s Seat) error
	// Seats lists who sits where now, by name.
	Seats(ctx context.Context) (map[string]Holder, error)
}

// NoteKind is what a note is about.
type NoteKind string

const (
	NoteWork     NoteKind = "work"     // there are rows that nobody drains
	NoteControl  NoteKind = "control"  // something is wanted of the turn that runs in a conversation
	NoteQuestion NoteKind = "question" // a question was answered, expired or dropped
	NoteMissed   NoteKind = "missed"   // by the listener itself: notes may have been lost, look at everything
)

// Note is what one node tells the others. It may be lost: whoever acts on notes also looks at leisure. It carries names,
// never content.
type Note struct {
	Kind         NoteKind       `json:"kind"`
	From         string         `json:"from,omitempty"` // instance
	Conversation ConversationID `json:"conversation,omitempty"`
	Admission    AdmissionID    `json:"admission,omitempty"`
	Question     QuestionID     `json:"question,omitempty"`
	Control      string         `json:"control,omitempty"` // what is wanted, in gateway/node's words
	Reason       Reason         `json:"reason,omitempty"`
	By           PrincipalID    `json:"by,omitempty"`
	Told         bool           `json:"told,omitempty"` // as of an Interrupt
}

// Notes carries notes between the nodes of a store.
type Notes interface {
	// Tell sends a note to every listener, the teller's own too. Where there is one node only it does nothing.
	Tell(ctx context.Context, n Note) error
	// Listen calls fn with every note, one at a time, until ctx ends. It connects again by itself, and calls fn with
	// NoteMissed each time it has begun to listen.
	Listen(ctx context.Context, fn func(Note)) error
}
