package dispatch_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/lease"
	"bellhop/core/turn"
	"bellhop/gateway/dispatch"
)

// othersLive makes every holder count as alive.
func othersLive(c *dispatch.Config) {
	c.Alive = func(core.Holder) bool { return true }
	c.Keeper = lease.New(c.Store.(*stores), lease.Options{Alive: c.Alive})
}

// polite waits for its end and closes its affairs.
func polite(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
	if in.Claim.Admission.Submission.Text != "m1" {
		return answers(ctx, in, emit)
	}
	in.Active("thinking")
	<-ctx.Done()
	return interrupted(ctx)
}

func (g *gateway) isRunning(a core.Admission) {
	g.t.Helper()
	g.until("the turn runs", func() bool {
		s, ok := g.sessions.Status(a.Conversation)
		return ok && s.Admission == a.ID
	})
	synctest.Wait()
}

func TestStop(t *testing.T) {
	bubble(t, polite, func(t *testing.T, g *gateway) {
		a, waits := g.say("1"), g.say("1")
		g.isRunning(a)
		if id, ok := g.sessions.Interrupt(a.Conversation, core.Interrupt{Reason: core.ReasonStopped, By: "chat:ann"}); !ok || id != a.ID {
			t.Errorf("%q %v", id, ok)
		}
		o := g.ended(a.ID, 50*time.Millisecond).Outcome
		if o.Result != core.Interrupted || o.Reason != core.ReasonStopped {
			t.Errorf("%+v", o)
		}
		if v := g.outlet.of(a.ID); v.did("end") {
			t.Error("an interrupted turn has no final text to show")
		}
		if o := g.ended(waits.ID, time.Second).Outcome; o.Result != core.Completed {
			t.Errorf("what waits stays: %+v", o)
		}
	})
}

// A person who writes /stop gets an answer to that; the turn does not say the same once more. Who stops it elsewhere leaves
// that to the turn, and what is more than the bare word is said in any case.
func TestStopIsSaidOnce(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		told             bool
	}{
		{"by a command", "Stopped.", "", true},
		{"from elsewhere", "Stopped.", "Stopped.", false},
		{"with more to say", "Stopped. Please check.", "Stopped. Please check.", true},
		{"below a part of the answer", "*(stopped)*", "*(stopped)*", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			speaks := func(ctx context.Context, in turn.Input, _ emitFunc) (core.Outcome, []core.Message) {
				in.Active("thinking")
				<-ctx.Done()
				o, tail := interrupted(ctx)
				o.Text = c.text
				return o, tail
			}
			bubble(t, speaks, func(t *testing.T, g *gateway) {
				a := g.say("1")
				g.isRunning(a)
				g.sessions.Interrupt(a.Conversation, core.Interrupt{Reason: core.ReasonStopped, By: "chat:ann", Told: c.told})
				if o := g.ended(a.ID, time.Second).Outcome; o.Text != c.want {
					t.Errorf("said %q, want %q", o.Text, c.want)
				}
			})
		})
	}
}

// C153: a turn that hangs is left behind within a second; what it does later reaches nobody.
func TestStopOfATurnThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake, back := make(chan struct{}), make(chan error, 1)
		var g *gateway
		g = newGateway(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
			if in.Claim.Admission.Submission.Text != "m1" {
				return answers(ctx, in, emit)
			}
			a := in.Claim.Admission
			_, err := g.store.Append(ctx, in.Fence, core.Batch{Sync: true,
				Messages: []core.Message{{Admission: a.ID, Role: core.RoleUser, Content: "m1"},
					{Admission: a.ID, Role: core.RoleAssistant, Interim: true, Calls: []core.ToolCall{{ID: "x", Name: "shell"}}}},
				Calls: []core.Call{{ID: "x", Admission: a.ID, Name: "shell", Effect: core.Once, State: core.CallStarted}}})
			if err != nil {
				t.Error(err)
			}
			<-wake // a call that reads no flag
			emit(core.EventBody{Type: core.MessageDelta, Text: "late"})
			in.Active("late")
			in.Waiting(true)
			if got := in.Steer(); got != nil {
				t.Errorf("took the next turn's offers: %v", got)
			}
			_, err = g.store.Append(context.WithoutCancel(ctx), in.Fence, core.Batch{Messages: []core.Message{{Role: core.RoleAssistant, Content: "late"}}})
			back <- err
			return core.Outcome{Result: core.Completed, Text: "late"}, nil
		})
		detach := g.hub.AttachAll(listener(func(e core.Event) {
			if e.Text == "late" {
				t.Error("late text was published")
			}
		}))
		defer detach()
		g.start()
		a := g.say("1")
		g.isRunning(a)
		next := g.say("1")
		start := time.Now()
		g.sessions.Interrupt(a.Conversation, core.Interrupt{Reason: core.ReasonStopped})
		o := g.ended(a.ID, time.Second).Outcome
		if d := time.Since(start); d > time.Second || o.Reason != core.ReasonStopped || !o.Uncertain || o.Text == "" {
			t.Errorf("after %v: %+v", d, o)
		}
		g.ended(next.ID, 100*time.Millisecond)
		if g.Hung() != 1 {
			t.Errorf("%d turns hang", g.Hung())
		}
		close(wake)
		if err := <-back; !core.Is(err, core.Stale) {
			t.Errorf("a late write: %v, want stale", err)
		}
		g.until("it came back", func() bool { return g.Hung() == 0 })
		said, err := g.store.Said(t.Context(), a.ID)
		if err != nil || len(said) != 4 || said[2].CallID != "x" || !strings.Contains(said[2].Content, "unknown") || said[3].Role != core.RoleAssistant {
			t.Errorf("the tail is not closed: %+v %v", said, err)
		}
		g.halt()
		g.balanced()
	})
}

