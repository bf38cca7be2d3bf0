package core

import (
	"context"
	"time"
)

// Cursor is how far an adapter has read its platform, for example Telegram's offset. It moves in the commit that makes
// the batch durable, never before.
type Cursor struct {
	Name  string // adapter name
	Value string
	Seat  Seat // of the connection that read it; a commit of a node that has lost it is Stale. The zero Seat: nobody else reads
}

// Cursors keeps the adapters' places.
type Cursors interface {
	// Cursor returns the stored value, "" when there is none.
	Cursor(ctx context.Context, name string) (string, error)
}

// Grant is a person's standing at the gateway.
type Grant struct {
	Person  PrincipalID
	Name    string
	Admin   bool
	Home    Route  // where the owner is asked when a door has no UI
	Code    string // pairing code of a stranger who waits; empty once allowed
	Allowed bool
	Owner   bool
	Created time.Time
}

// Grants keeps who may talk, beside what the configuration allows.
type Grants interface {
	// Grant returns a person's row. NotFound: a stranger.
	Grant(ctx context.Context, p PrincipalID) (Grant, error)
	// Grants lists all, oldest first.
	Grants(ctx context.Context) ([]Grant, error)
	// PutGrant stores or replaces a row.
	PutGrant(ctx context.Context, g Grant) error
	// Revoke deletes a row.
	Revoke(ctx context.Context, p PrincipalID) error
	// Fact and SetFact keep small named values: the owner's claim code hash, standing approvals.
	Fact(ctx context.Context, name string) (string, error)
	SetFact(ctx context.Context, name, value string) error
}

// Store is everything a gateway keeps. Implementations pass core/store/storetest.
type Store interface {
	Sessions
	Admissions
	Leases
	Transcripts
	Events
	Questions
	Cursors
	Grants
	Nodes
	Notes

	// Outbox returns the deliveries; a method of its own because its names would clash.
	Outbox() Deliveries
	// Check writes and reads a probe row. NoSpace, Corrupt, Unavailable.
	Check(ctx context.Context) error
	// Close waits for accepted writes and closes. Idempotent.
	Close() error
}
