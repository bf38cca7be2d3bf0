package stream

import (
	"context"

	"bellhop/core"
)

// Subscription is a Listener with a bounded queue, for one reader.
type Subscription struct{ max int }

// NewSubscription makes one that holds up to max events.
func NewSubscription(max int) *Subscription { return &Subscription{max: max} }

// On queues e; a full queue is dropped and the reader is told ErrLagged.
func (s *Subscription) On(e core.Event) {}

// Next waits for the next event. ErrLagged: events were dropped; use Hub.Since, then go on, skipping numbers already seen.
func (s *Subscription) Next(ctx context.Context) (core.Event, error) {
	<-ctx.Done()
	return core.Event{}, ctx.Err()
}
