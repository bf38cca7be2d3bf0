package stream

import (
	"context"
	"sync"

	"bellhop/core"
)

// Subscription is a Listener with a bounded queue, for one reader.
type Subscription struct {
	kick chan struct{}

	mu     sync.Mutex
	queue  *ring
	lagged bool
}

// NewSubscription makes one that holds up to max events.
func NewSubscription(max int) *Subscription {
	return &Subscription{kick: make(chan struct{}, 1), queue: newRing(max)}
}

// On queues e. When the queue is full all of it is dropped and the reader is told ErrLagged.
func (s *Subscription) On(e core.Event) {
	s.mu.Lock()
	if s.queue.n == s.queue.max {
		s.queue.clear()
		s.lagged = true
	}
	s.queue.push(&e)
	s.mu.Unlock()
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// Next waits for the next event. ErrLagged: events were dropped; use Hub.Since, then go on, skipping numbers already
// seen. Any other error is ctx's.
func (s *Subscription) Next(ctx context.Context) (core.Event, error) {
	for {
		if e, ok, lagged := s.take(); lagged {
			return core.Event{}, ErrLagged
		} else if ok {
			return e, nil
		}
		select {
		case <-s.kick:
		case <-ctx.Done():
			return core.Event{}, ctx.Err()
		}
	}
}

func (s *Subscription) take() (e core.Event, ok, lagged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lagged {
		s.lagged = false
		return e, false, true
	}
	e, ok = s.queue.pop()
	return e, ok, false
}
