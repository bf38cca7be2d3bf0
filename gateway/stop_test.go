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
				w.g.ran, w.g.began = newRecent(), time.Now().Add(time.Minute)
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

	w.g.ran, w.g.cfg.Commands = newRecent(), commands
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
