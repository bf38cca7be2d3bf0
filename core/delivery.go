package core

import (
	"context"
	"time"
)

// DeliveryKind is what is being said.
type DeliveryKind string

const (
	DeliverPreview  DeliveryKind = "preview"  // the live message of a running turn; becomes its final
	DeliverFinal    DeliveryKind = "final"    // the answer of a turn
	DeliverNotice   DeliveryKind = "notice"   // something the gateway has to say
	DeliverQuestion DeliveryKind = "question" // asks a person
	DeliverReply    DeliveryKind = "reply"    // answer of a command
)

// DeliveryState is where a delivery stands.
type DeliveryState string

const (
	DeliveryLive      DeliveryState = "live"      // owned by the consumer of a running turn
	DeliveryOwed      DeliveryState = "owed"      // to be sent, not before NotBefore
	DeliverySending   DeliveryState = "sending"   // an attempt is under way; after a crash its fate is unknown
	DeliveryDelivered DeliveryState = "delivered" //
	DeliveryDead      DeliveryState = "dead"      // the target is gone; recorded, not retried
	DeliveryMoved     DeliveryState = "moved"     // another row took it over
)

// Part is one message of a delivery on the platform. Ref is empty while it was never sent.
type Part struct {
	Ref  string `json:"ref,omitempty"`
	Hash string `json:"hash,omitempty"` // of what the last acknowledged call showed
	// Sent counts attempts to create this message. Sent > 0 with no Ref: the fate of an attempt is unknown.
	Sent int `json:"sent,omitempty"`
	// Lost is when an attempt whose fate is unknown ended; the zero time: nobody was there to see it.
	Lost time.Time `json:"lost,omitzero"`
	// Mark is the name under which its sender can look for it while its fate is unknown; "" it cannot.
	Mark string `json:"mark,omitempty"`
}

// Delivery is one row of the outbox, the only mouth. Text is Markdown; the parts are its messages on the platform.
type Delivery struct {
	ID           DeliveryID
	Conversation ConversationID
	Admission    AdmissionID
	Turn         TurnID
	Kind         DeliveryKind
	State        DeliveryState
	Route        Route
	Text         string
	Buttons      []Button
	Media        []Media
	Question     QuestionID
	Parts        []Part
	Attempts     int
	NotBefore    time.Time // flood waits are stored and survive restarts
	LiveUntil    time.Time // a live or final row belongs to its consumer until then
	Error        string
	Created      time.Time
	Done         time.Time
	Aside        bool // it was set aside: it holds up nobody. Only read: Deliveries.Aside sets it
}

// Button is a choice under a message. Data comes back when it is pressed; at most 64 bytes.
type Button struct {
	Label string `json:"label"`
	Data  string `json:"data"`
	Style string `json:"style,omitempty"` // "", primary, danger
	Row   int    `json:"row,omitempty"`
}

// Media is a file to send.
type Media struct {
	Kind    string `json:"kind"` // photo, document, voice, audio, video
	Path    string `json:"path"`
	Caption string `json:"caption,omitempty"`
	Name    string `json:"name,omitempty"`
}

// Deliveries is the outbox.
type Deliveries interface {
	// Put stores new rows.
	Put(ctx context.Context, d ...Delivery) error
	// Save overwrites state, parts, attempts, times and error of rows, all in one commit. A delivered or dead row never
	// changes again: such a save is Conflict.
	Save(ctx context.Context, d ...Delivery) error
	// Seize makes every row that one of the nodes (instances) owns due as soon as it may be: they are gone. Without nodes it
	// is every row: call it so when no other process delivers from this store, before this one does.
	Seize(ctx context.Context, nodes ...string) error
	// Due takes up to limit rows that are owed and whose time has come, or whose owner's deadline has passed, oldest first
	// and at most one per route, and gives them to the caller until now+lease.
	Due(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]Delivery, error)
	// Next tells when a row will become due; the zero time: none waits.
	Next(ctx context.Context) (time.Time, error)
	// Hasten makes due what is owed to a platform and waits because an attempt failed (its Error says so): the platform
	// answers again. most is how many rows at most, the soonest first; 0 is all. Their NotBefore stays and tells that they
	// are early.
	Hasten(ctx context.Context, platform string, now time.Time, most int) error
	// Aside is Save for a row that is owed and must not hold up its target any longer: from now on it stands in nobody's way,
	// and nobody in its.
	Aside(ctx context.Context, d Delivery) error
	// Owing lists up to limit rows of a kind that are owed or being sent, in the order in which they become due.
	Owing(ctx context.Context, kind DeliveryKind, limit int) ([]Delivery, error)
	// Of lists the rows of one admission, oldest first.
	Of(ctx context.Context, id AdmissionID) ([]Delivery, error)
	// For lists the rows of a question.
	For(ctx context.Context, q QuestionID) ([]Delivery, error)
	// Owed counts rows by state.
	Owed(ctx context.Context) (map[DeliveryState]int64, error)
	// Undelivered lists terminal answers of admissions with a route that are neither delivered, dead nor owed: none, ever.
	Undelivered(ctx context.Context) ([]AdmissionID, error)
	// Forget deletes finished rows older than t.
	Forget(ctx context.Context, before time.Time) (int, error)
}
