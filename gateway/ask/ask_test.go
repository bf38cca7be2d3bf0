package ask_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/store"
	"bellhop/gateway/ask"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const all = core.CanRead | core.CanSubmit | core.CanApprove | core.CanRespond

var (
	ann   = core.Principal{ID: "chat:ann", Name: "Ann", Caps: all, Admin: true}
	bob   = core.Principal{ID: "chat:bob", Name: "Bob", Caps: all}                                        // the author of some turns, no admin
	eve   = core.Principal{ID: "chat:eve", Name: "Eve", Caps: all, Admin: true}                           // another admin
	owner = core.Principal{ID: "chat:owner", Name: "Owner", Caps: all | core.CanOperate, Admin: true}     //
	mute  = core.Principal{ID: "chat:ann", Name: "Ann", Caps: core.CanRead | core.CanSubmit, Admin: true} // the author through a door without these rights
)

// desk is a Desk on a real store, with what it published.
type desk struct {
	*ask.Desk
	t    *testing.T
	rows *store.Store
	conv core.ConversationID

	mu   sync.Mutex
	news []core.EventBody
}

func newDesk(t *testing.T) *desk {
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
	c, err := s.Bind(t.Context(), "chat:1", "", ann.ID, "chat")
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, rows: s, conv: c.ID}
	d.restart()
	return d
}

// restart makes a new Desk on the same rows, as a new process does.
func (d *desk) restart() {
	d.Desk = ask.New(d.rows, ask.Options{Publish: func(_ context.Context, _ core.Question, b core.EventBody) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.news = append(d.news, b)
	}})
}

// last returns the newest event.
func (d *desk) last() core.EventBody {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.news) == 0 {
		return core.EventBody{}
	}
	return d.news[len(d.news)-1]
}

func (d *desk) count(t core.EventType) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, b := range d.news {
		if b.Type == t {
			n++
		}
	}
	return n
}

// question is one of ann's turn.
func (d *desk) question(k core.QuestionKind, call string) core.Question {
	return core.Question{Conversation: d.conv, Admission: "a1", Turn: "t1", For: ann.ID,
		Ask: core.Ask{Kind: k, Call: call, Tool: "shell", Title: "Run a command?", Detail: "rm -rf build"}}
}

type reply struct {
	q   core.Question
	err error
}

// asks asks in the background, waits until the question is open, and returns it and where its end comes.
func (d *desk) asks(ctx context.Context, q core.Question) (core.Question, <-chan reply) {
	d.t.Helper()
	done := make(chan reply, 1)
	go func() {
		q, err := d.Ask(ctx, q)
		done <- reply{q, err}
	}()
	synctest.Wait()
	open, err := d.Open(d.t.Context(), d.conv)
	if err != nil || len(open) == 0 {
		d.t.Fatalf("nothing is open: %v", err)
	}
	return open[len(open)-1], done
}

func bubble(t *testing.T, f func(t *testing.T, d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newDesk(t)) })
}

func TestFirstAnswerWinsAtEveryDoor(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		q, done := d.asks(t.Context(), d.question(core.Approval, "x"))
		if b := d.last(); b.Type != core.ApprovalRequest || b.Question != q.ID || b.Call != "x" || b.Ask == nil {
			t.Errorf("%+v", b)
		}
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for n := range errs {
			by, answer := ann, core.ChoiceOnce
			if n%2 == 1 {
				by, answer = owner, core.ChoiceDeny
			}
			wg.Go(func() { _, errs[n] = d.Answer(t.Context(), by, q.ID, string(answer)) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !core.Is(err, core.Conflict):
				t.Error(err)
			}
		}
		got := <-done
		if won != 1 || got.err != nil || got.q.State != core.QuestionAnswered {
			t.Errorf("%d won; %+v", won, got)
		}
		if n := d.count(core.QuestionResolved); n != 1 {
			t.Errorf("resolved %d times", n)
		}
	})
}

func TestExpiryMeansWhatItsKindSays(t *testing.T) {
	for _, tc := range []struct {
		kind   core.QuestionKind
		after  time.Duration
		answer string
		words  string
	}{
		{core.Approval, 300 * time.Second, "deny", "denied"},
		{core.Clarify, 300 * time.Second, "", "agent decides"},
		{core.Sudo, 120 * time.Second, "", "no password"},
		{core.Secret, 300 * time.Second, "", "skipped"},
	} {
		t.Run(string(tc.kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, d *desk) {
				start := time.Now()
				_, done := d.asks(t.Context(), d.question(tc.kind, "x"))
				got := <-done
				if late := time.Since(start) - tc.after; late < 0 || late > 2*time.Second {
					t.Errorf("expired %v after its time", late)
				}
				if got.err != nil || got.q.State != core.QuestionExpired || got.q.Answer != tc.answer {
					t.Errorf("%+v", got)
				}
				if b := d.last(); b.Type != core.QuestionResolved || b.Status != "expired" || !strings.Contains(b.Text, tc.words) {
					t.Errorf("%+v", b)
				}
			})
		})
	}
}

