package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/gateway/command"
)

// watchedDesk lets a test look at what is true when a batch is made durable.
type watchedDesk struct {
	Desk
	admit func(entries []core.Entry) error
}

func (d watchedDesk) Admit(ctx context.Context, entries []core.Entry, cur *core.Cursor) ([]core.Admitted, error) {
	if err := d.admit(entries); err != nil {
		return nil, err
	}
	return d.Desk.Admit(ctx, entries, cur)
}

// running gives each person a turn that runs, and returns their ends.
func (w *world) running(people ...string) map[string]context.Context {
	turns := map[string]context.Context{}
	for _, p := range people {
		w.receive(w.message("work", from(p)))
		ctx, _, done := w.run(w.conversation(core.Key("fake:" + p)).ID)
		w.t.Cleanup(done)
		turns[p] = ctx
	}
	return turns
}

func stopped(ctx context.Context) bool {
	i, ok := core.InterruptOf(ctx)
	return ok && i.Reason == core.ReasonStopped
}

var open = setup{access: AccessConfig{Default: "allow"}}

// The stops of a batch wait for nothing: all are carried out before anything is stored, whatever stands between them.
func TestStopsComeFirst(t *testing.T) {
	press := func(w *world, p string) adapters.Inbound {
		rows, err := w.s.Unsettled(t.Context(), w.conversation(core.Key("fake:"+p)).ID)
		if err != nil {
			t.Fatal(err)
		}
		return w.message("", from(p), func(in *adapters.Inbound) { in.Kind, in.Data = adapters.KindPress, "stop:"+string(rows[0].ID) })
	}
	for _, tc := range []struct {
		name string
		stop func(w *world, p string) adapters.Inbound
		said string // in the chat
		hint string // in the receipt
	}{
		{"command", func(w *world, p string) adapters.Inbound { return w.message("/stop", from(p)) }, "Stopped.", ""},
		{"button", press, "", "Stopped."},
		{"control", func(w *world, p string) adapters.Inbound {
			return w.message("", from(p), func(in *adapters.Inbound) { in.Kind = adapters.KindStop })
		}, "Stopped.", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, open)
			t.Cleanup(w.close)
			people := []string{"1", "2", "3"}
			turns := w.running(people...)
			commits := 0
			w.g.cfg.Desk = watchedDesk{w.g.cfg.Desk, func([]core.Entry) error {
				commits++
				for p, ctx := range turns {
					want(t, "stopped before the commit: "+p, stopped(ctx), true)
				}
				return nil
			}}
			var batch []adapters.Inbound
			for _, p := range people {
				batch = append(batch, tc.stop(w, p), w.message("and then this", from(p)), w.message("hello", from("4"+p)))
			}
			for i, r := range w.receive(batch...) {
				if i%3 == 0 {
					want(t, "toast", r.Answer, tc.hint)
				}
			}
			want(t, "commits", commits, 2) // the messages behind the stops have one of their own
			said := w.mouth.texts()
			if n := strings.Count(strings.Join(said, "\n"), "Stopped."); tc.said != "" && n != len(people) {
				t.Errorf("said: %q", said)
			}
		})
	}
}

// A stranger stops nothing, and somebody else's button stops nothing either.
func TestWhoMayNotStop(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	in := w.message("work", group(true))
	w.receive(in)
	ctx, row, done := w.run(w.conversation("fake:-5:u1").ID)
	defer done()
	press := func(who string) adapters.Inbound {
		return w.message("", group(true), func(in *adapters.Inbound) {
			in.Kind, in.Data, in.From.ID = adapters.KindPress, "stop:"+string(row.ID), who
		})
	}
	as := func(who string) func(*adapters.Inbound) { return func(in *adapters.Inbound) { in.From.ID = who } }
	w.receive(w.message("/stop", group(true), as("7")), press("7"), w.message("/stop", group(true), as("2")), press("2"))
	if ctx.Err() != nil {
		t.Error("it was stopped")
	}
	w.receive(press("9"))
	want(t, "an admin stops it", stopped(ctx), true)
}

