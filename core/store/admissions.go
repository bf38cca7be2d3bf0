package store

import (
	"context"
	"database/sql"

	"bellhop/core"
)

const admissionColumns = `a.id, a.conversation, a.seq, a.status, a.by_id, a.caps, a.admin, a.submission, a.outcome, a.turn,
	a.generation, a.retry_of, a.resume, a.hold, a.created, a.claimed, a.settled`

const selectAdmissions = `SELECT ` + admissionColumns + ` FROM admissions a`

// admissionRow is where an admission is scanned into.
type admissionRow struct {
	core.Admission
	place                           sql.NullString
	submission, outcome             string
	hold, created, claimed, settled int64
}

func (r *admissionRow) dest() []any {
	return []any{&r.ID, &r.place, &r.Seq, &r.Status, &r.By, &r.Caps, &r.Admin, &r.submission, &r.outcome, &r.Turn,
		&r.Generation, &r.RetryOf, &r.Resume, &r.hold, &r.created, &r.claimed, &r.settled}
}

func (r *admissionRow) value() (core.Admission, error) {
	a := r.Admission
	a.Conversation = core.ConversationID(r.place.String)
	a.HoldUntil, a.Created, a.Claimed, a.Settled = at(r.hold), at(r.created), at(r.claimed), at(r.settled)
	if err := structure(r.submission, &a.Submission); err != nil {
		return a, err
	}
	return a, structure(r.outcome, &a.Outcome)
}

func scanAdmission(r scanner) (core.Admission, error) {
	var row admissionRow
	if err := r.Scan(row.dest()...); err != nil {
		return core.Admission{}, err
	}
	return row.value()
}

func admission(q querier, op string, id core.AdmissionID) (core.Admission, error) {
	a, found, err := one(q, scanAdmission, selectAdmissions+` WHERE a.id = ?{lock}`, id)
	if err == nil && !found {
		err = core.Errorf(op, core.NotFound, "no admission %s", id)
	}
	return a, err
}

// Admission implements core.Admissions.
func (s *Store) Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error) {
	const op = "find admission"
	return admission(s.read(ctx, op), op, id)
}

// Unsettled implements core.Admissions.
func (s *Store) Unsettled(ctx context.Context, c core.ConversationID) ([]core.Admission, error) {
	r := s.read(ctx, "list unsettled")
	if c == "" {
		return all(r, scanAdmission, selectAdmissions+` WHERE a.open = 1 ORDER BY a.seq`)
	}
	return all(r, scanAdmission, selectAdmissions+` WHERE a.conversation = ? AND a.open = 1 ORDER BY a.seq`, c)
}

// Recent implements core.Admissions.
func (s *Store) Recent(ctx context.Context, c core.ConversationID, limit int) ([]core.Admission, error) {
	r := s.read(ctx, "list recent")
	if c == "" {
		return all(r, scanAdmission, selectAdmissions+` ORDER BY a.n DESC LIMIT ?`, limit)
	}
	return all(r, scanAdmission, selectAdmissions+` WHERE a.conversation = ? ORDER BY a.n DESC LIMIT ?`, c, limit)
}

// Pending implements core.Admissions.
func (s *Store) Pending(ctx context.Context) ([]core.Pending, error) {
	type open struct {
		core.Pending
		status core.Status
	}
	r := s.read(ctx, "list pending")
	now, err := r.now()
	if err != nil {
		return nil, err
	}
	rows, err := all(r, func(r scanner) (o open, err error) {
		var hold int64
		err = r.Scan(&o.Conversation, &o.status, &hold)
		o.At = at(hold)
		return o, err
	}, `SELECT a.conversation, a.status, a.hold FROM admissions a
		WHERE a.open = 1 AND a.status <> 'started' AND NOT EXISTS (SELECT 1 FROM leases l
			WHERE l.conversation = a.conversation AND l.token <> '' AND l.expires > ?)
		ORDER BY a.conversation, a.seq`, ms(now))
	var out []core.Pending
	for _, o := range rows {
		if n := len(out); n == 0 || out[n-1].Conversation != o.Conversation {
			out = append(out, o.Pending)
		}
		last := &out[len(out)-1]
		last.Unknown = last.Unknown || o.status == core.Unknown
	}
	return out, err
}

// AdmissionOf implements core.Admissions.
func (s *Store) AdmissionOf(ctx context.Context, turn core.TurnID) (core.Admission, error) {
	const op = "find turn"
	a, found, err := one(s.read(ctx, op), scanAdmission, selectAdmissions+` WHERE a.turn = ? AND a.turn <> '' ORDER BY a.n DESC LIMIT 1`, turn)
	if err == nil && !found {
		err = core.Errorf(op, core.NotFound, "no turn %s", turn)
	}
	return a, err
}