// C168: a click one second after the time is over, and a double click.
func TestLateAndDoubleClicks(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		q := d.question(core.Approval, "x")
		q.ID, q.State, q.Deadline = "q1", core.QuestionOpen, time.Now().Add(time.Minute)
		if _, err := d.rows.Put(t.Context(), q); err != nil { // nobody waits: its turn is gone
			t.Fatal(err)
		}
		<-time.After(61 * time.Second)
		row, err := d.Answer(t.Context(), ann, "q1", "once")
		if !core.Is(err, core.Conflict) || row.State != core.QuestionExpired {
			t.Errorf("%+v %v", row, err)
		}
		if b := d.last(); b.Status != "expired" || !strings.Contains(b.Text, "not run") {
			t.Errorf("%+v", b)
		}
		second, done := d.asks(t.Context(), d.question(core.Approval, "y"))
		if _, err := d.Answer(t.Context(), ann, second.ID, "once"); err != nil {
			t.Fatal(err)
		}
		row, err = d.Answer(t.Context(), ann, second.ID, "once")
		if !core.Is(err, core.Conflict) || row.State != core.QuestionAnswered || row.ByName != "Ann" {
			t.Errorf("the second click must learn how it ended: %+v %v", row, err)
		}
		<-done
	})
}

func TestWhoMayAnswer(t *testing.T) {
	type door struct {
		by  core.Principal
		err core.Kind // Internal: none
	}
	for _, tc := range []struct {
		name   string
		kind   core.QuestionKind
		author core.Principal
		doors  []door
	}{
		{"an approval of an admin's turn", core.Approval, ann, []door{{bob, core.Denied}, {eve, core.Denied}, {mute, core.Denied}, {core.Principal{}, core.Denied}, {ann, core.Internal}}},
		{"an approval of somebody's turn", core.Approval, bob, []door{{bob, core.Denied}, {eve, core.Denied}, {owner, core.Internal}}},
		{"the owner for an admin", core.Approval, ann, []door{{owner, core.Internal}}},
		{"a password", core.Sudo, bob, []door{{bob, core.Denied}, {owner, core.Internal}}},
		{"a clarification", core.Clarify, bob, []door{{ann, core.Denied}, {bob, core.Internal}}},
		{"a clarification, by the owner", core.Clarify, bob, []door{{owner, core.Internal}}},
		{"a secret", core.Secret, bob, []door{{eve, core.Denied}, {mute, core.Denied}, {bob, core.Internal}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, d *desk) {
				q := d.question(tc.kind, "x")
				q.For = tc.author.ID
				q, done := d.asks(t.Context(), q)
				for _, who := range tc.doors {
					_, err := d.Answer(t.Context(), who.by, q.ID, "once")
					if (err == nil) != (who.err == core.Internal) || err != nil && core.KindOf(err) != who.err {
						t.Errorf("%s: %v", who.by.ID, err)
					}
				}
				if got := <-done; got.q.Answer != "once" {
					t.Errorf("%+v", got)
				}
			})
		})
	}
	bubble(t, func(t *testing.T, d *desk) {
		if _, err := d.Answer(t.Context(), ann, "none", "once"); !core.Is(err, core.NotFound) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		q, done := d.asks(ctx, d.question(core.Approval, "x"))
		if _, err := d.Answer(t.Context(), ann, q.ID, "perhaps"); !core.Is(err, core.Invalid) {
			t.Error(err)
		}
		for _, answer := range []string{"once: because", "deny:because", "denied", "Deny: x"} {
			if _, err := d.Answer(t.Context(), ann, q.ID, answer); !core.Is(err, core.Invalid) {
				t.Errorf("%q: %v", answer, err)
			}
		}
		cancel()
		<-done
	})
}

// TestRefusalWithReason: the turn gets the reason, and news and words tell it.
func TestRefusalWithReason(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		q, done := d.asks(t.Context(), d.question(core.Approval, "x"))
		if _, err := d.Answer(t.Context(), ann, q.ID, core.Deny(" not today ")); err != nil {
			t.Fatal(err)
		}
		if choice, reason := core.ReadChoice((<-done).q.Answer); choice != core.ChoiceDeny || reason != "not today" {
			t.Errorf("the turn got %q, %q", choice, reason)
		}
		if b := d.last(); b.Detail != string(core.ChoiceDeny) || !strings.HasSuffix(b.Text, ": not today") {
			t.Errorf("published %+v", b)
		}
	})
}

func TestSecretsAreNotWrittenDown(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		q, done := d.asks(t.Context(), d.question(core.Secret, "x"))
		row, err := d.Answer(t.Context(), ann, q.ID, "hunter2")
		if err != nil || strings.Contains(row.Answer, "hunter2") {
			t.Fatalf("%+v %v", row, err)
		}
		if got := <-done; got.q.Answer != "hunter2" {
			t.Errorf("the turn got %q", got.q.Answer)
		}
		if stored, err := d.rows.Question(t.Context(), q.ID); err != nil || strings.Contains(stored.Answer, "hunter2") {
			t.Errorf("%+v %v", stored, err)
		}
		if b := d.last(); strings.Contains(string(b.JSON()), "hunter2") {
			t.Errorf("published: %s", b.JSON())
		}
	})
}