// A stop is about what came before it: what is in the same batch, too.
func TestStopOfWhatCameWithIt(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	w.g.cfg.Desk = watchedDesk{w.g.cfg.Desk, func(entries []core.Entry) error {
		if len(entries) == 2 { // what the dispatcher does when it is woken for the message
			live, _ := w.sessions.Begin(w.conversation("fake:1").ID)
			t.Cleanup(live.End)
		}
		return nil
	}}
	w.receive(w.message("earlier"))
	w.receive(w.message("work"), w.message("/stop"))
	if said := w.mouth.texts(); len(said) != 1 || !strings.HasPrefix(said[0], "Stopped.") {
		t.Errorf("said: %q", said)
	}
}

// A stop that the platform delivers again does not stop what runs by then, in this process or in the next.
func TestStopDeliveredAgain(t *testing.T) {
	for _, next := range []bool{false, true} {
		t.Run(fmt.Sprintf("restarted %v", next), func(t *testing.T) {
			w := newWorld(t, open)
			t.Cleanup(w.close)
			stop := w.message("/stop", func(in *adapters.Inbound) { in.Sent = time.Now().Add(time.Second) })
			r := w.receive(stop)
			if next {
				row, err := w.s.Admission(t.Context(), core.AdmissionID(r[0].ID))
				if err != nil {
					t.Fatal(err)
				}
				answer := core.Delivery{ID: "d", Admission: row.ID, Conversation: row.Conversation, Kind: core.DeliverReply, Route: row.Submission.Route, Text: "x"}
				if err := w.s.Outbox().Put(t.Context(), answer); err != nil {
					t.Fatal(err)
				}
				w.g.ran = newRan()
				w.g.begin(time.Now().Add(time.Minute))
			}
			w.mouth.texts()
			turns := w.running("1")
			want(t, "duplicate", w.receive(stop)[0].Duplicate, true)
			if turns["1"].Err() != nil || len(w.mouth.texts()) > 0 {
				t.Error("it was carried out twice")
			}
		})
	}
}

