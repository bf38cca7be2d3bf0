package store

import (
	"cmp"
	"context"
	"math"
	"time"

	"bellhop/core"
)

// Hasten implements core.Deliveries.
func (o outbox) Hasten(ctx context.Context, platform string, now time.Time, most int) error {
	from := platform + "\x1f" // every target of the platform begins so, and with nothing that comes before a blank
	return o.s.write(ctx, "hasten deliveries", unsynced, func(t *tx) error {
		const early = `FROM deliveries WHERE due IS NOT NULL AND target >= ? AND target < ?
			AND state NOT IN ('live', 'sending') AND live_until <= ? AND error <> '' AND due > ?`
		at := ms(now)
		_, err := t.exec(`UPDATE deliveries SET due = ? WHERE n IN (SELECT n `+early+` ORDER BY due, n LIMIT ?)`,
			at, from, platform+" ", at, at, cmp.Or(most, math.MaxInt32))
		return err
	})
}

// Aside implements core.Deliveries. The row becomes a target of its own.
func (o outbox) Aside(ctx context.Context, d core.Delivery) error {
	return o.s.write(ctx, "set a delivery aside", unsynced, func(t *tx) error {
		if err := t.save(d); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE deliveries SET target = ? WHERE id = ?`, apart(d), d.ID)
		return err
	})
}

// Owing implements core.Deliveries.
func (o outbox) Owing(ctx context.Context, kind core.DeliveryKind, limit int) ([]core.Delivery, error) {
	return all(o.s.read(ctx, "list what is owed"), scanDelivery, selectDeliveries+`
		WHERE d.due IS NOT NULL AND d.state <> 'live' AND d.kind = ? ORDER BY d.due LIMIT ?`, kind, limit)
}
