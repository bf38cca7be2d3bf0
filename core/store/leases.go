package store

import (
	"context"
	"crypto/rand"
	"time"

	"bellhop/core"
)

const leaseColumns = `l.conversation, l.generation, l.token, l.turn, l.holder, l.ttl, l.expires`

func scanLease(r scanner) (l core.Lease, err error) {
	var holder string
	var ttl, expires int64
	f := &l.Fence
	if err = r.Scan(&f.Conversation, &f.Generation, &f.Token, &f.Turn, &holder, &ttl, &expires); err != nil {
		return l, err
	}
	l.TTL, l.Expires = time.Duration(ttl)*time.Millisecond, at(expires)
	return l, structure(holder, &l.Holder)
}

// Acquire implements core.Leases.
func (s *Store) Acquire(ctx context.Context, c core.ConversationID, turn core.TurnID, h core.Holder, ttl time.Duration,
	alive func(core.Holder) bool) (core.Lease, error) {
	return s.acquire(ctx, c, turn, h, ttl, alive, nil)
}

// acquire takes the lease and then, in the same transaction, calls then, which may be nil.
func (s *Store) acquire(ctx context.Context, c core.ConversationID, turn core.TurnID, h core.Holder, ttl time.Duration,
	alive func(core.Holder) bool, then func(t *tx, f core.Fence, now time.Time) error) (core.Lease, error) {
	const op = "acquire lease"
	if ttl < time.Millisecond {
		return core.Lease{}, core.Errorf(op, core.Invalid, "a lease of %v", ttl)
	}
	holder, err := text(h)
	if err != nil {
		return core.Lease{}, err
	}
	l := core.Lease{Fence: core.Fence{Conversation: c, Token: rand.Text(), Turn: turn}, Holder: h, TTL: ttl}
	var held *core.Held
	err = s.write(ctx, op, unsynced, func(t *tx) (err error) {
		now := t.now
		l.Expires = at(ms(now.Add(ttl)))
		if held, err = t.take(&l, holder, now, alive); err != nil || held != nil || then == nil {
			return err
		}
		return then(t, l.Fence, now)
	}, string(c))
	if err == nil && held != nil {
		err = core.E(op, core.Busy, held)
	}
	if err != nil {
		return core.Lease{}, err
	}
	return l, nil
}

// take takes the lease, unless it returns who holds it, and turns what an older turn left started into unknown.
func (t *tx) take(l *core.Lease, holder string, now time.Time, alive func(core.Holder) bool) (held *core.Held, err error) {
	taken, err := t.seize(l, holder, now, "")
	if err == nil && !taken {
		held, err = t.supersede(l, holder, now, alive)
	}
	if err != nil || held != nil {
		return held, err
	}
	_, err = t.exec(`UPDATE admissions SET status = 'unknown'
		WHERE conversation = ? AND open = 1 AND status = 'started'`, l.Fence.Conversation)
	return nil, err
}

// seize takes a lease that is free, expired, or still has the given token, and raises the generation.
func (t *tx) seize(l *core.Lease, holder string, now time.Time, over string) (bool, error) {
	f := &l.Fence
	found, err := t.put(`INSERT INTO leases (conversation, generation, token, turn, holder, ttl, acquired, expires)
		SELECT id, 1, ?, ?, ?, ?, ?, ? FROM conversations WHERE id = ?
		ON CONFLICT (conversation) DO UPDATE SET generation = leases.generation + 1, token = excluded.token, turn = excluded.turn,
			holder = excluded.holder, ttl = excluded.ttl, acquired = excluded.acquired, expires = excluded.expires
		WHERE leases.token = '' OR leases.token = ? OR leases.expires <= ?
		RETURNING generation`,
		f.Token, f.Turn, holder, l.TTL.Milliseconds(), ms(now), ms(l.Expires), f.Conversation, over, ms(now)).scan(&f.Generation)
	return found, err
}

