package session_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/gateway/session"
)

// nodes are two nodes with one store: what one tells the other hears at once.
type nodes struct {
	here, there *session.Reach
	live        *session.Live // the turn, on the node there
	turn        context.Context
	rows        rows
	count       int
	notes       []string
}

// other is the way from one node to the other.
type other struct {
	n  *nodes
	to func() *session.Reach
}

func (o other) Count() int { return o.n.count }

func (o other) Tell(_ context.Context, n core.Note) {
	o.n.notes = append(o.n.notes, n.Control)
	o.to().Heard(n)
}

// rows is a store with the rows of one conversation.
type rows map[core.AdmissionID]core.Admission

func (r rows) Unsettled(context.Context, core.ConversationID) ([]core.Admission, error) {
	var out []core.Admission
	for _, a := range r {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b core.Admission) int { return int(a.Seq - b.Seq) })
	return out, nil
}

func (r rows) Admission(_ context.Context, id core.AdmissionID) (core.Admission, error) {
	a, ok := r[id]
	if !ok {
		return a, core.Errorf("admission", core.NotFound, "%s", id)
	}
	return a, nil
}

// newNodes has row "a" run on the node there, and row "b" wait.
func newNodes(t *testing.T) *nodes {
	n := &nodes{count: 2, rows: rows{
		"a": {ID: "a", Conversation: "c", Seq: 1, Status: core.Started, Turn: "T", Claimed: time.Unix(1, 0)},
		"b": {ID: "b", Conversation: "c", Seq: 2, Status: core.Queued, Submission: core.Submission{Text: "as stored"}},
	}}
	log := slog.New(slog.DiscardHandler)
	n.here = session.NewReach(t.Context(), session.New(), other{n, func() *session.Reach { return n.there }}, n.rows, log)
	n.there = session.NewReach(t.Context(), session.New(), other{n, func() *session.Reach { return n.here }}, n.rows, log)
	n.live = begin(t, n.there.Registry, "c")
	turn, cancel := n.live.Turn(t.Context(), "a", "T")
	t.Cleanup(func() { cancel(nil) })
	n.turn = turn
	return n
}

func begin(t *testing.T, r *session.Registry, c core.ConversationID) *session.Live {
	t.Helper()
	l, ok := r.Begin(c)
	if !ok {
		t.Fatal("live already")
	}
	return l
}

func (n *nodes) endedBy() core.PrincipalID {
	if i, ok := core.InterruptOf(n.turn); ok {
		return i.By
	}
	return ""
}

var stopByAnn = core.Interrupt{Reason: core.ReasonStopped, By: "ann"}

// nobody are the others of a node that is alone.
type nobody struct{}

func (nobody) Count() int                      { return 1 }
func (nobody) Tell(context.Context, core.Note) {}

func TestReachInterrupts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		waits bool // a drain waits here for what runs there
		do    func(r *session.Reach) bool
		want  core.PrincipalID
	}{
		{"what runs", false, func(r *session.Reach) bool { id, ok := r.Interrupt("c", stopByAnn); return ok && id == "a" }, "ann"},
		{"what is waited for", true, func(r *session.Reach) bool { id, ok := r.Interrupt("c", stopByAnn); return ok && id == "a" }, "ann"},
		{"the turn", false, func(r *session.Reach) bool { return r.InterruptTurn("c", "a", stopByAnn) }, "ann"},
		{"another turn", false, func(r *session.Reach) bool { return !r.InterruptTurn("c", "b", stopByAnn) }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNodes(t)
			if tc.waits {
				begin(t, n.here.Registry, "c")
			}
			if !tc.do(n.here) || n.endedBy() != tc.want {
				t.Errorf("ended by %q, notes %q", n.endedBy(), n.notes)
			}
		})
	}
}

func TestReachHereTellsNobody(t *testing.T) {
	n := newNodes(t)
	id, ok := n.there.Interrupt("c", stopByAnn)
	if !ok || id != "a" || n.endedBy() != "ann" || len(n.notes) != 0 {
		t.Errorf("%q %v, ended by %q, notes %q", id, ok, n.endedBy(), n.notes)
	}
}

// An offer reaches the turn with the text as it is stored, follows its row, and can be taken back.
func TestReachOffers(t *testing.T) {
	n := newNodes(t)
	offered := func() string {
		if s := n.there.Steered("c"); len(s) == 1 {
			return s[0].Text
		}
		return ""
	}
	if !n.here.Steer("c", "b", "as said") || offered() != "as stored" {
		t.Fatalf("offered %q", offered())
	}
	b := n.rows["b"]
	b.Submission.Text = "as edited"
	n.rows["b"] = b
	if n.here.Reword("c", "b", "whatever"); offered() != "as edited" {
		t.Errorf("reworded to %q", offered())
	}
	if n.here.Withdraw("c", "b"); offered() != "" {
		t.Errorf("%q is still on offer", offered())
	}
	if n.here.Steer("c", "a", "itself") {
		t.Error("a turn was offered its own row")
	}
	b.Status = core.Terminal
	n.rows["b"] = b
	if n.here.Steer("c", "b", "gone"); offered() != "" {
		t.Error("a row that does not wait was offered")
	}
}

// Who made an offer is told when the turn ends without it, once, on whichever node that is.
func TestReachTellsThatAnOfferIsLate(t *testing.T) {
	n := newNodes(t)
	late := 0
	offer := session.Steered{ID: "b", Text: "x", Late: func(ctx context.Context) {
		if ctx.Err() == nil {
			late++
		}
	}}
	if !n.here.Offer("c", offer) {
		t.Fatal("not offered")
	}
	for range 2 {
		for _, s := range n.live.Close() {
			s.Late(t.Context())
		}
		n.here.Heard(core.Note{Control: "late", Conversation: "c", Admission: "b"})
	}
	if late != 1 {
		t.Errorf("told %d times", late)
	}
}

func TestReachStatus(t *testing.T) {
	n := newNodes(t)
	for _, waits := range []bool{false, true} {
		if waits {
			begin(t, n.here.Registry, "c")
		}
		s, ok := n.here.Status("c")
		if !ok || s.Turn != "T" || s.Admission != "a" || !s.Since.Equal(time.Unix(1, 0)) {
			t.Errorf("waits %v: %+v %v", waits, s, ok)
		}
	}
}

// failing is a store that cannot be read.
type failing struct{}

func (failing) Unsettled(context.Context, core.ConversationID) ([]core.Admission, error) {
	return nil, errors.New("down")
}
func (failing) Admission(context.Context, core.AdmissionID) (core.Admission, error) {
	return core.Admission{}, errors.New("down")
}

// Alone, or without a store, there is only what runs here.
func TestReachAlone(t *testing.T) {
	n := newNodes(t)
	broken := session.NewReach(t.Context(), session.New(), other{n, func() *session.Reach { return n.there }}, failing{}, slog.New(slog.DiscardHandler))
	check := func(name string, r *session.Reach) {
		_, interrupted := r.Interrupt("c", stopByAnn)
		_, known := r.Status("c")
		if interrupted || known || r.InterruptTurn("c", "a", stopByAnn) || r.Steer("c", "b", "x") || r.Withdraw("c", "b") || r.Reword("c", "b", "x") {
			t.Errorf("%s: it reaches what is not there", name)
		}
	}
	check("no store", broken)
	n.count = 1
	check("one node", n.here)
	check("no others", session.NewReach(t.Context(), session.New(), nobody{}, n.rows, slog.New(slog.DiscardHandler)))
	if len(n.notes) > 0 || n.endedBy() != "" {
		t.Errorf("notes %q, ended by %q", n.notes, n.endedBy())
	}
}
