package store

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bellhop/core"
)

// Statements that may read a whole table, because they are run by hand or at leisure.
var leisurely = []string{
	"FROM tally",                        // five rows
	"a.turn = ?",                        // bellhop turn
	"a.routed = 1",                      // bellhop verify
	"GROUP BY 1",                        // Recount
	"FROM leases l WHERE l.token <> ''", // a row a conversation
	"FROM grants",
	"FROM conversations c ORDER BY",
	"c.title = ?",
	"a.n DESC LIMIT ?", // newest first, along the table
	"d.done = 0",       // rekey
	"DELETE FROM deliveries WHERE conversation",
	"DELETE FROM questions WHERE conversation",
	"state, COUNT(*) FROM deliveries",
}

// TestPlans asks SQLite how it runs every statement of a gateway's day, and fails when one reads more than it returns: a
// whole table, or all that a conversation ever had instead of what is open.
func TestPlans(t *testing.T) {
	s, err := Open(t.Context(), Options{DSN: filepath.Join(t.TempDir(), "bellhop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	everything(t, s)
	costly := regexp.MustCompile(`^SCAN [a-z]\w*|admissions_conversation|deliveries_state`)
	cheap := regexp.MustCompile(`^SCAN (chain|a USING INDEX admissions_open)`)
	for _, q := range slices.Concat(keys(s.w.stmts), keys(s.stmts)) {
		if slices.ContainsFunc(leisurely, func(w string) bool { return strings.Contains(q, w) }) {
			continue
		}
		for _, step := range plan(t, s, q) {
			if costly.MatchString(step) && !cheap.MatchString(step) {
				t.Errorf("%s\n\t%s", q, step)
			}
		}
	}
}

func keys[V any](m map[string]V) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

func plan(t *testing.T, s *Store, q string) (steps []string) {
	t.Helper()
	if !regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|WITH)`).MatchString(q) {
		return nil
	}
	args := make([]any, len(regexp.MustCompile(`\?`).FindAllString(q, -1)))
	for i := range args {
		args[i] = 1
	}
	rows, err := s.w.conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+s.d.sql(q), args...)
	if err != nil {
		t.Fatal(q, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	return steps
}

// everything calls what runs in a gateway all day, whatever it answers.
func everything(t *testing.T, s *Store) {
	ctx, none := t.Context(), func(core.Holder) bool { return false }
	r := core.Route{Platform: "chat", Chat: "1"}
	e := core.Entry{By: core.Principal{ID: "p"}, Hold: 1, Submission: core.Submission{Key: "k", Source: "s", RequestID: "1", Album: "a", Route: r}}
	again, changed := e, e
	again.Submission.RequestID, changed.Amend = "2", true
	out, err := s.Admit(ctx, core.Intake{Entries: []core.Entry{e, e, again, changed}, Cursor: &core.Cursor{Name: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	a := out[0].Admission
	c := a.Conversation
	_ = s.Unhold(ctx, a.ID)
	_ = s.Move(ctx, a.ID, 0)
	_ = s.Amend(ctx, a.ID, "x")
	var f core.Fence
	for range 2 {
		l, err := s.Acquire(ctx, c, "t", core.Holder{}, 1e12, none)
		if err != nil {
			t.Fatal(err)
		}
		f = l.Fence
		_, _ = s.Acquire(ctx, c, "t", core.Holder{}, 1e12, nil)
		_, _ = s.Renew(ctx, f, 1e12)
		_ = s.Holds(ctx, f)
		claim, err := s.ClaimNext(ctx, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		a = claim.Admission
		_, _ = s.OpenSession(ctx, f, core.Session{ID: "s", Reason: core.RotationCompact})
		_, _ = s.OpenSession(ctx, f, core.Session{ID: "s"})
		_, _ = s.Append(ctx, f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Admission: a.ID}}, Calls: []core.Call{{ID: "c", Admission: a.ID}},
			Events: []core.Event{{Seq: 1}}})
		_ = s.Outbox().Put(ctx, core.Delivery{ID: core.DeliveryID("p" + a.ID), Admission: a.ID, Kind: core.DeliverPreview, State: core.DeliveryLive,
			Route: r, Parts: []core.Part{{Ref: "1"}}})
		q, _ := s.Put(ctx, core.Question{Conversation: c, Admission: a.ID, Ask: core.Ask{Call: "c"}})
		_, _ = s.Answer(ctx, q.ID, "x", core.Principal{})
		_, _ = s.Drop(ctx, a.ID)
		_, _ = s.Asking(ctx, c)
		_, _ = s.Asked(ctx, c, []core.AdmissionID{a.ID, "x"})
		_, _ = s.Expire(ctx, s.now())
		_, _ = s.Orphan(ctx, none)
		_, _ = s.Resolve(ctx, a.ID, core.Resolution{Retry: true, Deliver: &core.Delivery{ID: core.DeliveryID("d" + a.ID), State: core.DeliveryOwed}})
	}
	_, _ = s.Settle(ctx, f, a.ID, core.Settlement{})
	_ = s.Release(ctx, f)
	_, _ = s.Cancel(ctx, c, core.Outcome{})
	look(ctx, s, c, a.ID)
	_ = s.Rekey(ctx, "k", "l", "2")
	_, _ = s.Retention(ctx, s.now())
	_, _ = s.Trim(ctx, s.now())
	_, _ = s.Outbox().Forget(ctx, s.now())
}

// look calls what only reads, and the outbox.
func look(ctx context.Context, s *Store, c core.ConversationID, id core.AdmissionID) {
	o := s.Outbox()
	_ = o.Hasten(ctx, "chat", s.now(), 9)
	_, _ = o.Owing(ctx, core.DeliverFinal, 9)
	_ = o.Aside(ctx, core.Delivery{ID: "none"})
	due, _ := o.Due(ctx, s.now(), 1, 9)
	_ = o.Save(ctx, due...)
	_, _ = o.Next(ctx)
	_, _ = o.Of(ctx, id)
	_, _ = o.For(ctx, "q")
	_, _ = s.Lookup(ctx, "k")
	_, _ = s.Conversation(ctx, string(c), "p")
	_, _ = s.List(ctx, "p", 9)
	_, _ = s.Session(ctx, c)
	_, _ = s.Load(ctx, c)
	_, _ = s.Page(ctx, c, 0, 9)
	_, _ = s.Said(ctx, id)
	_, _ = s.Calls(ctx, id)
	_, _ = s.Since(ctx, c, 0, 9)
	_, _ = s.Unsettled(ctx, c)
	_, _ = s.Unsettled(ctx, "")
	_, _ = s.Recent(ctx, c, 9)
	_, _ = s.Pending(ctx)
	_, _ = s.Census(ctx)
	_, _ = s.Leases(ctx)
	_, _ = s.Reserve(ctx, c, 1)
}
