package core

import (
	"context"
	"errors"
)

// Interrupt is the cancellation cause of a turn's context: why it must end, and by whose wish.
type Interrupt struct {
	Reason Reason
	By     PrincipalID
	// Of is the one row that is meant, with what goes on from it; empty: whatever runs or comes next.
	Of   AdmissionID
	Told bool // whoever interrupted says so where the turn's answer would go: the turn need not
}

func (i *Interrupt) Error() string { return "interrupted: " + string(i.Reason) }

// Means reports whether a is what is to be ended.
func (i *Interrupt) Means(a Admission) bool { return i.Of == "" || i.Of == a.ID || i.Of == a.RetryOf }

// InterruptOf returns why ctx was ended. ok is false when ctx is alive, or ended for another cause.
func InterruptOf(ctx context.Context) (i *Interrupt, ok bool) {
	if ctx.Err() == nil {
		return nil, false
	}
	ok = errors.As(context.Cause(ctx), &i)
	return i, ok
}