// A process that dies after it stored a command and before it answered leaves it to the next one: the cursor has not
// moved.
func TestCommandsAreNotLost(t *testing.T) {
	w := newWorld(t, open)
	defer w.close()
	cursor := func() string {
		c, err := w.in.Cursor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	commands := w.g.cfg.Commands
	w.g.cfg.Commands = diesIn{commands, func() { want(t, "cursor while a command runs", cursor(), "") }}
	batch := adapters.Batch{Inbound: []adapters.Inbound{w.message("/new"), w.message("/model", from("2")), w.message("/queue rm 1", from("3"))}, Cursor: "9"}
	if _, err := w.in.Receive(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	want(t, "answers of the process that dies", len(w.mouth.texts()), 0)
	want(t, "cursor", cursor(), "9")

	w.g.ran, w.g.cfg.Commands = newRan(), commands
	receipts, err := w.in.Receive(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range receipts {
		want(t, "duplicate", r.Duplicate, true)
	}
	said := strings.Join(w.mouth.texts(), "\n")
	for _, part := range []string{"A new conversation.", "I answer with", "I was restarted just then"} {
		if strings.Count(said, part) != 1 {
			t.Errorf("%q is not said once: %q", part, said)
		}
	}
}

// diesIn runs no command, like a process that is killed before it could.
type diesIn struct {
	Commands
	before func()
}

func (d diesIn) Run(context.Context, command.Call) (command.Answer, error) {
	d.before()
	return command.Answer{}, nil
}

// A batch that could not be stored comes again, and its stops are answered then.
func TestStopWithoutAStore(t *testing.T) {
	w := newWorld(t, open)
	t.Cleanup(w.close)
	turns := w.running("1")
	desk, fail := w.g.cfg.Desk, true
	w.g.cfg.Desk = watchedDesk{desk, func([]core.Entry) error {
		if fail {
			return errors.New("no disk")
		}
		return nil
	}}
	batch := adapters.Batch{Inbound: []adapters.Inbound{w.message("/stop")}}
	if _, err := w.in.Receive(t.Context(), batch); err == nil {
		t.Fatal("acknowledged without a store")
	}
	want(t, "stopped all the same", stopped(turns["1"]), true)
	want(t, "answers", len(w.mouth.texts()), 0)
	fail = false
	if _, err := w.in.Receive(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if said := w.mouth.texts(); len(said) != 1 || said[0] != "Stopped." {
		t.Errorf("said: %q", said)
	}
}

// A stop that was carried out before its commit failed is answered when it comes again, and not carried out again: it does
// not hit the turn that began since.
func TestStopIsNotRepeatedAfterAFailedCommit(t *testing.T) {
	w := newWorld(t, open)
	t.Cleanup(w.close)
	w.receive(w.message("first"), w.message("second"))
	c := w.conversation("fake:1").ID
	one, first, done := w.run(c)
	desk, fail := w.g.cfg.Desk, true
	w.g.cfg.Desk = watchedDesk{desk, func([]core.Entry) error {
		if fail {
			return errors.New("busy")
		}
		return nil
	}}
	batch := adapters.Batch{Inbound: []adapters.Inbound{w.message("/stop")}}
	if _, err := w.in.Receive(t.Context(), batch); err == nil {
		t.Fatal("acknowledged")
	}
	want(t, "first stopped", stopped(one), true)
	done()
	two, row, done := w.run(c)
	t.Cleanup(done)
	fail = false
	for range 2 {
		if _, err := w.in.Receive(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := w.s.Recent(t.Context(), c, 1)
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	want(t, "what the row of the stop names", rows[0].Submission.Stops, first.ID)
	if two.Err() != nil {
		t.Errorf("%q is stopped, too", row.Submission.Text)
	}
	if said := w.mouth.texts(); len(said) != 1 || !strings.HasPrefix(said[0], "Stopped.") {
		t.Errorf("said: %q", said)
	}
}

// The table of what this process takes care of is bounded, and the young stay.
func TestRanIsBounded(t *testing.T) {
	r := newRan()
	for n := range keepRan + 100 {
		r.take(fmt.Sprint(n))
	}
	want(t, "size", len(r.known), keepRan)
	_, _, ours := r.take(fmt.Sprint(keepRan))
	want(t, "a young one is known", ours, false)
}

// A bare command that is repeated after a crash means what was there when it was given: no question that was asked since,
// no turn that was claimed since, no turn that was cut off since, no message that waits since.
func TestRepeatedCommandsMeanWhatWasThere(t *testing.T) {
	admin := setup{access: AccessConfig{Admins: []string{"fake:1"}}}
	for _, text := range []string{"/approve", "/deny", "/approve always", "/deny I do not like it"} {
		t.Run(text, func(t *testing.T) {
			w := newWorld(t, admin)
			t.Cleanup(w.close)
			w.receive(w.message("work"))
			w.asks("01AAAAAAAAAAAAAAAAAAAAAAAA")
			batch := w.crashed(text)
			w.asks("01BBBBBBBBBBBBBBBBBBBBBBBB")
			if _, err := w.in.Receive(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			q, err := w.s.Question(t.Context(), "01BBBBBBBBBBBBBBBBBBBBBBBB")
			if err != nil || q.State != core.QuestionOpen {
				t.Errorf("a question that nobody saw is %s: %q, %v", q.State, q.Answer, err)
			}
		})
	}
	for _, text := range []string{"/stop", "/stop all", "/new"} {
		t.Run(text, func(t *testing.T) {
			w := newWorld(t, admin)
			t.Cleanup(w.close)
			w.receive(w.message("work"))
			batch := w.crashed(text)
			w.receive(w.message("later"), w.message("still later"))
			turn, _, done := w.run(w.conversation("fake:1").ID)
			t.Cleanup(done)
			before := len(w.queued())
			if _, err := w.in.Receive(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			want(t, "stopped", turn.Err(), nil)
			want(t, "still waiting", len(w.queued()), before)
		})
	}
}

// asks puts a question to person 1.
func (w *world) asks(id core.QuestionID) {
	q := core.Question{ID: id, Conversation: w.conversation("fake:1").ID, Admission: "A", State: core.QuestionOpen, Created: time.Now(),
		Deadline: time.Now().Add(time.Hour), For: "fake:1", Ask: core.Ask{Kind: core.Approval, Title: "rm", Call: string(id)}}
	if _, err := w.s.Put(w.t.Context(), q); err != nil {
		w.t.Fatal(err)
	}
}

// crashed has a process carry out a command and die before it has stored the answer. It returns what the next one gets.
func (w *world) crashed(text string) adapters.Batch {
	batch := adapters.Batch{Inbound: []adapters.Inbound{w.message(text, func(in *adapters.Inbound) { in.Sent = time.Now() })}, Cursor: "1"}
	if _, err := w.in.Receive(w.t.Context(), batch); err != nil {
		w.t.Fatal(err)
	}
	w.mouth.texts() // the fake stores none of it
	w.g.ran = newRan()
	w.g.begin(time.Now())
	return batch
}

// pressPanics is a table whose buttons panic.
type pressPanics struct{ Commands }

func (pressPanics) Press(context.Context, command.Call, string) (string, error) { panic("boom") }

// A button that panics takes nothing down: who pressed it is told, the rest of the batch is done and the cursor moves on.
func TestPanickingButtons(t *testing.T) {
	for _, data := range []string{"q:rm:X", "stop:X"} {
		w := newWorld(t, open)
		w.g.cfg.Commands = pressPanics{w.g.cfg.Commands}
		press := func(who string) adapters.Inbound {
			return w.message("", from(who), func(in *adapters.Inbound) { in.Kind, in.Data = adapters.KindPress, data })
		}
		batch := adapters.Batch{Inbound: []adapters.Inbound{press("1"), press("2"), w.message("hello", from("3"))}, Cursor: "7"}
		if _, err := w.in.Receive(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		said := w.mouth.texts()
		if len(said) != 2 || !strings.Contains(said[0], "Something went wrong on my side.") || !strings.Contains(said[0], "(ref ") {
			t.Errorf("%s: said %q", data, said)
		}
		want(t, "waiting", strings.Join(w.queued(), ","), "hello")
		cursor, err := w.in.Cursor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want(t, "cursor", cursor, "7")
		w.close()
	}
}

// Which stops may have been carried out by the process that had the adapter's place before.
func TestLateStops(t *testing.T) {
	w := newWorld(t, open)
	t.Cleanup(w.close)
	now := time.Now()
	for _, tc := range []struct {
		name  string
		in    adapters.Inbound
		began time.Time
		late  bool
	}{
		{"sent before", adapters.Inbound{Kind: adapters.KindMessage, Sent: now.Add(-time.Second)}, now, true},
		{"sent since", adapters.Inbound{Kind: adapters.KindMessage, Sent: now.Add(time.Second)}, now, false},
		{"without a time, soon", adapters.Inbound{Kind: adapters.KindStop}, now, true},
		{"without a time, later", adapters.Inbound{Kind: adapters.KindStop}, now.Add(-time.Hour), false},
		{"a button", adapters.Inbound{Kind: adapters.KindPress}, now, false},
	} {
		w.g.begin(tc.began)
		want(t, tc.name, w.g.late(&Arrival{In: tc.in}), tc.late)
	}
	w.g.begin(now.Add(-time.Hour))
	if _, err := w.in.Cursor(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "another node sat there", w.g.late(&Arrival{In: adapters.Inbound{Kind: adapters.KindMessage, Sent: now.Add(-time.Second)}}), true)
}

// turnPanics is a table that panics when a guard asks it.
type turnPanics struct{ Commands }

func (turnPanics) Turn(command.Call) (core.Submission, string, bool) { panic("boom") }

// A guard that panics refuses its input in words and nothing else.
func TestPanickingGuard(t *testing.T) {
	w := newWorld(t, open)
	defer w.close()
	w.g.cfg.Commands = turnPanics{w.g.cfg.Commands}
	w.receive(w.message("/queue this"), w.message("hello", from("3")))
	if said := w.mouth.texts(); len(said) != 1 || !strings.Contains(said[0], "Something went wrong on my side.") {
		t.Errorf("said %q", said)
	}
	want(t, "waiting", strings.Join(w.queued(), ","), "hello")
}
