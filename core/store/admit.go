package store

import (
	"context"
	"time"

	"bellhop/core"
)

// draft is an entry prepared outside the transaction.
type draft struct {
	core.Entry
	id         core.AdmissionID
	request    core.RequestID
	submission string // JSON
	route      string // JSON
	outcome    string // JSON, of a row that is born terminal
	piece      string // JSON, when others may join
}

// Admit implements core.Admissions.
func (s *Store) Admit(ctx context.Context, in core.Intake) ([]core.Admitted, error) {
	const op = "admit"
	if len(in.Entries) == 0 && in.Cursor == nil {
		return nil, nil
	}
	drafts := make([]draft, len(in.Entries))
	for i, e := range in.Entries {
		d, err := newDraft(e)
		if err != nil {
			return nil, s.fail(op, err)
		}
		drafts[i] = d
	}
	out := make([]core.Admitted, len(drafts))
	err := s.write(ctx, op, synced, func(t *tx) error {
		now := t.now
		for i := range drafts {
			var err error
			if out[i], err = t.admit(&drafts[i], now); err != nil {
				return err
			}
		}
		return t.move(in.Cursor)
	}, keysOf(drafts)...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// keysOf are the places that entries were said at.
func keysOf(drafts []draft) (out []string) {
	for i := range drafts {
		if k := drafts[i].Submission.Key; k != "" {
			out = append(out, string(k))
		}
	}
	return out
}

// move sets an adapter's place.
func (t *tx) move(c *core.Cursor) error {
	if c == nil {
		return nil
	}
	if err := t.sits(c.Seat); err != nil {
		return err
	}
	_, err := t.exec(`INSERT INTO cursors (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, c.Name, c.Value)
	return err
}

func newDraft(e core.Entry) (d draft, err error) {
	d = draft{Entry: e, id: core.AdmissionID(newID()), request: e.Submission.RequestID}
	if d.request == "" { // nobody can repeat what has no name
		d.request = core.RequestID(d.id)
	}
	if d.Raw != nil && d.Terminal == nil {
		d.Terminal = &core.Outcome{Result: core.Rejected, Reason: core.ReasonRefused}
	}
	if d.submission, err = text(e.Submission); err != nil {
		return d, err
	}
	if d.route, err = routeText(e.Submission.Route); err != nil {
		return d, err
	}
	if d.Terminal != nil {
		d.outcome, err = text(*d.Terminal)
		return d, err
	}
	if joins(e.Submission) != "" {
		d.piece, err = text(pieceOf(e.Submission))
	}
	return d, err
}

// admit decides one entry. Its error is of the transaction; a refusal of the entry is in the result.
func (t *tx) admit(d *draft, now time.Time) (core.Admitted, error) {
	if d.Amend || d.Delete {
		return t.amend(d, now)
	}
	if d.Submission.Key == "" && d.Terminal == nil {
		return refused(core.Errorf("admit", core.Invalid, "no key: where was it said?")), nil
	}
	// Inserting the name is the dedupe; there is no second one that could disagree with it.
	fresh, err := t.exec(`INSERT INTO requests (principal, source, request, admission, digest, piece) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (principal, source, request) DO NOTHING`,
		d.By.ID, d.Submission.Source, d.request, d.id, d.Digest[:], d.piece)
	if err != nil {
		return core.Admitted{}, err
	}
	if fresh == 0 {
		return t.duplicate(d)
	}
	c, err := t.place(d, now)
	if err != nil {
		return core.Admitted{}, err
	}
	if d.Terminal != nil {
		return t.born(d, c, 0, now)
	}
	return t.enqueue(d, c, now)
}

func refused(err error) core.Admitted {
	return core.Admitted{Err: err, Into: core.KindOf(err).String()}
}

// duplicate returns the stored receipt of a request that was accepted before.
func (t *tx) duplicate(d *draft) (core.Admitted, error) {
	var id core.AdmissionID
	var digest []byte
	_, err := t.row(`SELECT admission, digest FROM requests WHERE principal = ? AND source = ? AND request = ?`,
		d.By.ID, d.Submission.Source, d.request).scan(&id, &digest)
	if err != nil {
		return core.Admitted{}, err
	}
	a, err := admission(t, "admit", id)
	if err != nil {
		return core.Admitted{}, err
	}
	out := core.Admitted{Admission: a, Into: "duplicate"}
	if d.Strict && string(digest) != string(d.Digest[:]) {
		out.Err = core.Errorf("admit", core.Conflict, "request id %q was used before, with another payload", d.request)
		out.Into = "conflict"
	}
	return out, nil
}

// place finds the conversation that the entry's key points to, or makes it, and notes that it was active. What a group
// can read stays a group's, whoever else speaks in it later. An update without a key has none.
func (t *tx) place(d *draft, now time.Time) (c core.ConversationID, err error) {
	sub := &d.Submission
	if sub.Key == "" {
		return "", nil
	}
	found, err := t.row(`SELECT conversation FROM keys WHERE key = ?`, sub.Key).scan(&c)
	if err != nil {
		return "", err
	}
	if found {
		_, err = t.exec(`UPDATE conversations SET updated = ?, route = CASE WHEN ? = '' THEN route ELSE ? END,
			title = CASE WHEN title = '' THEN ? ELSE title END, grouped = CASE WHEN ? = 1 THEN 1 ELSE grouped END WHERE id = ?`,
			ms(now), d.route, d.route, sub.Title, bit(sub.Group), c)
		return c, err
	}
	c, err = t.create(newcomer{key: sub.Key, owner: d.By.ID, surface: sub.Surface, title: sub.Title, group: sub.Group,
		route: d.route, now: now})
	if err != nil {
		return "", err
	}
	return c, t.bind(sub.Key, c)
}

// enqueue lets the entry join a row that waits, or refuses it, or gives it a row of its own.
func (t *tx) enqueue(d *draft, c core.ConversationID, now time.Time) (core.Admitted, error) {
	var open, queued, joinable int
	_, err := t.row(`SELECT COUNT(*), COALESCE(SUM(CASE WHEN status = 'queued' THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN status = 'queued' AND joins <> '' THEN 1 ELSE 0 END), 0)
		FROM admissions WHERE conversation = ? AND open = 1`, c).scan(&open, &queued, &joinable)
	if err != nil {
		return core.Admitted{}, err
	}
	if joinable > 0 {
		if out, joined, err := t.join(d, c, now); joined || err != nil {
			return out, err
		}
	}
	switch {
	case d.WhenIdle && open > 0:
		return t.unname(d, core.Errorf("admit", core.Busy, "the conversation is busy"))
	case d.Cap > 0 && queued >= d.Cap:
		return t.unname(d, core.Errorf("admit", core.Full, "%d messages wait already", queued))
	}
	out, err := t.born(d, c, d.Hold, now)
	out.Ahead = open
	return out, err
}

// unname takes back the request id of an entry that is refused, so that it can be tried again.
func (t *tx) unname(d *draft, why error) (core.Admitted, error) {
	_, err := t.exec(`DELETE FROM requests WHERE principal = ? AND source = ? AND request = ?`,
		d.By.ID, d.Submission.Source, d.request)
	return refused(why), err
}

// born inserts the row.
func (t *tx) born(d *draft, c core.ConversationID, hold time.Duration, now time.Time) (core.Admitted, error) {
	a := core.Admission{ID: d.id, Conversation: c, Status: core.Queued, By: d.By.ID, Caps: d.By.Caps, Admin: d.By.Admin,
		Submission: d.Submission, Created: at(ms(now))}
	if hold > 0 {
		a.HoldUntil = at(ms(now.Add(hold)))
	}
	into := "queued"
	if d.Terminal != nil {
		a.Status, a.Outcome, a.Settled, into = core.Terminal, *d.Terminal, a.Created, "terminal"
	}
	if err := t.insert(&a, d.submission, d.outcome, d.Raw); err != nil {
		return core.Admitted{}, err
	}
	return core.Admitted{Admission: a, Fresh: true, Into: into}, nil
}

// insert stores a new row and counts it. A Seq that is not zero is kept: a retry runs in the place of what it retries.
func (t *tx) insert(a *core.Admission, submission, outcome string, raw []byte) error {
	var place any
	if a.Conversation != "" {
		place = a.Conversation
	}
	_, err := t.put(`INSERT INTO admissions (id, conversation, seq, status, open, by_id, caps, admin, submission, raw, routed, joins,
			hold, retry_of, resume, result, reason, outcome, created, settled)
		VALUES (?, ?, CASE WHEN ? > 0 THEN ? ELSE {next} END, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
		a.ID, place, a.Seq, a.Seq, a.Status, bit(a.Status != core.Terminal), a.By, a.Caps, bit(a.Admin), submission, raw,
		bit(!a.Submission.Route.IsZero()), joinsOf(*a), ms(a.HoldUntil), a.RetryOf, bit(a.Resume),
		a.Outcome.Result, a.Outcome.Reason, outcome, ms(a.Created), ms(a.Settled)).scan(&a.Seq)
	if err != nil {
		return err
	}
	t.count(tallyAccepted, 1)
	if a.Status == core.Terminal {
		t.count(tallyEnded+string(a.Outcome.Result), 1)
	}
	return nil
}

// resubmit stores a changed submission.
func (t *tx) resubmit(a core.Admission) error {
	submission, err := text(a.Submission)
	if err != nil {
		return err
	}
	_, err = t.exec(`UPDATE admissions SET submission = ?, joins = ?, hold = ? WHERE id = ?`,
		submission, joinsOf(a), ms(a.HoldUntil), a.ID)
	return err
}
