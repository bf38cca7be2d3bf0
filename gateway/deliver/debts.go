package deliver

import (
	"sync"

	"bellhop/core"
)

// keepDebts bounds the memory of what is owed; answers beyond it are still sent in order among themselves.
const keepDebts = 4096

// debts are the answers that the outbox owes, by target. What a newer turn has to say there stands behind them: its final
// goes through the outbox too, and its live message is not made before.
type debts struct {
	mu   sync.Mutex
	rows map[core.DeliveryID]lane
	owed map[lane]int
}

func newDebts() *debts { return &debts{rows: map[core.DeliveryID]lane{}, owed: map[lane]int{}} }

// note follows a row that was stored or taken.
func (b *debts) note(d core.Delivery) {
	switch {
	case d.Kind != core.DeliverFinal || d.State == core.DeliveryLive || hopeless(d):
	case !d.Done.IsZero():
		b.paid(d.ID)
	default:
		b.owe(d)
	}
}

// renew forgets all but rows, which are what the store holds: a row may have been deleted.
func (b *debts) renew(rows []core.Delivery) {
	b.mu.Lock()
	clear(b.rows)
	clear(b.owed)
	b.mu.Unlock()
	for _, d := range rows {
		b.note(d)
	}
}

func (b *debts) any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rows) > 0
}

func (b *debts) owe(d core.Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.rows[d.ID]; known || len(b.rows) >= keepDebts {
		return
	}
	k := laneOf(d.Route)
	b.rows[d.ID] = k
	b.owed[k]++
}

// paid forgets a row that is finished, or stands in nobody's way any more.
func (b *debts) paid(id core.DeliveryID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, known := b.rows[id]
	if !known {
		return
	}
	delete(b.rows, id)
	if b.owed[k]--; b.owed[k] == 0 {
		delete(b.owed, k)
	}
}

// before reports whether an answer other than id is owed to a target.
func (b *debts) before(k lane, id core.DeliveryID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.owed[k]
	if n > 0 && b.rows[id] == k {
		n--
	}
	return n > 0
}
