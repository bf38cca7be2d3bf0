package gateway

import (
	"context"

	"bellhop/adapters"
	"bellhop/core"
)

// guardAmend takes edits and deletions. They change a row that still waits, and nothing else: an edit never starts a turn
// and never runs a command, whatever its text is now.
func (g *Gateway) guardAmend(_ context.Context, a *Arrival) (Verdict, error) {
	if a.In.Kind != adapters.KindEdit && a.In.Kind != adapters.KindDelete {
		return Pass, nil
	}
	remove := a.In.Kind == adapters.KindDelete
	a.Entry = &core.Entry{By: a.By, Submission: a.submission(), Amend: !remove, Delete: remove}
	return Done, nil
}