func TestReplacedByNewerInput(t *testing.T) {
	bubble(t, polite, func(t *testing.T, g *gateway) {
		a := g.say("1")
		g.isRunning(a)
		newer := g.admit("1")
		g.sessions.Interrupt(a.Conversation, core.Interrupt{Reason: core.ReasonReplaced})
		g.Wake(a.Conversation)
		if o := g.ended(a.ID, time.Second).Outcome; o.Reason != core.ReasonReplaced {
			t.Errorf("%+v", o)
		}
		g.ended(newer.ID, time.Second)
	})
}

// theirs gives the lease of c to another process, until it is released.
func (g *gateway) theirs(c core.ConversationID) (release func()) {
	g.t.Helper()
	l, err := g.store.Acquire(g.t.Context(), c, "theirs", core.Holder{Host: "here/boot", PID: 2, Instance: "other"}, time.Hour, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	return func() {
		g.t.Helper()
		if err := g.store.Release(g.t.Context(), l.Fence); err != nil {
			g.t.Fatal(err)
		}
	}
}

// A stop whose row cannot be looked up does not leave the queue to the next sweep.
func TestStopWhileTheStoreIsAway(t *testing.T) {
	bubble(t, answers, func(t *testing.T, g *gateway) {
		row := g.admit("1")
		release := g.theirs(row.Conversation)
		g.store.look = func() error { return core.Errorf("list", core.Unavailable, "no") }
		g.Wake(row.Conversation)
		<-time.After(time.Minute)
		g.sessions.Interrupt(row.Conversation, core.Interrupt{Reason: core.ReasonStopped})
		<-time.After(time.Second)
		release()
		g.ended(row.ID, 8*time.Second)
	}, othersLive)
}

// A stop that comes while the row waits for the lease ends that row as cancelled and leaves the others.
func TestStopBeforeTheClaim(t *testing.T) {
	bubble(t, answers, func(t *testing.T, g *gateway) {
		first, second := g.admit("1"), g.admit("1")
		release := g.theirs(first.Conversation)
		g.Wake(first.Conversation)
		<-time.After(time.Minute)
		if _, ok := g.sessions.Interrupt(first.Conversation, core.Interrupt{Reason: core.ReasonReplaced}); ok {
			t.Error("newer input replaced what does not run")
		}
		if _, ok := g.sessions.Interrupt(first.Conversation, core.Interrupt{Reason: core.ReasonStopped}); !ok {
			t.Error("not live")
		}
		if o := g.ended(first.ID, time.Second).Outcome; o.Result != core.Cancelled || o.Reason != core.ReasonStopped {
			t.Errorf("%+v", o)
		}
		release()
		if o := g.ended(second.ID, time.Minute).Outcome; o.Result != core.Completed {
			t.Errorf("%+v", o)
		}
	}, othersLive)
}

// A stop of one row that waits behind others ends none of them.
func TestStopOfOneRowSparesTheHead(t *testing.T) {
	bubble(t, answers, func(t *testing.T, g *gateway) {
		first, second := g.admit("1"), g.admit("1")
		release := g.theirs(first.Conversation)
		g.Wake(first.Conversation)
		<-time.After(time.Minute)
		if !g.sessions.Forestall(first.Conversation, second.ID, core.Interrupt{Reason: core.ReasonStopped}) {
			t.Error("not live")
		}
		<-time.After(time.Second)
		release()
		for _, a := range []core.Admission{first, second} {
			if o := g.ended(a.ID, time.Minute).Outcome; o.Result != core.Completed {
				t.Errorf("%+v", o)
			}
		}
	}, othersLive)
}

// C154, C160: a turn without activity is interrupted; signs of life and waiting for a person are activity.
func TestLiveness(t *testing.T) {
	for _, tc := range []struct {
		name  string
		run   func(ctx context.Context, in turn.Input, emit emitFunc)
		after time.Duration
	}{
		{"nothing at all", func(ctx context.Context, _ turn.Input, _ emitFunc) { <-ctx.Done() }, 15 * time.Minute},
		{"signs of life for an hour", func(ctx context.Context, in turn.Input, _ emitFunc) {
			for range 12 {
				<-time.After(5 * time.Minute)
				in.Active("running shell")
			}
			<-ctx.Done()
		}, 75 * time.Minute},
		{"news for an hour", func(ctx context.Context, _ turn.Input, emit emitFunc) {
			for range 12 {
				<-time.After(5 * time.Minute)
				emit(core.EventBody{Type: core.MessageDelta, Text: "."})
			}
			<-ctx.Done()
		}, 75 * time.Minute},
		{"waits for a person for three hours", func(ctx context.Context, in turn.Input, _ emitFunc) {
			in.Waiting(true)
			<-time.After(3 * time.Hour)
			in.Waiting(false)
			<-ctx.Done()
		}, 195 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
				tc.run(ctx, in, emit)
				return interrupted(ctx)
			}, func(t *testing.T, g *gateway) {
				start := time.Now()
				a := g.say("1")
				g.until("started", func() bool { return g.row(a.ID).Status == core.Started })
				<-time.After(tc.after - time.Since(start) - time.Second)
				if g.row(a.ID).Status != core.Started {
					t.Fatalf("ended before %v", tc.after)
				}
				if o := g.ended(a.ID, 3*time.Second).Outcome; o.Reason != core.ReasonLiveness {
					t.Errorf("%+v", o)
				}
			})
		})
	}
}

