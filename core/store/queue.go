package store

import (
	"context"
	"slices"
	"time"

	"bellhop/core"
)

// waiting returns a queued row. Conflict: it is not queued any more.
func (t *tx) waiting(op string, id core.AdmissionID) (core.Admission, error) {
	a, err := admission(t, op, id)
	if err == nil && a.Status != core.Queued {
		err = core.Errorf(op, core.Conflict, "%s does not wait: it is %s", id, a.Status)
	}
	return a, err
}

// end makes a row terminal, whatever its status, and counts it. Callers have checked the status in this transaction.
func (t *tx) end(a *core.Admission, o core.Outcome, now time.Time) error {
	outcome, err := text(o)
	if err != nil {
		return err
	}
	n, err := t.exec(`UPDATE admissions SET status = 'terminal', open = 0, result = ?, reason = ?, outcome = ?, joins = '', settled = ?
		WHERE id = ? AND status = ?`, o.Result, o.Reason, outcome, ms(now), a.ID, a.Status)
	if err == nil && n == 0 {
		err = core.Errorf("end", core.Conflict, "%s is not %s", a.ID, a.Status)
	}
	if err != nil {
		return err
	}
	a.Status, a.Outcome, a.Settled = core.Terminal, o, at(ms(now))
	t.count(tallyEnded+string(o.Result), 1)
	return nil
}

const selectQueued = selectAdmissions + ` WHERE a.conversation = ? AND a.open = 1 AND a.status = 'queued' ORDER BY a.seq{lock}`

// Cancel implements core.Admissions.
func (s *Store) Cancel(ctx context.Context, c core.ConversationID, o core.Outcome, ids ...core.AdmissionID) (out []core.Admission, err error) {
	err = s.write(ctx, "cancel", synced, func(t *tx) error {
		out = nil
		queued, err := all(t, scanAdmission, selectQueued, c)
		if err != nil {
			return err
		}
		for _, a := range queued {
			if len(ids) > 0 && !slices.Contains(ids, a.ID) {
				continue
			}
			if err := t.end(&a, o, t.now); err != nil {
				return err
			}
			out = append(out, a)
		}
		return nil
	}, string(c))
	return out, err
}

// Move implements core.Admissions. The rows of a conversation exchange their order numbers.
func (s *Store) Move(ctx context.Context, id core.AdmissionID, place int) error {
	const op = "move"
	return s.write(ctx, op, synced, func(t *tx) error {
		if err := t.hold("", id); err != nil {
			return err
		}
		a, err := t.waiting(op, id)
		if err != nil {
			return err
		}
		queued, err := all(t, scanAdmission, selectQueued, a.Conversation)
		if err != nil {
			return err
		}
		order := slices.Clone(queued)
		i := slices.IndexFunc(order, func(b core.Admission) bool { return b.ID == id })
		order = slices.Insert(slices.Delete(order, i, i+1), min(max(place, 0), len(order)-1), queued[i])
		for i, b := range order {
			if b.Seq == queued[i].Seq {
				continue
			}
			if _, err := t.exec(`UPDATE admissions SET seq = ? WHERE id = ?`, queued[i].Seq, b.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// Unhold implements core.Admissions.
func (s *Store) Unhold(ctx context.Context, id core.AdmissionID) error {
	const op = "unhold"
	return s.write(ctx, op, unsynced, func(t *tx) error {
		if err := t.hold("", id); err != nil {
			return err
		}
		if _, err := t.waiting(op, id); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE admissions SET hold = 0 WHERE id = ?`, id)
		return err
	})
}
