package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// partGap is how long after a piece of a long paste the next one may have been sent. Platforms' clocks have whole seconds.
const partGap = 3 * time.Second

// piece is what one input added to a row that others join. The row's submission is made from its pieces.
type piece struct {
	MessageID   string            `json:"message_id,omitempty"`
	Text        string            `json:"text,omitempty"`
	APIText     string            `json:"api_text,omitempty"`
	Attachments []core.Attachment `json:"attachments,omitempty"`
	Sent        time.Time         `json:"sent,omitzero"`
	Order       int               `json:"order"` // of arrival
}

func pieceOf(s core.Submission) piece {
	return piece{MessageID: s.MessageID, Text: s.Text, APIText: s.APIText, Attachments: s.Attachments, Sent: s.Sent}
}

// joins says what may join a submission: "", "part" or "album:ID".
func joins(s core.Submission) string {
	switch {
	case s.Album != "":
		return "album:" + s.Album
	case s.Part:
		return "part"
	}
	return ""
}

func joinsOf(a core.Admission) string {
	if a.Status != core.Queued || a.RetryOf != "" {
		return ""
	}
	return joins(a.Submission)
}

// join adds the entry to a row of its author that waits for it. joined is false when there is none.
func (t *tx) join(d *draft, c core.ConversationID, now time.Time) (out core.Admitted, joined bool, err error) {
	want := joins(d.Submission)
	if want == "" {
		want = "part" // the rest of a paste does not look like one
	}
	a, found, err := one(t, scanAdmission, selectAdmissions+` WHERE a.conversation = ? AND a.open = 1
		AND a.status = 'queued' AND a.by_id = ? AND a.joins = ? ORDER BY a.seq DESC LIMIT 1{lock}`, c, d.By.ID, want)
	if err != nil || !found || a.Submission.Key != d.Submission.Key {
		return out, false, err
	}
	pieces, err := t.pieces(a.ID)
	if err != nil || want == "part" && !continues(d.Submission, a, pieces, now) {
		return out, false, err
	}
	p := pieceOf(d.Submission)
	p.Order = len(pieces)
	stored, err := text(p)
	if err != nil {
		return out, false, err
	}
	if _, err = t.exec(`UPDATE requests SET admission = ?, piece = ? WHERE principal = ? AND source = ? AND request = ?`,
		a.ID, stored, d.By.ID, d.Submission.Source, d.request); err != nil {
		return out, false, err
	}
	a.Submission = assemble(a.Submission, append(pieces, p))
	a.Submission.Part = a.Submission.Part && d.Submission.Part // the rest has come
	if a.Submission.Reply == nil {
		a.Submission.Reply = d.Submission.Reply
	}
	a.HoldUntil = time.Time{}
	if d.Hold > 0 {
		a.HoldUntil = at(ms(now.Add(d.Hold)))
	}
	return core.Admitted{Admission: a, Fresh: true, Merged: true, Into: "merged"}, true, t.resubmit(a)
}

// continues reports whether s is the rest of the paste that waits in a: it came while a was held, or was sent right
// after the last piece and only came late.
func continues(s core.Submission, a core.Admission, pieces []piece, now time.Time) bool {
	if len(s.Attachments) > 0 || s.Text == "" {
		return false
	}
	if a.HoldUntil.After(now) {
		return true
	}
	if len(pieces) == 0 || s.Sent.IsZero() {
		return false
	}
	last := pieces[len(pieces)-1].Sent
	gap := s.Sent.Sub(last)
	return !last.IsZero() && gap >= 0 && gap <= partGap
}

// pieces returns what joined a row so far, in order of arrival.
func (t *tx) pieces(id core.AdmissionID) ([]piece, error) {
	ps, err := all(t, func(r scanner) (p piece, err error) {
		var s string
		if err = r.Scan(&s); err == nil {
			err = structure(s, &p)
		}
		return p, err
	}, `SELECT piece FROM requests WHERE admission = ? AND piece <> '' AND gone = 0`, id)
	slices.SortFunc(ps, func(a, b piece) int { return cmp.Compare(a.Order, b.Order) })
	return ps, err
}

// assemble makes a submission from its pieces, in the order in which they were written: captions of an album become one
// text, pieces of a paste are joined as they were cut.
func assemble(s core.Submission, ps []piece) core.Submission {
	ps = slices.Clone(ps)
	slices.SortStableFunc(ps, func(a, b piece) int { return compareIDs(a.MessageID, b.MessageID) })
	s.Attachments = nil
	texts, api, rich := make([]string, len(ps)), make([]string, len(ps)), false
	for i, p := range ps {
		s.Attachments = append(s.Attachments, p.Attachments...)
		texts[i], api[i] = p.Text, cmp.Or(p.APIText, p.Text)
		rich = rich || p.APIText != ""
	}
	combine := func(texts []string) string { return strings.Join(texts, "") }
	if s.Album != "" {
		combine = func(texts []string) string { return captions(ps, texts) }
	}
	s.Text, s.APIText = combine(texts), ""
	if rich {
		s.APIText = combine(api)
	}
	return s
}

// captions joins the captions of an album, each with the number of its picture. A caption that stands alone on the first
// picture speaks for the whole album and gets none.
func captions(ps []piece, texts []string) string {
	var lines []string
	for i, text := range texts {
		if text != "" {
			lines = append(lines, fmt.Sprintf("%s %d: %s", label(ps[i]), i+1, text))
		}
	}
	if len(lines) == 1 && texts[0] != "" {
		return texts[0]
	}
	return strings.Join(lines, "\n")
}

func label(p piece) string {
	if len(p.Attachments) > 0 {
		switch p.Attachments[0].Kind {
		case "video":
			return "Video"
		case "document", "audio":
			return "File"
		}
	}
	return "Image"
}

// compareIDs orders message ids of one chat: numbers by value, however long, and other ids as text. Ids that a platform
// does not have keep the order of arrival.
func compareIDs(a, b string) int {
	if a == "" || b == "" {
		return 0
	}
	if len(a) != len(b) && digits(a) && digits(b) {
		return cmp.Compare(len(a), len(b))
	}
	return cmp.Compare(a, b)
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