func TestRunTimeWithoutWaits(t *testing.T) {
	bubble(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
		in.Waiting(true)
		<-time.After(time.Hour)
		in.Waiting(false)
		<-ctx.Done()
		return interrupted(ctx)
	}, func(t *testing.T, g *gateway) {
		start := time.Now()
		a := g.ended(g.say("1").ID, 2*time.Hour)
		if d := time.Since(start); d < 70*time.Minute || d > 71*time.Minute || a.Outcome.Reason != core.ReasonTime {
			t.Errorf("after %v: %+v", d, a.Outcome)
		}
	}, func(c *dispatch.Config) { c.MaxTime = 10 * time.Minute })
}

// A lost lease is a hard interrupt: nothing is settled, nothing is said, and the row is read back.
func TestLeaseLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var losses atomic.Int64
		g := newGateway(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
			if in.Claim.Admission.RetryOf != "" {
				return answers(ctx, in, emit)
			}
			<-ctx.Done()
			return completed(in, "must not be said")
		}, func(c *dispatch.Config) {
			c.Observe = func(o core.Outcome, _ time.Duration) {
				if o.Reason == core.ReasonLeaseLost {
					losses.Add(1)
				}
			}
		})
		lost := true
		g.store.renew = func() error {
			if lost {
				return core.Errorf("renew", core.Stale, "taken over")
			}
			return nil
		}
		g.start()
		a := g.say("1")
		first := g.ended(a.ID, 2*time.Minute)
		if first.Outcome.Reason != core.ReasonRetried {
			t.Errorf("%+v", first.Outcome)
		}
		if v := g.outlet.of(a.ID); !v.did("abandon") || v.did("end") || v.did("final") || v.did("settled") {
			t.Errorf("said something: %v", v.story())
		}
		g.until("its retry is done", func() bool {
			open, err := g.store.Unsettled(t.Context(), a.Conversation)
			return err == nil && len(open) == 0
		})
		g.halt()
		g.balanced()
		if n := losses.Load(); n != 1 {
			t.Errorf("the loss was observed %d times", n)
		}
	})
}
