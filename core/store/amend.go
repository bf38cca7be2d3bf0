package store

import (
	"context"
	"slices"
	"time"

	"bellhop/core"
)

// amend takes an edit or a deletion of an earlier input. Only its author reaches it, because the author is part of its
// name, and only while the row waits: an edit never starts anything.
func (t *tx) amend(d *draft, now time.Time) (core.Admitted, error) {
	var id core.AdmissionID
	var own string
	var gone bool
	var edited int64
	found, err := t.row(`SELECT admission, piece, gone, edited FROM requests
		WHERE principal = ? AND source = ? AND request = ?`,
		d.By.ID, d.Submission.Source, d.Submission.RequestID).scan(&id, &own, &gone, &edited)
	if err != nil {
		return core.Admitted{}, err
	}
	if !found {
		return refused(core.Errorf("amend", core.NotFound, "nothing to amend")), nil
	}
	a, err := admission(t, "amend", id)
	if err != nil {
		return core.Admitted{}, err
	}
	out := core.Admitted{Admission: a}
	if a.Status != core.Queued || gone {
		out.Err = core.Errorf("amend", core.NotFound, "it does not wait any more")
		out.Into = core.NotFound.String()
		return out, nil
	}
	if sent := ms(d.Submission.Sent); sent > 0 && sent < edited {
		out.Into = "older edit"
		return out, nil
	}
	if _, err = t.exec(`UPDATE requests SET edited = ?, gone = ? WHERE principal = ? AND source = ? AND request = ?`,
		max(edited, ms(d.Submission.Sent)), bit(d.Delete), d.By.ID, d.Submission.Source, d.Submission.RequestID); err != nil {
		return core.Admitted{}, err
	}
	out.Amended, out.Into = true, "amended"
	out.Admission, err = t.rewrite(d, a, own, now)
	return out, err
}

// rewrite changes a waiting row as its author's edit or deletion says.
func (t *tx) rewrite(d *draft, a core.Admission, own string, now time.Time) (core.Admission, error) {
	if own != "" {
		return t.rewritePiece(d, a, own, now)
	}
	if d.Delete {
		return t.withdraw(a, now)
	}
	a.Submission.Text, a.Submission.APIText = d.Submission.Text, d.Submission.APIText
	if len(d.Submission.Attachments) > 0 {
		a.Submission.Attachments = d.Submission.Attachments
	}
	return a, t.resubmit(a)
}

// rewritePiece changes one piece of a row that several inputs joined; the row goes with its last piece.
func (t *tx) rewritePiece(d *draft, a core.Admission, own string, now time.Time) (core.Admission, error) {
	ps, err := t.pieces(a.ID)
	if err != nil {
		return a, err
	}
	if d.Delete && len(ps) == 0 { // it was the last one and is marked gone already
		return t.withdraw(a, now)
	}
	if !d.Delete {
		var p piece
		if err := structure(own, &p); err != nil {
			return a, err
		}
		p.Text, p.APIText = d.Submission.Text, d.Submission.APIText
		if len(d.Submission.Attachments) > 0 {
			p.Attachments = d.Submission.Attachments
		}
		stored, err := text(p)
		if err != nil {
			return a, err
		}
		if _, err = t.exec(`UPDATE requests SET piece = ? WHERE principal = ? AND source = ? AND request = ?`,
			stored, d.By.ID, d.Submission.Source, d.Submission.RequestID); err != nil {
			return a, err
		}
		ps[slices.IndexFunc(ps, func(q piece) bool { return q.Order == p.Order })] = p
	}
	a.Submission = assemble(a.Submission, ps)
	return a, t.resubmit(a)
}

func (t *tx) withdraw(a core.Admission, now time.Time) (core.Admission, error) {
	err := t.end(&a, core.Outcome{Result: core.Cancelled, Reason: core.ReasonDeleted}, now)
	return a, err
}

// Amend implements core.Admissions. The row takes the text as a whole, whatever pieces it was made of.
func (s *Store) Amend(ctx context.Context, id core.AdmissionID, body string) error {
	const op = "amend"
	return s.write(ctx, op, synced, func(t *tx) error {
		if err := t.hold("", id); err != nil {
			return err
		}
		a, err := t.waiting(op, id)
		if err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE requests SET piece = '' WHERE admission = ? AND piece <> ''`, id); err != nil {
			return err
		}
		a.Submission.Text, a.Submission.APIText = body, ""
		a.Submission.Part, a.Submission.Album = false, ""
		return t.resubmit(a)
	})
}
