package store

import (
	"context"
	"time"

	"bellhop/core"
)

// Settle implements core.Admissions. The lease must still be the fence's, but may have run out meanwhile: as long as
// nobody took the conversation, storing a finished answer is better than losing it. What belongs to its consumer does so
// from the commit on, however long that had to wait.
func (s *Store) Settle(ctx context.Context, f core.Fence, id core.AdmissionID, v core.Settlement) (more bool, err error) {
	const op = "settle"
	asked := s.now()
	err = s.write(ctx, op, synced, func(t *tx) error {
		now := t.now
		ours, err := t.release(f)
		if err != nil {
			return err
		}
		if !ours {
			return stale(op, f)
		}
		if err := t.endTurn(f, id, v.Outcome, now); err != nil {
			return err
		}
		w := writing{t: t, conversation: f.Conversation, turn: f.Turn, now: now}
		if err := w.account(v.Outcome.Usage, len(v.Tail)); err != nil {
			return err
		}
		if err := w.messages(v.Tail); err != nil {
			return err
		}
		if err := w.events(v.Events); err != nil {
			return err
		}
		for _, d := range v.Deliveries {
			if !d.LiveUntil.IsZero() {
				d.LiveUntil = d.LiveUntil.Add(s.now().Sub(asked)) // both by the clock that made it
			}
			if err := t.deliver(w.owned(d, id)); err != nil {
				return err
			}
		}
		_, err = t.row(`SELECT EXISTS (SELECT 1 FROM admissions WHERE conversation = ? AND open = 1 AND status = 'queued')`,
			f.Conversation).scan(&more)
		return err
	}, string(f.Conversation))
	return more && err == nil, err
}

// endTurn makes the started row of this generation terminal.
func (t *tx) endTurn(f core.Fence, id core.AdmissionID, o core.Outcome, now time.Time) error {
	outcome, err := text(o)
	if err != nil {
		return err
	}
	n, err := t.exec(`UPDATE admissions SET status = 'terminal', open = 0, result = ?, reason = ?, outcome = ?, settled = ?
		WHERE id = ? AND conversation = ? AND status = 'started' AND generation = ?`,
		o.Result, o.Reason, outcome, ms(now), id, f.Conversation, f.Generation)
	if err == nil && n == 0 {
		err = core.Errorf("settle", core.Conflict, "%s was not started by generation %d", id, f.Generation)
	}
	if err == nil {
		t.count(tallyEnded+string(o.Result), 1)
	}
	return err
}

// account adds a turn's cost to its conversation, raises the version of the transcript when a tail comes, and finds the
// newest session.
func (w *writing) account(u core.Usage, tail int) error {
	_, err := w.t.put(`UPDATE conversations SET turns = turns + 1, updated = ?, history = history + ?,
			calls = calls + ?, input = input + ?, output = output + ?, cache_read = cache_read + ?, cache_write = cache_write + ?,
			reasoning = reasoning + ?, cost = cost + ?, estimated = CASE WHEN ? <> 0 THEN 1 ELSE estimated END
		WHERE id = ? RETURNING session, history`, ms(w.now), min(tail, 1),
		u.Calls, u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.Cost, bit(u.Estimated), w.conversation).scan(&w.session, &w.version)
	return err
}

// owned fills in what a delivery need not repeat.
func (w *writing) owned(d core.Delivery, id core.AdmissionID) core.Delivery {
	if d.Conversation == "" {
		d.Conversation = w.conversation
	}
	if d.Admission == "" {
		d.Admission = id
	}
	if d.Turn == "" {
		d.Turn = w.turn
	}
	if d.Created.IsZero() {
		d.Created = w.now
	}
	return d
}
