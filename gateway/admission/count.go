package admission

import (
	"time"

	"bellhop/core"
)

// outcomeOf is what became of an entry, in the words of Metrics.
func outcomeOf(e core.Entry, a core.Admitted) string {
	switch {
	case a.Err != nil:
		return "refused"
	case a.Merged:
		return "merged"
	case a.Amended:
		return "amended"
	case !a.Fresh:
		return "duplicate"
	case !runs(e):
		return "command"
	}
	return "fresh"
}

type uncounted struct{}

func (uncounted) Admitted(string, string) {}
func (uncounted) Committed(time.Duration) {}
