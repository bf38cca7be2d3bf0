package admission_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/store"
	"bellhop/gateway/admission"
	"bellhop/gateway/session"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type desk struct {
	*admission.Desk
	store    *store.Store
	t        *testing.T
	sessions *session.Registry
	woken    []core.ConversationID
	n        int
}

func newDesk(t *testing.T, o admission.Options) *desk {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "bellhop.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	d := &desk{store: s, t: t, sessions: session.New()}
	o.Sessions = d.sessions
	o.Wake = func(c core.ConversationID) { d.woken = append(d.woken, c) }
	d.Desk = admission.New(s, o)
	return d
}

var (
	ann   = core.Principal{ID: "chat:ann", Caps: core.CanRead | core.CanSubmit}
	bob   = core.Principal{ID: "chat:bob", Caps: core.CanRead | core.CanSubmit}
	boss  = core.Principal{ID: "chat:eve", Caps: core.CanRead | core.CanSubmit | core.CanControl | core.CanOperate}
	guest = core.Principal{ID: "chat:guest", Caps: core.CanRead}
)

// in is a message in a chat of its own name.
func (d *desk) in(chat, text string) core.Submission {
	d.n++
	return core.Submission{Key: core.Key("chat:" + chat), Source: "chat:" + chat, RequestID: core.RequestID(fmt.Sprint("m", d.n)),
		Text: text, Surface: "chat", Route: core.Route{Platform: "chat", Chat: chat}}
}

func (d *desk) submit(by core.Principal, s core.Submission) core.Admission {
	d.t.Helper()
	a, err := d.Submit(d.t.Context(), by, s, admission.SubmitOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	return a.Admission
}

// queue lists the texts that wait.
func (d *desk) queue(c core.ConversationID) []string {
	d.t.Helper()
	rows, err := d.store.Unsettled(d.t.Context(), c)
	if err != nil {
		d.t.Fatal(err)
	}
	var texts []string
	for _, r := range rows {
		texts = append(texts, r.Submission.Text)
	}
	return texts
}

func (d *desk) wants(c core.ConversationID, texts ...string) {
	d.t.Helper()
	if diff := cmp.Diff(texts, d.queue(c)); diff != "" {
		d.t.Error(diff)
	}
}

func TestWhoMaySubmit(t *testing.T) {
	local := func(s core.Submission) core.Submission { s.Route, s.Surface = core.Route{}, "rpc"; return s }
	for _, tc := range []struct {
		name   string
		by     core.Principal
		change func(core.Submission) core.Submission
		denied bool
	}{
		{"nobody", core.Principal{}, nil, true},
		{"somebody without a name", core.Principal{Caps: core.CanSubmit}, nil, true},
		{"a reader", guest, nil, true},
		{"a member of the chat", bob, nil, false},
		{"the owner of a local session", ann, local, false},
		{"somebody else in a local session", bob, local, true},
		{"an operator in a local session", boss, local, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDesk(t, admission.Options{})
			c := d.submit(ann, d.in("1", "first")).Conversation
			d.woken = nil
			s := d.in("1", "second")
			if tc.change != nil {
				s = tc.change(s)
			}
			_, err := d.Submit(t.Context(), tc.by, s, admission.SubmitOptions{})
			if core.Is(err, core.Denied) != tc.denied || (err != nil) != tc.denied {
				t.Fatalf("error %v", err)
			}
			if n := len(d.queue(c)); n != map[bool]int{true: 1, false: 2}[tc.denied] {
				t.Errorf("%d rows", n)
			}
			if (len(d.woken) == 0) != tc.denied {
				t.Errorf("woken %v", d.woken)
			}
		})
	}
}

// The key is pointed to somebody else's conversation between the check and the commit.
func TestRightsAreCheckedAgainAfterTheCommit(t *testing.T) {
	d := newDesk(t, admission.Options{})
	ctx := t.Context()
	theirs, err := d.store.Bind(ctx, "rpc:ann", "", ann.ID, "rpc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = d.store.Bind(ctx, "rpc:bob", "", bob.ID, "rpc"); err != nil {
		t.Fatal(err)
	}
	moved := admission.New(&rebind{Store: d.store, key: "rpc:bob", to: theirs.ID, by: bob.ID}, admission.Options{
		Wake: func(core.ConversationID) { t.Error("woken") }})
	s := core.Submission{Key: "rpc:bob", Source: "rpc", RequestID: "1", Text: "sneak in", Surface: "rpc"}
	if _, err := moved.Submit(ctx, bob, s, admission.SubmitOptions{}); !core.Is(err, core.Denied) {
		t.Errorf("error %v", err)
	}
	d.wants(theirs.ID)
}