func TestHowATurnEndsDecidesAboutItsQuestion(t *testing.T) {
	for _, tc := range []struct {
		reason core.Reason
		state  core.QuestionState
	}{
		{core.ReasonStopped, core.QuestionDropped},
		{core.ReasonReplaced, core.QuestionDropped},
		{core.ReasonTime, core.QuestionDropped},
		{core.ReasonShutdown, core.QuestionOpen},
		{core.ReasonLeaseLost, core.QuestionOpen},
	} {
		t.Run(string(tc.reason), func(t *testing.T) {
			bubble(t, func(t *testing.T, d *desk) {
				ctx, cancel := context.WithCancelCause(t.Context())
				q, done := d.asks(ctx, d.question(core.Approval, "x"))
				cause := &core.Interrupt{Reason: tc.reason}
				cancel(cause)
				if got := <-done; !errors.Is(got.err, cause) {
					t.Errorf("%+v", got)
				}
				row, err := d.rows.Question(t.Context(), q.ID)
				if err != nil || row.State != tc.state {
					t.Errorf("%+v %v", row, err)
				}
				if n := d.count(core.QuestionResolved); (n == 1) != (tc.state == core.QuestionDropped) {
					t.Errorf("resolved %d times", n)
				}
			})
		})
	}
}

// C169: three approvals are open when the process dies. One goes on in its turn with the time that is left, one is answered
// before its turn comes back, and one has run out meanwhile.
func TestQuestionsSurviveARestart(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		dies, cancel := context.WithCancelCause(t.Context())
		var gone []<-chan reply
		start := time.Now()
		for n, call := range []string{"x", "y"} {
			q := d.question(core.Approval, call)
			q.Deadline = start.Add(time.Duration(n+1) * 300 * time.Second)
			_, done := d.asks(dies, q)
			gone = append(gone, done)
		}
		z := d.question(core.Approval, "z")
		z.Deadline = start.Add(50 * time.Second)
		lost, done := d.asks(dies, z)
		cancel(&core.Interrupt{Reason: core.ReasonShutdown})
		for _, g := range append(gone, done) {
			<-g
		}
		<-time.After(100 * time.Second)
		d.restart()
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := d.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if row, err := d.rows.Question(t.Context(), lost.ID); err != nil || row.State != core.QuestionExpired {
			t.Errorf("%+v %v", row, err)
		}

		again := d.question(core.Approval, "x")
		again.Turn = "t2"
		asked := d.count(core.ApprovalRequest)
		open, err := d.Open(t.Context(), d.conv)
		if err != nil || len(open) != 2 {
			t.Fatalf("%v %v", open, err)
		}
		_, done = d.asks(t.Context(), again)
		got := <-done
		if got.q.ID != open[0].ID || got.q.State != core.QuestionExpired {
			t.Errorf("%+v", got)
		}
		if waited := time.Since(start); waited < 300*time.Second || waited > 306*time.Second {
			t.Errorf("ran out %v after it was asked first", waited)
		}
		if d.count(core.ApprovalRequest) != asked+1 {
			t.Error("the first publication may have died with the process: it is shown again")
		}
		if _, err := d.Answer(t.Context(), ann, open[1].ID, "session"); err != nil {
			t.Error(err)
		}
		stop()
		wg.Wait()
		if open, _ := d.Open(t.Context(), d.conv); len(open) != 0 {
			t.Errorf("still open: %+v", open)
		}
	})
}

// An answer that was given through another process reaches the turn that waits in this one.
func TestAnswerThroughAnotherProcess(t *testing.T) {
	bubble(t, func(t *testing.T, d *desk) {
		q, done := d.asks(t.Context(), d.question(core.Clarify, "x"))
		other := ask.New(d.rows, ask.Options{})
		if _, err := other.Answer(t.Context(), ann, q.ID, "the blue one"); err != nil {
			t.Fatal(err)
		}
		if got := <-done; got.q.Answer != "the blue one" {
			t.Errorf("%+v", got)
		}
	})
}

func TestStartStop(t *testing.T) {
	d := newDesk(t)
	for range 10 {
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancelCause(t.Context())
		for range 50 {
			wg.Go(func() { _ = d.Run(ctx) })
			wg.Go(func() { _, _ = d.Ask(ctx, d.question(core.Clarify, "")) })
		}
		cancel(&core.Interrupt{Reason: core.ReasonStopped})
		wg.Wait()
	}
	if open, err := d.Open(t.Context(), d.conv); err != nil || len(open) != 0 {
		t.Errorf("%d questions are still open: %v", len(open), err)
	}
}
