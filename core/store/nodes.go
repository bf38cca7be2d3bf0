package store

import (
	"context"
	"crypto/rand"
	"time"

	"bellhop/core"
)

// Beat implements core.Nodes. Nodes that are gone for long leave no row behind.
func (s *Store) Beat(ctx context.Context, n core.Node, ttl time.Duration) (live, gone []core.Node, err error) {
	const op = "beat"
	if ttl < time.Millisecond || n.Holder.Instance == "" {
		return nil, nil, core.Errorf(op, core.Invalid, "a node %q for %v", n.Holder.Instance, ttl)
	}
	holder, err := text(n.Holder)
	if err != nil {
		return nil, nil, err
	}
	err = s.write(ctx, op, unsynced, func(t *tx) error {
		_, err := t.exec(`INSERT INTO nodes (instance, holder, version, started, expires) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (instance) DO UPDATE SET expires = excluded.expires, version = excluded.version`,
			n.Holder.Instance, holder, n.Version, ms(t.now), ms(t.now.Add(ttl)))
		if err == nil {
			_, err = t.exec(`DELETE FROM nodes WHERE expires < ?`, ms(t.now.Add(-forgetNode)))
		}
		if err != nil {
			return err
		}
		known, err := all(t, scanNode, `SELECT holder, version, started, expires FROM nodes ORDER BY started, instance`)
		live, gone = nil, nil
		for _, n := range known {
			if n.Expires.After(t.now) {
				live = append(live, n)
			} else {
				gone = append(gone, n)
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return live, gone, nil
}

// forgetNode is for how long a node that is gone is remembered as such.
const forgetNode = time.Hour

func scanNode(r scanner) (n core.Node, err error) {
	var holder string
	var started, expires int64
	if err = r.Scan(&holder, &n.Version, &started, &expires); err != nil {
		return n, err
	}
	n.Started, n.Expires = at(started), at(expires)
	return n, structure(holder, &n.Holder)
}

// Leave implements core.Nodes.
func (s *Store) Leave(ctx context.Context, h core.Holder) error {
	return s.write(ctx, "leave", unsynced, func(t *tx) error {
		_, err := t.exec(`UPDATE seats SET token = '', instance = '', expires = 0 WHERE instance = ?`, h.Instance)
		if err == nil {
			_, err = t.exec(`UPDATE nodes SET expires = ? WHERE instance = ?`, ms(t.now), h.Instance)
		}
		return err
	})
}

// Sit implements core.Nodes.
func (s *Store) Sit(ctx context.Context, name string, h core.Holder, ttl time.Duration, alive func(core.Holder) bool) (seat core.Seat, err error) {
	const op = "take seat"
	if ttl < time.Millisecond || name == "" || h.Instance == "" {
		return seat, core.Errorf(op, core.Invalid, "seat %q for %q, %v", name, h.Instance, ttl)
	}
	holder, err := text(h)
	if err != nil {
		return seat, err
	}
	var held *core.Held
	err = s.write(ctx, op, unsynced, func(t *tx) (err error) {
		c := chair{tx: t, name: name, holder: holder, instance: h.Instance, ttl: ttl}
		seat, held, err = c.take(alive)
		return err
	})
	if err == nil && held != nil {
		err = core.E(op, core.Busy, held)
	}
	if err != nil {
		return core.Seat{}, err
	}
	return seat, nil
}

// chair is one attempt to sit.
type chair struct {
	*tx
	name, holder, instance string
	ttl                    time.Duration
}

// take keeps a seat that is ours, takes one that is free or run out, and otherwise looks who sits there.
func (c chair) take(alive func(core.Holder) bool) (core.Seat, *core.Held, error) {
	seat, ok, err := c.seize("")
	if ok || err != nil {
		return seat, nil, err
	}
	var token, by string
	var expires int64
	if _, err := c.row(`SELECT token, holder, expires FROM seats WHERE name = ?{lock}`, c.name).scan(&token, &by, &expires); err != nil {
		return seat, nil, err
	}
	held := &core.Held{Expires: at(expires)}
	if err := structure(by, &held.By); err != nil {
		return seat, nil, err
	}
	if alive == nil || alive(held.By) {
		return seat, held, nil
	}
	seat, ok, err = c.seize(token)
	if err == nil && !ok {
		return seat, held, nil
	}
	return seat, nil, err
}

// seize takes the seat when it is free, ours, run out, or still has the token over. One that is ours and has not run out
// keeps its generation and token.
func (c chair) seize(over string) (core.Seat, bool, error) {
	now, token := ms(c.now), rand.Text()
	seat := core.Seat{Name: c.name, TTL: c.ttl, Expires: at(ms(c.now.Add(c.ttl)))}
	ok, err := c.put(`INSERT INTO seats (name, generation, token, instance, holder, ttl, expires) VALUES (?, 1, ?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET
			generation = CASE WHEN seats.instance = excluded.instance AND seats.expires > ? THEN seats.generation ELSE seats.generation + 1 END,
			token = CASE WHEN seats.instance = excluded.instance AND seats.expires > ? THEN seats.token ELSE excluded.token END,
			instance = excluded.instance, holder = excluded.holder, ttl = excluded.ttl, expires = excluded.expires
		WHERE seats.token = '' OR seats.token = ? OR seats.instance = excluded.instance OR seats.expires <= ?
		RETURNING generation, token`,
		c.name, token, c.instance, c.holder, c.ttl.Milliseconds(), ms(seat.Expires), now, now, over, now).scan(&seat.Generation, &seat.Token)
	return seat, ok, err
}

// Rise implements core.Nodes.
func (s *Store) Rise(ctx context.Context, seat core.Seat) error {
	return s.write(ctx, "leave seat", unsynced, func(t *tx) error {
		_, err := t.exec(`UPDATE seats SET token = '', instance = '', expires = 0 WHERE name = ? AND token = ? AND token <> ''`, seat.Name, seat.Token)
		return err
	})
}

// Seats implements core.Nodes.
func (s *Store) Seats(ctx context.Context) (map[string]core.Holder, error) {
	r := s.read(ctx, "list seats")
	now, err := r.now()
	if err != nil {
		return nil, err
	}
	out := map[string]core.Holder{}
	_, err = all(r, func(r scanner) (struct{}, error) {
		var name, holder string
		err := r.Scan(&name, &holder)
		var h core.Holder
		if err == nil {
			err = structure(holder, &h)
		}
		out[name] = h
		return struct{}{}, err
	}, `SELECT name, holder FROM seats WHERE token <> '' AND expires > ?`, ms(now))
	return out, err
}

// sits returns Stale unless the seat is still ours.
func (t *tx) sits(seat core.Seat) error {
	if seat.Name == "" {
		return nil
	}
	var n int
	found, err := t.row(`SELECT 1 FROM seats WHERE name = ? AND token = ? AND token <> '' AND expires > ?{lock}`, seat.Name, seat.Token, ms(t.now)).scan(&n)
	if err == nil && !found {
		err = core.Errorf("move cursor", core.Stale, "another node has %s now", seat.Name)
	}
	return err
}