type rebind struct {
	*store.Store
	key core.Key
	to  core.ConversationID
	by  core.PrincipalID
}

func (r *rebind) Admit(ctx context.Context, in core.Intake) ([]core.Admitted, error) {
	if _, err := r.Bind(ctx, r.key, r.to, r.by, "rpc"); err != nil {
		return nil, err
	}
	return r.Store.Admit(ctx, in)
}

func TestBatchKeepsItsOrderAroundRefusals(t *testing.T) {
	d := newDesk(t, admission.Options{})
	done := core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}
	got, err := d.Admit(t.Context(), []core.Entry{
		{By: ann, Submission: d.in("1", "one")},
		{By: guest, Submission: d.in("1", "two")},
		{By: guest, Submission: d.in("1", "/help"), Terminal: &done},
		{By: ann, Submission: d.in("1", " \n")},
		{By: ann, Submission: d.in("2", "three")},
		{By: core.Principal{ID: "chat:raw"}, Submission: core.Submission{Source: "chat:?", RequestID: "9", Surface: "chat"}, Raw: []byte("{")},
	}, &core.Cursor{Name: "chat", Value: "7"})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, a := range got {
		switch {
		case a.Err != nil:
			kinds = append(kinds, core.KindOf(a.Err).String())
		default:
			kinds = append(kinds, string(a.Admission.Status))
		}
	}
	if diff := cmp.Diff([]string{"queued", "denied", "terminal", "invalid", "queued", "terminal"}, kinds); diff != "" {
		t.Error(diff)
	}
	if len(d.woken) != 0 {
		t.Error("woken before the acknowledgement")
	}
	d.Woken(got)
	if len(d.woken) != 2 {
		t.Errorf("woken %v", d.woken)
	}
	if v, err := d.store.Cursor(t.Context(), "chat"); v != "7" || err != nil {
		t.Errorf("cursor %q %v", v, err)
	}
}

// C065: an error of the commit means that nothing was accepted.
func TestNothingIsAcceptedWhenTheCommitFails(t *testing.T) {
	d := newDesk(t, admission.Options{})
	full := admission.New(&fails{Store: d.store, err: core.Errorf("admit", core.NoSpace, "disk full")}, admission.Options{
		Wake: func(core.ConversationID) { t.Error("woken") }})
	if _, err := full.Submit(t.Context(), ann, d.in("1", "x"), admission.SubmitOptions{}); !core.Is(err, core.NoSpace) {
		t.Errorf("error %v", err)
	}
}

type fails struct {
	*store.Store
	err error
}

func (f *fails) Admit(context.Context, core.Intake) ([]core.Admitted, error) { return nil, f.err }

// C066: the name decides, not the order of names.
func TestDuplicates(t *testing.T) {
	d := newDesk(t, admission.Options{})
	ctx := t.Context()
	s := func(id core.RequestID, text string) core.Submission {
		v := d.in("1", text)
		v.RequestID = id
		return v
	}
	eleven := d.submit(ann, s("11", "eleven"))
	ten := d.submit(ann, s("10", "ten"))
	d.wants(ten.Conversation, "eleven", "ten")
	again, err := d.Submit(ctx, ann, s("11", "eleven"), admission.SubmitOptions{Strict: true})
	if err != nil || again.Fresh || again.Admission.ID != eleven.ID {
		t.Errorf("%+v %v", again, err)
	}
	if _, err := d.Submit(ctx, ann, s("11", "other"), admission.SubmitOptions{Strict: true}); !core.Is(err, core.Conflict) {
		t.Errorf("a program's other payload: %v", err)
	}
	if again, err := d.Submit(ctx, ann, s("11", "same in another shape"), admission.SubmitOptions{}); err != nil || again.Admission.ID != eleven.ID {
		t.Errorf("a platform's other shape: %v", err)
	}
	one, two := s("", "nameless"), s("", "nameless")
	if d.submit(ann, one).ID == d.submit(ann, two).ID {
		t.Error("two requests without a name are one")
	}
}

