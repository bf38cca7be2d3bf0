package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"bellhop/core"
)

// Orphan implements core.Admissions. It looks first and takes the write lock only when there is something to do.
func (s *Store) Orphan(ctx context.Context, alive func(core.Holder) bool) (out []core.Admission, err error) {
	const op = "find orphans"
	r := s.read(ctx, op)
	now, err := r.now()
	if err != nil {
		return nil, err
	}
	if lost, err := orphans(r, now, alive); err != nil || len(lost) == 0 {
		return nil, err
	}
	err = s.write(ctx, op, unsynced, func(t *tx) error {
		out = nil
		lost, err := orphans(t, t.now, alive)
		for _, l := range lost {
			if err == nil {
				err = t.orphan(l, &out)
			}
		}
		return err
	})
	slices.SortFunc(out, func(a, b core.Admission) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, err
}

// orphans returns the leases of conversations that have a started row, or a lease, whose owner is gone.
func orphans(q querier, now time.Time, alive func(core.Holder) bool) (lost []core.Lease, err error) {
	leases, err := all(q, scanLease, `SELECT `+leaseColumns+` FROM leases l WHERE l.token <> '' OR EXISTS (SELECT 1 FROM admissions a
		WHERE a.conversation = l.conversation AND a.open = 1 AND a.status = 'started')`)
	for _, l := range leases {
		held := l.Fence.Token != "" && l.Expires.After(now)
		if !held || alive != nil && !alive(l.Holder) {
			lost = append(lost, l)
		}
	}
	return lost, err
}

// orphan frees a lease, unless it has changed hands, and makes what ran under it unknown.
func (t *tx) orphan(l core.Lease, out *[]core.Admission) error {
	c := l.Fence.Conversation
	if err := t.hold(c, ""); err != nil {
		return err
	}
	n, err := t.exec(`UPDATE leases SET token = '', turn = '', expires = 0 WHERE conversation = ? AND token = ? AND expires = ?`,
		c, l.Fence.Token, ms(l.Expires))
	if err != nil || n == 0 {
		return err
	}
	started, err := all(t, scanAdmission, selectAdmissions+` WHERE a.conversation = ? AND a.open = 1 AND a.status = 'started'`, c)
	if err != nil {
		return err
	}
	for _, a := range started {
		a.Status = core.Unknown
		*out = append(*out, a)
	}
	_, err = t.exec(`UPDATE admissions SET status = 'unknown' WHERE conversation = ? AND open = 1 AND status = 'started'`, c)
	return err
}

// Resolve implements core.Admissions.
func (s *Store) Resolve(ctx context.Context, id core.AdmissionID, r core.Resolution) (retry *core.Admission, err error) {
	const op = "resolve"
	err = s.write(ctx, op, synced, func(t *tx) error {
		now := t.now
		if err := t.hold("", id); err != nil {
			return err
		}
		a, err := admission(t, op, id)
		if err != nil {
			return err
		}
		if a.Status != core.Unknown {
			return core.Errorf(op, core.Conflict, "%s is not unknown: it is %s", id, a.Status)
		}
		if retry = nil; r.Retry || r.Resume {
			if retry, err = t.again(a, r.Resume, now); err != nil {
				return err
			}
		}
		if err := t.end(&a, r.Outcome, now); err != nil {
			return err
		}
		if err := t.evidence(a, r, retry, now); err != nil {
			return err
		}
		w := writing{t: t, conversation: a.Conversation, turn: a.Turn, admission: a.ID, now: now}
		if err := w.account(r.Outcome.Usage, len(r.Tail)); err != nil {
			return err
		}
		if err := w.messages(r.Tail); err != nil {
			return err
		}
		if err := w.calls(r.Calls); err != nil {
			return err
		}
		if r.Deliver == nil {
			return nil
		}
		return t.deliver(w.owned(*r.Deliver, a.ID))
	})
	if err != nil {
		return nil, err
	}
	return retry, nil
}

func (t *tx) evidence(a core.Admission, r core.Resolution, retry *core.Admission, now time.Time) error {
	var next core.AdmissionID
	if retry != nil {
		next = retry.ID
	}
	_, err := t.exec(`INSERT INTO resolutions (admission, by_id, why, retry, at) VALUES (?, ?, ?, ?, ?)`, a.ID, r.By, r.Why, next, ms(now))
	return err
}

// again admits the row that retries a, in a's place. The retried turn's live message, if the platform took one, waits for it
// without a deadline, and so do its questions, open or ended: the row asks them again by asking the same.
func (t *tx) again(a core.Admission, resume bool, now time.Time) (*core.Admission, error) {
	next := core.Admission{ID: core.AdmissionID(newID()), Conversation: a.Conversation, Seq: a.Seq, Status: core.Queued,
		By: a.By, Caps: a.Caps, Admin: a.Admin, Submission: a.Submission, RetryOf: a.ID, Resume: resume, Created: at(ms(now))}
	submission, err := text(next.Submission)
	if err != nil {
		return nil, err
	}
	if err := t.insert(&next, submission, "", nil); err != nil {
		return nil, err
	}
	if _, err := t.exec(`UPDATE deliveries SET state = CASE parts WHEN '' THEN 'moved' ELSE 'live' END,
		done = CASE parts WHEN '' THEN ? ELSE done END, live_until = 0, due = NULL
		WHERE admission = ? AND admission <> '' AND kind = 'preview' AND state IN ('live', 'owed', 'sending')`, ms(now), a.ID); err != nil {
		return nil, err
	}
	_, err = t.exec(`UPDATE questions SET admission = ? WHERE conversation = ? AND state <> 'dropped' AND admission = ?`,
		next.ID, a.Conversation, a.ID)
	return &next, err
}
