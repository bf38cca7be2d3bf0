package deliver

import (
	"context"
	"time"

	"bellhop/core"
)

const (
	dueAtOnce  = 64              // rows taken from the store at once
	storePause = 5 * time.Second // before the store is asked again after it failed

	// lookEvery is how often the store is looked at without a reason: rows of another process come without a kick.
	lookEvery = 5 * time.Second
	// recallEvery is how often what is believed to be owed is held against the store.
	recallEvery = time.Minute
	// leastRest keeps a row that is due, but stands behind one that is being sent, from keeping the loop busy.
	leastRest = 100 * time.Millisecond
)

// TakeOver frees what the process before this one owned and did not finish, so that Run sends it first. Call it before
// anything new can be said: rows of this process would look the same. It does nothing where others deliver, too.
func (m *Mouth) TakeOver(ctx context.Context) error {
	m.took = true
	if !m.cfg.Alone {
		return nil
	}
	return m.cfg.Store.Seize(ctx)
}

// outbox sends rows as they become due. It sleeps until the next row's time, a kick, or lookEvery.
func (m *Mouth) outbox(ctx context.Context) error {
	if !m.took {
		if err := m.TakeOver(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("what was left over cannot be taken up yet; it is when its time comes", "err", err)
		}
	}
	m.recall(ctx)
	recalled := time.Now()
	for {
		m.hasten(ctx)
		if time.Since(recalled) >= recallEvery && m.debts.any() {
			m.recall(ctx)
			recalled = time.Now()
		}
		full, next, err := m.due(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			m.log.Warn("the outbox cannot be read", "err", err)
			next = time.Now().Add(storePause)
		}
		if full {
			continue
		}
		if !m.rest(ctx, next) {
			return nil
		}
	}
}

// recall learns which answers are owed, from the store.
func (m *Mouth) recall(ctx context.Context) {
	err := m.debts.renew(func() ([]core.Delivery, error) { return m.cfg.Store.Owing(ctx, core.DeliverFinal, keepDebts) })
	if err != nil && ctx.Err() == nil {
		m.log.Warn("what is owed cannot be read; a newer answer may be shown before it", "err", err)
	}
}

// hasten makes due what waits for platforms that work again, or one row to see whether they do.
func (m *Mouth) hasten(ctx context.Context) {
	for name, c := range m.channels {
		most := 0
		switch c.reach.hasten() {
		case noHaste:
			continue
		case oneRow:
			most = 1
		}
		if err := m.cfg.Store.Hasten(ctx, name, time.Now(), most); err != nil && ctx.Err() == nil {
			m.log.Warn("what is owed is sent when its time comes, and not at once", "platform", name, "err", err)
		}
	}
}

// rest sleeps until next, if that is set, at most for lookEvery, or until a kick. false: ctx has ended.
func (m *Mouth) rest(ctx context.Context, next time.Time) bool {
	d := lookEvery
	if !next.IsZero() {
		d = min(d, max(time.Until(next), leastRest))
	}
	return sleep(ctx, d, m.kick) == nil
}

// due takes due rows into their lanes. full: there may be more. next is when the next row will be due.
func (m *Mouth) due(ctx context.Context) (full bool, next time.Time, err error) {
	rows, err := m.cfg.Store.Due(ctx, time.Now(), ownFor, dueAtOnce)
	if err != nil {
		return false, next, err
	}
	for _, d := range rows {
		m.debts.note(d)
		m.lanes.push(d)
	}
	m.lanes.start(m)
	if len(rows) == dueAtOnce {
		return true, next, nil
	}
	next, err = m.cfg.Store.Next(ctx)
	return false, next, err
}

// leftover decides about the preview of a turn whose consumer is gone. The turn's retry adopts it, or its final has it
// already; until one of them is there the row waits.
func (m *Mouth) leftover(ctx context.Context, d core.Delivery) error {
	rows, err := m.cfg.Store.Of(ctx, d.Admission)
	if err != nil {
		return err
	}
	d.State, d.LiveUntil = core.DeliveryLive, time.Time{}
	for _, r := range rows {
		if r.Kind == core.DeliverFinal {
			d.State, d.Done = core.DeliveryMoved, time.Now()
		}
	}
	return m.save(ctx, d)
}