// supersede takes the lease from a holder that is provably gone; otherwise it returns who holds it. An expiry further
// away than the lease's whole ttl was written before the clock went back: it is shortened, so that nobody waits longer.
func (t *tx) supersede(l *core.Lease, holder string, now time.Time, alive func(core.Holder) bool) (*core.Held, error) {
	const op = "acquire lease"
	c := l.Fence.Conversation
	held, found, err := one(t, scanLease, `SELECT `+leaseColumns+` FROM leases l WHERE l.conversation = ?{lock}`, c)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, core.Errorf(op, core.NotFound, "no conversation %s", c)
	}
	if alive != nil && !alive(held.Holder) {
		taken, err := t.seize(l, holder, now, held.Fence.Token)
		if err == nil && !taken {
			err = core.Errorf(op, core.Internal, "the lease of %s changed under its lock", c)
		}
		return nil, err
	}
	if longest := at(ms(now)).Add(held.TTL); held.Expires.After(longest) {
		held.Expires = longest
		if _, err := t.exec(`UPDATE leases SET expires = ? WHERE conversation = ?`, ms(longest), c); err != nil {
			return nil, err
		}
	}
	return &core.Held{By: held.Holder, Turn: held.Fence.Turn, Expires: held.Expires}, nil
}

// Renew implements core.Leases. A lease that has expired is not ours any more, even when nobody took it.
func (s *Store) Renew(ctx context.Context, f core.Fence, ttl time.Duration) (l core.Lease, err error) {
	const op = "renew lease"
	if ttl < time.Millisecond {
		return l, core.Errorf(op, core.Invalid, "a lease of %v", ttl)
	}
	err = s.write(ctx, op, unsynced, func(t *tx) error {
		now := t.now
		var holder string
		var expires int64
		found, err := t.put(`UPDATE leases SET ttl = ?, expires = ?
			WHERE conversation = ? AND token = ? AND generation = ? AND expires > ? RETURNING holder, expires`,
			ttl.Milliseconds(), ms(now.Add(ttl)), f.Conversation, f.Token, f.Generation, ms(now)).scan(&holder, &expires)
		if err == nil && !found {
			err = stale(op, f)
		}
		if err != nil {
			return err
		}
		l = core.Lease{Fence: f, TTL: ttl, Expires: at(expires)}
		return structure(holder, &l.Holder)
	}, string(f.Conversation))
	return l, err
}

// Release implements core.Leases.
func (s *Store) Release(ctx context.Context, f core.Fence) error {
	return s.write(ctx, "release lease", unsynced, func(t *tx) error {
		_, err := t.release(f)
		return err
	}, string(f.Conversation))
}

// release frees a lease that still has the fence's token; an expired one too, so that nobody waits for it.
func (t *tx) release(f core.Fence) (bool, error) {
	n, err := t.exec(`UPDATE leases SET token = '', turn = '', expires = 0
		WHERE conversation = ? AND token = ? AND token <> '' AND generation = ?`, f.Conversation, f.Token, f.Generation)
	return n == 1, err
}

// Holds implements core.Leases.
func (s *Store) Holds(ctx context.Context, f core.Fence) error {
	const op = "check fence"
	r := s.read(ctx, op)
	now, err := r.now()
	if err != nil {
		return err
	}
	return fenced(r, op, f, now)
}

func (t *tx) fenced(op string, f core.Fence, now time.Time) error { return fenced(t, op, f, now) }

// fenced returns Stale unless the fence is of the lease that is held now.
func fenced(q querier, op string, f core.Fence, now time.Time) error {
	var n int
	found, err := q.row(`SELECT 1 FROM leases WHERE conversation = ? AND token = ? AND token <> '' AND generation = ? AND expires > ?{lock}`,
		f.Conversation, f.Token, f.Generation, ms(now)).scan(&n)
	if err == nil && !found {
		err = stale(op, f)
	}
	return err
}

func stale(op string, f core.Fence) error {
	return core.Errorf(op, core.Stale, "generation %d of %s is over", f.Generation, f.Conversation)
}

// Leases implements core.Leases.
func (s *Store) Leases(ctx context.Context) ([]core.Lease, error) {
	r := s.read(ctx, "list leases")
	now, err := r.now()
	if err != nil {
		return nil, err
	}
	return all(r, scanLease,
		`SELECT `+leaseColumns+` FROM leases l WHERE l.token <> '' AND l.expires > ? ORDER BY l.acquired, l.conversation`, ms(now))
}
