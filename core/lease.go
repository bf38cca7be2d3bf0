package core

import (
	"context"
	"time"
)

// Holder says which process holds a lease, well enough to tell on the same host whether it is provably gone.
type Holder struct {
	Host      string `json:"host"`       // host and boot token
	PID       int    `json:"pid"`        //
	Namespace string `json:"namespace"`  // pid namespace
	StartTime int64  `json:"start_time"` // process start in clock ticks since boot
	Instance  string `json:"instance"`   // random per process
	Platform  string `json:"platform,omitempty"`
}

// Fence is the right to write to one conversation: a generation that never goes back and a token unique to one
// acquisition. Every write of a turn shows it; a superseded fence gets Stale and nothing is written.
type Fence struct {
	Conversation ConversationID
	Generation   int64
	Token        string
	Turn         TurnID
}

// Lease is a fence with its expiry, by the store's clock.
type Lease struct {
	Fence   Fence
	Holder  Holder
	Expires time.Time
	TTL     time.Duration
}

// Leases keeps one row per conversation. The store's clock decides.
type Leases interface {
	// Acquire takes the conversation's lease for a new turn, raises its generation and, in the same transaction, turns
	// started rows of older generations into unknown. Busy: somebody else holds it; the cause is a *Held. alive tells
	// whether a holder of this host still lives; a dead one is superseded at once.
	Acquire(ctx context.Context, c ConversationID, t TurnID, h Holder, ttl time.Duration, alive func(Holder) bool) (Lease, error)
	// Renew extends a lease that is still ours. Stale: it is not.
	Renew(ctx context.Context, f Fence, ttl time.Duration) (Lease, error)
	// Release frees a lease that is still ours, and does nothing otherwise.
	Release(ctx context.Context, f Fence) error
	// Holds returns Stale when the fence was superseded or has expired; asked before a send after a suspension.
	Holds(ctx context.Context, f Fence) error
	// Leases lists the leases that are held now.
	Leases(ctx context.Context) ([]Lease, error)
}

// Held is the cause inside a Busy error of Acquire.
type Held struct {
	By      Holder
	Turn    TurnID
	Expires time.Time
}

func (h *Held) Error() string { return "held until " + h.Expires.Format(time.RFC3339) }
