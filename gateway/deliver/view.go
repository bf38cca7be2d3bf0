package deliver

import (
	"context"

	"bellhop/core"
)

// View is the live message of one turn. Its methods are called by the one drain that runs the turn.
type View struct{}

// On shows news of the turn. It never blocks.
func (v *View) On(e core.Event) {}

// End tells the whole text; its commit is pending.
func (v *View) End(text string) {}

// Final returns the outbox row to settle the turn with. false: nothing is owed.
func (v *View) Final(o core.Outcome) (core.Delivery, bool) { return core.Delivery{}, false }

// Settled finishes the message after the commit and marks the row.
func (v *View) Settled(ctx context.Context, d core.Delivery) error { return nil }

// Abandon ends the view: nothing more is sent.
func (v *View) Abandon() {}
