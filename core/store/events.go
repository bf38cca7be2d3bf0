package store

import (
	"context"
	"time"

	"bellhop/core"
)

// Reserve implements core.Events.
func (s *Store) Reserve(ctx context.Context, c core.ConversationID, n int) (first int64, err error) {
	const op = "reserve events"
	if n <= 0 {
		return 0, core.Errorf(op, core.Invalid, "%d numbers", n)
	}
	err = s.write(ctx, op, unsynced, func(t *tx) error {
		var last int64
		found, err := t.put(`UPDATE conversations SET events = events + ? WHERE id = ? RETURNING events`, n, c).scan(&last)
		if err == nil && !found {
			err = core.Errorf(op, core.NotFound, "no conversation %s", c)
		}
		first = last - int64(n) + 1
		return err
	}, string(c))
	if err != nil {
		return 0, err
	}
	return first, nil
}

// Record implements core.Events. Recording a number again changes nothing.
func (s *Store) Record(ctx context.Context, events ...core.Event) error {
	return s.write(ctx, "record events", unsynced, func(t *tx) error {
		w := writing{t: t, now: t.now}
		return w.events(events)
	})
}

// events inserts the durable ones of list.
func (w *writing) events(list []core.Event) error {
	for _, e := range list {
		if !e.Type.Durable() {
			continue
		}
		if e.Conversation == "" {
			e.Conversation = w.conversation
		}
		if e.Seq <= 0 {
			return core.Errorf("record event", core.Invalid, "%s has no number", e.Type)
		}
		if e.At.IsZero() {
			e.At = w.now
		}
		_, err := w.t.exec(`INSERT INTO events (conversation, seq, admission, turn, body, at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (conversation, seq) DO NOTHING`, e.Conversation, e.Seq, e.Admission, e.Turn, string(e.JSON()), ms(e.At))
		if err != nil {
			return err
		}
	}
	return nil
}

func scanEvent(r scanner) (e core.Event, err error) {
	var body string
	var when int64
	if err = r.Scan(&e.Conversation, &e.Seq, &e.Admission, &e.Turn, &body, &when); err != nil {
		return e, err
	}
	e.At = at(when)
	return e, structure(body, &e.EventBody)
}

// Since implements core.Events.
func (s *Store) Since(ctx context.Context, c core.ConversationID, seq int64, limit int) ([]core.Event, error) {
	return all(s.read(ctx, "read events"), scanEvent, `SELECT conversation, seq, admission, turn, body, at FROM events
		WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?`, c, seq, limit)
}

// Trim implements core.Events.
func (s *Store) Trim(ctx context.Context, before time.Time) (int, error) {
	return s.prune(ctx, "trim events", `DELETE FROM events WHERE (conversation, seq) IN (SELECT e.conversation, e.seq FROM events e
		WHERE e.at < ? AND NOT EXISTS (SELECT 1 FROM admissions a WHERE a.conversation = e.conversation AND a.open = 1)
		LIMIT ?)`, ms(before))
}

// pruneStep is how many rows one transaction of a clean-up touches: others wait for it.
const pruneStep = 100

// prune repeats a clean-up, whose last argument is a limit, until it finds nothing more. It returns how many rows it
// touched.
func (s *Store) prune(ctx context.Context, op, q string, args ...any) (int, error) {
	total := 0
	for {
		var n int64
		err := s.write(ctx, op, unsynced, func(t *tx) error {
			var err error
			n, err = t.exec(q, append(args, pruneStep)...)
			return err
		})
		total += int(n)
		if err != nil || n < pruneStep {
			return total, err
		}
	}
}