// C156: what is refused leaves no row, and says so.
func TestCapAndIdle(t *testing.T) {
	d := newDesk(t, admission.Options{Cap: 2})
	c := d.submit(ann, d.in("1", "one")).Conversation
	if _, err := d.Submit(t.Context(), ann, d.in("1", "idle?"), admission.SubmitOptions{WhenIdle: true}); !core.Is(err, core.Busy) {
		t.Errorf("error %v", err)
	}
	d.submit(ann, d.in("1", "two"))
	if _, err := d.Submit(t.Context(), ann, d.in("1", "three"), admission.SubmitOptions{}); !core.Is(err, core.Full) {
		t.Errorf("error %v", err)
	}
	d.wants(c, "one", "two")
	if got, err := d.AdmitInternal(t.Context(), "cron", d.in("1", "tick")); !core.Is(err, core.Full) || got.Fresh {
		t.Errorf("an internal event that does not fit goes back to its producer: %v", err)
	}
}

func TestInternal(t *testing.T) {
	d := newDesk(t, admission.Options{})
	if _, err := d.AdmitInternal(t.Context(), "", d.in("1", "x")); !core.Is(err, core.Invalid) {
		t.Errorf("without a producer: %v", err)
	}
	s := d.in("1", "the backup is done")
	s.Source, s.AuthorID, s.Producer = "", "chat:ann", "forged"
	got, err := d.AdmitInternal(t.Context(), "cron", s)
	if err != nil {
		t.Fatal(err)
	}
	a := got.Admission
	if a.By != "internal:cron" || a.Submission.Producer != "cron" || a.Submission.AuthorID != "internal:cron" || a.Submission.Source != "internal:cron" {
		t.Errorf("%+v", a)
	}
}

// C072: pieces of a paste become one turn; an ordinary message is neither delayed nor merged.
func TestPasteAndAlbum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, admission.Options{})
		piece := d.in("1", strings.Repeat("a", 4095)+" ")
		piece.Part = true
		got, err := d.Submit(t.Context(), ann, piece, admission.SubmitOptions{Hold: 2 * time.Second})
		if err != nil || got.Admission.HoldUntil.Sub(got.Admission.Created) != 2*time.Second {
			t.Fatalf("%+v %v", got, err)
		}
		<-time.After(1177 * time.Millisecond)
		rest, err := d.Submit(t.Context(), ann, d.in("1", strings.Repeat("b", 1904)), admission.SubmitOptions{})
		if err != nil || !rest.Merged || rest.Admission.ID != got.Admission.ID {
			t.Fatalf("%+v %v", rest, err)
		}
		if text := rest.Admission.Submission.Text; len(text) != 6000 || text[4095:4097] != " b" {
			t.Errorf("%d characters", len(text))
		}
		if len(d.woken) != 2 {
			t.Errorf("woken %v: the rest may have ended the hold", d.woken)
		}
		c := rest.Admission.Conversation
		d.submit(ann, d.in("1", "short"))
		d.submit(ann, d.in("1", "shorter"))
		if n := len(d.queue(c)); n != 3 {
			t.Errorf("%d rows", n)
		}
	})
}

