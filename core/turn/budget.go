package turn

import (
	"time"

	"bellhop/core"
)

// budget is what a turn may still spend: model calls, and time in which nobody waited for a person.
type budget struct {
	left    int
	refunds int // rounds that may still be free
	until   time.Time
	spent   core.Reason // why take said no
}

func newBudget(calls int, most time.Duration) budget {
	return budget{left: calls, refunds: calls, until: time.Now().Add(most)}
}

// take pays for one model call.
func (b *budget) take() bool {
	switch {
	case b.left <= 0:
		b.spent = core.ReasonBudget
	case time.Now().After(b.until):
		b.spent = core.ReasonTime
	default:
		b.left--
		return true
	}
	return false
}

// refund gives back a call that was not made.
func (b *budget) refund() { b.left++ }

// free gives back the call of a round that only looked at things, as often as there were calls to begin with: a turn that
// reads a lot is not cut short, one that only reads still ends.
func (b *budget) free() {
	if b.refunds > 0 {
		b.refunds--
		b.left++
	}
}

// waited moves the end of the time: a person was asked.
func (b *budget) waited(d time.Duration) { b.until = b.until.Add(d) }
