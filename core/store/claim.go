package store

import (
	"context"
	"time"

	"bellhop/core"
)

// ClaimNext implements core.Admissions.
func (s *Store) ClaimNext(ctx context.Context, f core.Fence, open func(core.Admission) core.Opening) (c core.Claim, err error) {
	const op = "claim"
	err = s.write(ctx, op, unsynced, func(t *tx) error {
		now := t.now
		if err := t.fenced(op, f, now); err != nil {
			return err
		}
		c, err = t.claim(f, open, now)
		return err
	}, string(f.Conversation))
	if err != nil {
		return core.Claim{}, err
	}
	return c, nil
}

// Start implements core.Admissions.
func (s *Store) Start(ctx context.Context, c core.ConversationID, turn core.TurnID, h core.Holder, ttl time.Duration,
	alive func(core.Holder) bool, open func(core.Admission) core.Opening) (core.Lease, *core.Claim, error) {
	var claim *core.Claim
	l, err := s.acquire(ctx, c, turn, h, ttl, alive, func(t *tx, f core.Fence, now time.Time) error {
		claim = nil // of an earlier try
		got, err := t.claim(f, open, now)
		switch {
		case err == nil:
			claim = &got
		case core.Is(err, core.NotFound), core.Is(err, core.Busy): // found out before anything was written
			err = nil
		}
		return err
	})
	if err != nil {
		return core.Lease{}, nil, err
	}
	return l, claim, nil
}

// claim starts the head of the queue under a fence that holds.
func (t *tx) claim(f core.Fence, open func(core.Admission) core.Opening, now time.Time) (c core.Claim, err error) {
	if c.Admission, err = t.head(f.Conversation, now); err != nil {
		return c, err
	}
	var o core.Opening
	if open != nil {
		o = open(c.Admission)
	}
	if err := t.begin(&c, f, len(o.Messages), now); err != nil {
		return c, err
	}
	return c, t.open(&c, f, o, now)
}

// head returns the oldest row of the conversation's queue when it may start now.
func (t *tx) head(c core.ConversationID, now time.Time) (a core.Admission, err error) {
	const op = "claim"
	var row admissionRow
	found, err := t.row(selectAdmissions+` WHERE a.conversation = ? AND a.open = 1 ORDER BY a.seq LIMIT 1{lock}`, c).
		scan(row.dest()...)
	if err != nil {
		return a, err
	}
	if !found {
		return a, core.Errorf(op, core.NotFound, "nothing waits in %s", c)
	}
	if a, err = row.value(); err != nil {
		return a, err
	}
	if a.Status != core.Queued {
		return a, core.Errorf(op, core.Busy, "%s is %s", a.ID, a.Status)
	}
	if a.HoldUntil.After(now) {
		return a, core.E(op, core.Busy, &core.Wait{Until: a.HoldUntil})
	}
	return a, nil
}

// begin starts the row and reserves what its turn needs.
func (t *tx) begin(c *core.Claim, f core.Fence, messages int, now time.Time) error {
	a := &c.Admission
	if _, err := t.exec(`UPDATE admissions SET status = 'started', turn = ?, generation = ?, claimed = ?, joins = '', hold = 0 WHERE id = ?`,
		f.Turn, f.Generation, ms(now), a.ID); err != nil {
		return err
	}
	a.Status, a.Turn, a.Generation, a.Claimed, a.HoldUntil = core.Started, f.Turn, f.Generation, at(ms(now)), time.Time{}
	if err := t.reserve(c, f.Conversation, messages); err != nil {
		return err
	}
	opened, found, err := one(t, scanSession, `SELECT `+sessionColumns+` FROM sessions s WHERE s.id = ?`, c.Session)
	if err != nil {
		return err
	}
	if found {
		c.Opened = &opened
	}
	if a.RetryOf == "" {
		return nil
	}
	return t.handOver(c, now)
}

// reserve takes the turn's event numbers, raises the version of a transcript that is going to grow, and reads the
// conversation.
func (t *tx) reserve(c *core.Claim, id core.ConversationID, messages int) (err error) {
	var last int64
	if _, err := t.put(`UPDATE conversations SET events = events + ?, history = history + ? WHERE id = ?
		RETURNING events, session, (SELECT COUNT(*)
			FROM admissions WHERE conversation = conversations.id AND open = 1 AND status = 'queued')`,
		core.EventBlock, min(messages, 1), id).scan(&last, &c.Session, &c.Queued); err != nil {
		return err
	}
	c.Events = last - core.EventBlock + 1
	c.Conversation, err = conversation(t, "claim", id)
	return err
}

// open stores the beginning of the turn. A row that goes on from another may have been heard already.
func (t *tx) open(c *core.Claim, f core.Fence, o core.Opening, now time.Time) error {
	w := writing{t: t, conversation: f.Conversation, session: c.Session, version: c.Conversation.History, turn: f.Turn, admission: c.Admission.ID, now: now,
		fresh: c.Admission.RetryOf == ""}
	c.Heard = o.Messages
	if err := w.messages(c.Heard); err != nil {
		return err
	}
	for i, b := range o.Events {
		c.News = append(c.News, core.Event{Conversation: f.Conversation, Admission: c.Admission.ID, Turn: f.Turn,
			Seq: c.Events + int64(i), At: at(ms(now)), EventBody: b})
	}
	return w.events(c.News)
}

// handOver gives the live message that the retried turn left behind to the new one. The row becomes the new turn's, as
// moved: should that turn vanish before it has a row of its own, its retry still finds the message.
func (t *tx) handOver(c *core.Claim, now time.Time) error {
	d, found, err := one(t, scanDelivery, selectDeliveries+` WHERE d.admission = ? AND d.admission <> '' AND d.kind = 'preview'
		AND d.state IN ('live', 'owed', 'sending', 'moved') AND d.parts <> '' ORDER BY d.n DESC LIMIT 1{lock}`, c.Admission.RetryOf)
	if err != nil || !found {
		return err
	}
	d.State, d.Done, d.Admission = core.DeliveryMoved, at(ms(now)), c.Admission.ID
	if _, err := t.exec(`UPDATE deliveries SET state = ?, done = ?, due = NULL, admission = ? WHERE id = ?`,
		d.State, ms(d.Done), d.Admission, d.ID); err != nil {
		return err
	}
	c.Preview = &d
	return nil
}
