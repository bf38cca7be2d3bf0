package deliver

import (
	"maps"
	"slices"
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
	// meanwhile are the rows that were heard of while the store is read; nil while it is not.
	meanwhile map[core.DeliveryID]bool
}

func newDebts() *debts { return &debts{rows: map[core.DeliveryID]lane{}, owed: map[lane]int{}} }

// note follows a row that was stored or taken.
func (b *debts) note(d core.Delivery) {
	switch {
	case d.Kind != core.DeliverFinal || d.State == core.DeliveryLive:
	case !d.Done.IsZero() || d.Aside:
		b.paid(d.ID)
	default:
		b.owe(d)
	}
}

// renew takes over what the store holds: a row that is not there any more was deleted. What happens while list reads stays.
func (b *debts) renew(list func() ([]core.Delivery, error)) error {
	b.mu.Lock()
	before := slices.Collect(maps.Keys(b.rows))
	b.meanwhile = map[core.DeliveryID]bool{}
	b.mu.Unlock()
	rows, err := list()
	b.mu.Lock()
	changed := b.meanwhile
	b.meanwhile = nil
	b.mu.Unlock()
	if err != nil {
		return err
	}
	held := make(map[core.DeliveryID]bool, len(rows))
	for _, d := range rows {
		held[d.ID] = true
		if !changed[d.ID] {
			b.note(d)
		}
	}
	for _, id := range before {
		if !held[id] && !changed[id] {
			b.paid(id)
		}
	}
	return nil
}

func (b *debts) any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rows) > 0
}

func (b *debts) owe(d core.Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard(d.ID)
	to := laneOf(d.Route)
	before, known := b.rows[d.ID]
	switch {
	case known && before == to, !known && len(b.rows) >= keepDebts:
		return
	case known: // the chat got a new id
		b.less(before)
	}
	b.rows[d.ID] = to
	b.owed[to]++
}

// paid forgets a row that is finished, or stands in nobody's way any more.
func (b *debts) paid(id core.DeliveryID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard(id)
	if to, known := b.rows[id]; known {
		delete(b.rows, id)
		b.less(to)
	}
}

// heard notes that there is news of a row. mu is held.
func (b *debts) heard(id core.DeliveryID) {
	if b.meanwhile != nil {
		b.meanwhile[id] = true
	}
}

// less takes one from what is owed to a target. mu is held.
func (b *debts) less(to lane) {
	if b.owed[to]--; b.owed[to] == 0 {
		delete(b.owed, to)
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
