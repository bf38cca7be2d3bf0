package store

import (
	"context"
	"time"

	"bellhop/core"
)

// Retention implements core.Admissions.
func (s *Store) Retention(ctx context.Context, before time.Time) (int, error) {
	const op = "trim payloads"
	total := 0
	for {
		n := 0
		err := s.write(ctx, op, unsynced, func(t *tx) error {
			old, err := all(t, scanAdmission, selectAdmissions+` WHERE a.open = 0 AND a.trimmed = 0 AND a.settled < ?
				ORDER BY a.settled LIMIT ?`, ms(before), pruneStep)
			if err != nil {
				return err
			}
			for _, a := range old {
				if err := t.trim(a); err != nil {
					return err
				}
			}
			n = len(old)
			return nil
		})
		if err != nil {
			return total, err
		}
		if total += n; n < pruneStep {
			return total, nil
		}
	}
}

// trim leaves of a submission what identifies it.
func (t *tx) trim(a core.Admission) error {
	v := a.Submission
	submission, err := text(core.Submission{Key: v.Key, Source: v.Source, RequestID: v.RequestID, AuthorID: v.AuthorID,
		Surface: v.Surface, MessageID: v.MessageID, Route: v.Route, Sent: v.Sent, Producer: v.Producer, Display: v.Display})
	if err != nil {
		return err
	}
	if _, err = t.exec(`UPDATE admissions SET submission = ?, raw = NULL, trimmed = 1 WHERE id = ?`, submission, a.ID); err != nil {
		return err
	}
	_, err = t.exec(`UPDATE requests SET piece = '' WHERE admission = ? AND piece <> ''`, a.ID)
	return err
}

// DeleteConversation implements core.Sessions.
func (s *Store) DeleteConversation(ctx context.Context, c core.ConversationID) error {
	const op = "delete conversation"
	return s.write(ctx, op, synced, func(t *tx) error {
		if _, err := conversation(t, op, c); err != nil {
			return err
		}
		open, err := all(t, scanAdmission, selectAdmissions+` WHERE a.conversation = ? AND a.open = 1`, c)
		if err != nil {
			return err
		}
		if len(open) > 0 {
			return core.Errorf(op, core.Busy, "%d messages of %s are open", len(open), c)
		}
		if err := t.uncount(c); err != nil {
			return err
		}
		t.grew(growth{c: c, other: true})
		for _, q := range []string{
			`DELETE FROM requests WHERE admission IN (SELECT id FROM admissions WHERE conversation = ?)`,
			`DELETE FROM resolutions WHERE admission IN (SELECT id FROM admissions WHERE conversation = ?)`,
			`DELETE FROM admissions WHERE conversation = ?`,
			`DELETE FROM deliveries WHERE conversation = ?`,
			`DELETE FROM questions WHERE conversation = ?`,
			`DELETE FROM events WHERE conversation = ?`,
			`DELETE FROM calls WHERE conversation = ?`,
			`DELETE FROM messages WHERE conversation = ?`,
			`DELETE FROM sessions WHERE conversation = ?`,
			`DELETE FROM leases WHERE conversation = ?`,
			`DELETE FROM keys WHERE conversation = ?`,
			`DELETE FROM conversations WHERE id = ?`,
		} {
			if _, err := t.exec(q, c); err != nil {
				return err
			}
		}
		return nil
	}, string(c))
}

// uncount takes the rows of a conversation, all terminal, out of the tally.
func (t *tx) uncount(c core.ConversationID) error {
	results, err := all(t, scanCount, `SELECT result, COUNT(*), 0 FROM admissions WHERE conversation = ? GROUP BY result`, c)
	for _, r := range results {
		t.count(tallyAccepted, -r.n)
		t.count(tallyEnded+r.name, -r.n)
	}
	return err
}