func TestQueueOperations(t *testing.T) {
	ops := map[string]func(d *desk, by core.Principal, id core.AdmissionID) error{
		"cancel": func(d *desk, by core.Principal, id core.AdmissionID) error {
			_, err := d.Cancel(d.t.Context(), by, id)
			return err
		},
		"edit": func(d *desk, by core.Principal, id core.AdmissionID) error {
			return d.Edit(d.t.Context(), by, id, "edited")
		},
		"move": func(d *desk, by core.Principal, id core.AdmissionID) error {
			return d.Move(d.t.Context(), by, id, 0)
		},
		"send now": func(d *desk, by core.Principal, id core.AdmissionID) error { return d.SendNow(d.t.Context(), by, id) },
	}
	want := map[string][]string{"cancel": {"one", "three"}, "edit": {"one", "edited", "three"},
		"move": {"two", "one", "three"}, "send now": {"two", "one", "three"}}
	for name, op := range ops {
		for _, by := range []core.Principal{ann, boss, bob, {}} {
			t.Run(name+" by "+string(by.ID), func(t *testing.T) {
				d := newDesk(t, admission.Options{})
				c := d.submit(ann, d.in("1", "one")).Conversation
				two := d.submit(ann, d.in("1", "two"))
				d.submit(ann, d.in("1", "three"))
				err := op(d, by, two.ID)
				if by.ID == bob.ID || by.ID == "" {
					if !core.Is(err, core.Denied) {
						t.Errorf("error %v", err)
					}
					d.wants(c, "one", "two", "three")
					return
				}
				if err != nil {
					t.Error(err)
				}
				d.wants(c, want[name]...)
			})
		}
		t.Run(name+" of what does not wait", func(t *testing.T) {
			d := newDesk(t, admission.Options{})
			a := d.submit(ann, d.in("1", "one"))
			l, err := d.store.Acquire(t.Context(), a.Conversation, "t1", core.Holder{}, time.Minute, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.store.ClaimNext(t.Context(), l.Fence, nil); err != nil {
				t.Fatal(err)
			}
			if err := op(d, ann, a.ID); !core.Is(err, core.Conflict) {
				t.Errorf("error %v", err)
			}
			if err := op(d, ann, "nothing"); !core.Is(err, core.NotFound) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestClear(t *testing.T) {
	for _, tc := range []struct {
		by   core.Principal
		left []string
	}{
		{boss, nil},
		{bob, []string{"ann's"}},
	} {
		t.Run(string(tc.by.ID), func(t *testing.T) {
			d := newDesk(t, admission.Options{})
			c := d.submit(ann, d.in("1", "ann's")).Conversation
			d.submit(bob, d.in("1", "bob's"))
			ended, err := d.Clear(t.Context(), tc.by, c, core.ReasonNew)
			if err != nil || len(ended) != 2-len(tc.left) || ended[0].Outcome.Reason != core.ReasonNew {
				t.Errorf("%+v %v", ended, err)
			}
			d.wants(c, tc.left...)
		})
	}
	d := newDesk(t, admission.Options{})
	c := d.submit(ann, d.in("1", "x")).Conversation
	if _, err := d.Clear(t.Context(), guest, c, core.ReasonNew); !core.Is(err, core.Denied) {
		t.Errorf("error %v", err)
	}
}

// What was offered to the running turn follows its row.
func TestOffersFollowTheirRows(t *testing.T) {
	d := newDesk(t, admission.Options{})
	a := d.submit(ann, d.in("1", "one"))
	live, _ := d.sessions.Begin(a.Conversation)
	defer live.End()
	live.Turn(t.Context(), "running", "t")
	b := d.in("1", "two")
	two := d.submit(ann, b)
	offer := func(want ...session.Steered) {
		t.Helper()
		if diff := cmp.Diff(want, d.sessions.Steered(a.Conversation), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	d.sessions.Steer(a.Conversation, a.ID, "one")
	d.sessions.Steer(a.Conversation, two.ID, "two")
	if err := d.Edit(t.Context(), ann, a.ID, "uno"); err != nil {
		t.Fatal(err)
	}
	offer(session.Steered{ID: a.ID, Text: "uno"}, session.Steered{ID: two.ID, Text: "two"})
	b.Text = "due"
	got, err := d.Admit(t.Context(), []core.Entry{{By: ann, Submission: b, Amend: true}}, nil) // edited on the platform
	if err != nil || !got[0].Amended {
		t.Fatalf("%+v %v", got, err)
	}
	d.Woken(got)
	offer(session.Steered{ID: a.ID, Text: "uno"}, session.Steered{ID: two.ID, Text: "due"})
	got, err = d.Admit(t.Context(), []core.Entry{{By: ann, Submission: b, Delete: true}}, nil)
	if err != nil || !got[0].Amended {
		t.Fatalf("%+v %v", got, err)
	}
	d.Woken(got)
	if _, err := d.Cancel(t.Context(), ann, a.ID); err != nil {
		t.Fatal(err)
	}
	offer()
}

// tally counts what the door tells.
type tally struct {
	outcomes []string
	commits  int
}

func (c *tally) Admitted(surface, outcome string) {
	c.outcomes = append(c.outcomes, surface+" "+outcome)
}
func (c *tally) Committed(time.Duration) { c.commits++ }

// Whatever the door an input came by, it is counted here, once, by what became of it.
func TestEveryInputIsCounted(t *testing.T) {
	c := &tally{}
	d := newDesk(t, admission.Options{Metrics: c})
	first, refused, done := d.in("1", "hello"), d.in("1", "no"), d.in("1", "/help")
	local := core.Submission{Key: "web:1", Source: "rpc:x", RequestID: "r", Text: "hello", Surface: "rpc"}
	for _, e := range []core.Entry{{By: ann, Submission: first}, {By: ann, Submission: first}, {By: guest, Submission: refused},
		{By: ann, Submission: done, Terminal: &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}}, {By: bob, Submission: local}} {
		if _, err := d.Admit(t.Context(), []core.Entry{e}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"chat fresh", "chat duplicate", "chat refused", "chat command", "rpc fresh"}, c.outcomes); diff != "" {
		t.Error(diff)
	}
	if c.commits != 4 {
		t.Errorf("%d commits were timed; a refusal makes none", c.commits)
	}
}
