package node

import (
	"context"

	"bellhop/core"
)

// Alone is the node of a process that serves its store without others: nothing is shared, nobody is told.
type Alone struct{}

// Join does nothing.
func (Alone) Join(context.Context) error { return nil }

// Run waits for ctx to end.
func (Alone) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Keep runs run: every seat is free.
func (Alone) Keep(ctx context.Context, _ string, run func(ctx context.Context) error) error {
	return run(ctx)
}

// Seat returns the zero Seat: nobody else reads.
func (Alone) Seat(string) core.Seat { return core.Seat{} }

// Tell does nothing.
func (Alone) Tell(context.Context, core.Note) {}

// Count returns 1.
func (Alone) Count() int { return 1 }
