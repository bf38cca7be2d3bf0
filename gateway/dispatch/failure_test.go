package dispatch_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/turn"
	"bellhop/gateway/dispatch"
)

func TestPanicIsAnOutcome(t *testing.T) {
	bubble(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
		if in.Claim.Admission.Submission.Text == "m1" {
			panic("a bug")
		}
		return answers(ctx, in, emit)
	}, func(t *testing.T, g *gateway) {
		a, next := g.say("1"), g.say("1")
		o := g.ended(a.ID, time.Second).Outcome
		if o.Result != core.Failed || o.Reason != core.ReasonPanic || o.Ref == "" || !strings.Contains(o.Text, o.Ref) || !strings.Contains(o.Error, "a bug") {
			t.Errorf("%+v", o)
		}
		synctest.Wait() // it is told beside the next visit
		if !g.outlet.of(a.ID).did("settled") {
			t.Error("nobody is told")
		}
		g.ended(next.ID, time.Second)
	})
}

// C160: a panic in a hook leaks nothing, wherever it is.
func TestPanicInAView(t *testing.T) {
	for _, where := range []string{"open", "on message.start", "on message.delta", "end", "final", "settled", "abandon"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, answers)
				g.outlet.panic = where
				g.start()
				a := g.say("1")
				g.ended(a.ID, time.Minute)
				synctest.Wait()
				g.outlet.panic = ""
				if v := g.outlet.of(a.ID); v != nil && where != "on message.delta" && where != "abandon" && !v.did("abandon") {
					t.Errorf("the view is never ended: %q", v.story())
				}
				if _, ok := g.sessions.Status(a.Conversation); ok {
					t.Error("the conversation is still live")
				}
				if where != "settled" && where != "abandon" && where != "on message.delta" {
					d, err := g.store.Outbox().Of(t.Context(), a.ID)
					if err != nil || len(d) != 1 || d[0].State != core.DeliveryOwed {
						t.Errorf("nobody is told: %+v %v", d, err)
					} else if ours := d[0].ID == core.DeliveryID("d-"+a.ID); ours != (where == "end" || where == "on message.start") {
						t.Errorf("the live message is not ended: %+v", d)
					}
				}
				if o := g.ended(g.say("1").ID, time.Second).Outcome; o.Result != core.Completed {
					t.Errorf("the next turn: %+v", o)
				}
				g.halt()
				g.balanced()
			})
		})
	}
}

// C177: the disk is full for a minute. The person is told once, the answer is not lost, and nobody restarts anything.
func TestFullDisk(t *testing.T) {
	for kind, words := range map[core.Kind]string{core.NoSpace: "disk full", core.Unavailable: "storage"} {
		t.Run(kind.String(), func(t *testing.T) {
			bubble(t, answers, func(t *testing.T, g *gateway) {
				start := time.Now()
				g.store.settle = func(int64, core.Settlement) error {
					if time.Since(start) < time.Minute {
						return core.Errorf("settle", kind, "no")
					}
					return nil
				}
				a := g.say("1")
				o := g.ended(a.ID, 2*time.Minute).Outcome
				if o.Result != core.Completed || o.Text != "re: m1" {
					t.Errorf("%+v", o)
				}
				row := g.row(a.ID)
				d, err := g.store.Outbox().Of(t.Context(), a.ID)
				if err != nil || len(d) != 1 || d[0].LiveUntil.Before(row.Settled.Add(29*time.Second)) {
					t.Errorf("the outbox takes it beside its view: %+v %v, settled %v", d, err, row.Settled)
				}
				if told := g.notices(); len(told) != 1 || !strings.Contains(told[0], words) {
					t.Errorf("told %q", told)
				}
				if n := g.store.n.settle.Load(); n > 30 {
					t.Errorf("tried %d times in a minute", n)
				}
			})
		})
	}
}

// The store is away for longer than the lease: the turn ends with its lease, and is done again when the store is back.
func TestStoreIsAwayForLong(t *testing.T) {
	bubble(t, answers, func(t *testing.T, g *gateway) {
		start := time.Now()
		down := func() error {
			if time.Since(start) < 10*time.Minute {
				return core.Errorf("write", core.Unavailable, "no")
			}
			return nil
		}
		g.store.settle, g.store.renew = func(int64, core.Settlement) error { return down() }, down
		a := g.say("1")
		if o := g.ended(a.ID, 20*time.Minute).Outcome; o.Reason != core.ReasonRetried {
			t.Errorf("%+v", o)
		}
		if !g.outlet.of(a.ID).did("abandon") {
			t.Error("the view was not given up")
		}
		g.until("all is settled", func() bool {
			open, err := g.store.Unsettled(t.Context(), a.Conversation)
			return err == nil && len(open) == 0
		})
	})
}

// A settlement that can never be stored ends the row all the same, and says so.
func TestSettlementThatIsRefused(t *testing.T) {
	bubble(t, answers, func(t *testing.T, g *gateway) {
		g.store.settle = func(_ int64, s core.Settlement) error {
			if len(s.Tail) > 0 {
				return core.Errorf("settle", core.Invalid, "no such row")
			}
			return nil
		}
		a := g.say("1")
		o := g.ended(a.ID, time.Second).Outcome
		if o.Result != core.Failed || o.Reason != core.ReasonPersistence || o.Text == "" {
			t.Errorf("%+v", o)
		}
		if d, err := g.store.Outbox().Of(t.Context(), a.ID); err != nil || len(d) != 1 || d[0].Text != o.Text || d[0].State != core.DeliveryLive {
			t.Errorf("%+v %v", d, err)
		}
		if n := g.store.n.settle.Load(); n != 2 {
			t.Errorf("%d settlements", n)
		}
	})
}

// die runs a row to the point where its process is killed: write stores what the turn had stored.
func (g *gateway) die(a core.Admission, write func(f core.Fence) core.Batch) {
	g.t.Helper()
	ctx := g.t.Context()
	l, err := g.store.Acquire(ctx, a.Conversation, "dead-turn", core.Holder{Host: "here/old-boot", Instance: "dead"}, 300*time.Second, nil)
	if err == nil {
		_, err = g.store.ClaimNext(ctx, l.Fence, nil)
	}
	if err == nil && write != nil {
		_, err = g.store.Append(ctx, l.Fence, write(l.Fence))
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

func call(a core.Admission, s core.CallState, e core.Effect) func(core.Fence) core.Batch {
	return func(core.Fence) core.Batch {
		return core.Batch{Sync: true,
			Messages: []core.Message{{Admission: a.ID, Role: core.RoleUser, Content: "do"},
				{Admission: a.ID, Role: core.RoleAssistant, Interim: true, Calls: []core.ToolCall{{ID: "x", Name: "shell"}}}},
			Calls: []core.Call{{ID: "x", Admission: a.ID, Name: "shell", Effect: e, State: s}}}
	}
}

// C159: at the start, rows of a process that is gone are read back at once, and what waits behind them runs.
func TestRestart(t *testing.T) {
	for _, tc := range []struct {
		name   string
		state  core.CallState
		effect core.Effect
		resume bool
	}{
		{"claimed, nothing done", "", "", false},
		{"a call was recorded", core.CallRecorded, core.Once, true},
		{"a call that may be repeated was started", core.CallStarted, core.Idempotent, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var ran []core.Admission
				g := newGateway(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
					mu.Lock()
					ran = append(ran, in.Claim.Admission)
					mu.Unlock()
					return answers(ctx, in, emit)
				})
				a, behind := g.admit("1"), g.admit("1")
				var write func(core.Fence) core.Batch
				if tc.state != "" {
					write = call(a, tc.state, tc.effect)
				}
				g.die(a, write)
				start := time.Now()
				g.start()
				g.ended(behind.ID, time.Second)
				if d := time.Since(start); d > time.Second {
					t.Errorf("waited %v for a dead holder", d)
				}
				if o := g.row(a.ID).Outcome; o.Reason != core.ReasonRetried {
					t.Errorf("%+v", o)
				}
				if len(ran) != 2 || ran[0].RetryOf != a.ID || ran[0].Resume != tc.resume || ran[1].ID != behind.ID {
					t.Errorf("ran %+v", ran)
				}
				if len(g.notices()) != 0 {
					t.Errorf("a safe retry is silent, not %q", g.notices())
				}
				g.halt()
				g.balanced()
			})
		})
	}
}

// C068: a row whose fate only a person knows holds the queue until the conversation goes on, and never for ever.
func TestUndecidedRowNeverBlocksForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, answers)
		a := g.admit("1")
		g.die(a, call(a, core.CallStarted, core.Once))
		before := g.admit("1")
		g.start()
		<-time.After(5 * time.Minute)
		if g.row(a.ID).Status != core.Unknown || g.row(before.ID).Status != core.Queued {
			t.Fatalf("%s, %s", g.row(a.ID).Status, g.row(before.ID).Status)
		}
		sent, err := g.store.Outbox().Of(t.Context(), a.ID)
		if err != nil || len(sent) != 1 || len(sent[0].Buttons) != 3 {
			t.Fatalf("told %+v %v", sent, err)
		}
		if n := g.store.n.claim.Load(); n > 15 {
			t.Errorf("asked %d times in five minutes", n)
		}
		sent[0].State, sent[0].Done = core.DeliveryDelivered, time.Now()
		if err := g.store.Outbox().Save(t.Context(), sent[0]); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		after := g.say("1")
		g.ended(after.ID, time.Second)
		if o := g.row(a.ID).Outcome; o.Reason != core.ReasonMoved || !o.Uncertain {
			t.Errorf("%+v", o)
		}
		if g.row(before.ID).Seq >= g.row(after.ID).Seq || g.row(before.ID).Settled.After(g.row(after.ID).Settled) {
			t.Error("the order is lost")
		}
		g.halt()
		g.balanced()
	})
}

func TestPersonResolves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, answers)
		a := g.admit("1")
		g.die(a, call(a, core.CallStarted, core.Once))
		g.start()
		g.until("it is unknown", func() bool { return g.row(a.ID).Status == core.Unknown })
		synctest.Wait()
		retry, err := g.reader.Resolve(t.Context(), ann, a.ID, "retry")
		if err != nil || retry == nil {
			t.Fatalf("%+v %v", retry, err)
		}
		g.Wake(a.Conversation)
		if o := g.ended(retry.ID, time.Second).Outcome; o.Result != core.Completed {
			t.Errorf("%+v", o)
		}
		g.halt()
		g.balanced()
	})
}

// A shutdown leaves what can go on to the next process and settles what cannot.
func TestShutdown(t *testing.T) {
	for _, tc := range []struct {
		name    string
		effect  core.Effect // of a call that is open; "": none
		hangs   bool
		settled bool
	}{
		{"no effect yet", "", false, false},
		{"a call that may be repeated", core.Idempotent, false, false},
		{"a call with effects", core.Once, false, true},
		{"it hangs without effect", "", true, false},
		{"it hangs in a call with effects", core.Once, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				var g *gateway
				g = newGateway(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
					a := in.Claim.Admission
					if a.Submission.Text != "m1" || a.RetryOf != "" {
						return answers(ctx, in, emit)
					}
					if tc.effect != "" {
						if _, err := g.store.Append(ctx, in.Fence, call(a, core.CallStarted, tc.effect)(in.Fence)); err != nil {
							t.Error(err)
						}
					}
					if <-ctx.Done(); tc.hangs {
						<-release
					}
					return interrupted(ctx)
				})
				g.start()
				a := g.say("1")
				g.isRunning(a)
				behind := g.say("1")
				start := time.Now()
				g.halt()
				if d := time.Since(start); d < time.Second || d > 7*time.Second {
					t.Errorf("shut down after %v", d)
				}
				close(release)
				want := core.Started
				if tc.settled {
					want = core.Terminal
				}
				row := g.row(a.ID)
				if row.Status != want || tc.settled && (row.Outcome.Reason != core.ReasonShutdown || row.Outcome.Result != core.Interrupted) {
					t.Errorf("%s %+v", row.Status, row.Outcome)
				}
				if v := g.outlet.of(a.ID); v.did("settled") != tc.settled || v.did("abandon") == tc.settled {
					t.Errorf("the view: %v", v.story())
				}
				if g.row(behind.ID).Status != core.Queued {
					t.Error("something was claimed during the shutdown")
				}
				g.process("two")
				g.start()
				g.ended(behind.ID, time.Second)
				if o := g.row(a.ID).Outcome; !tc.settled && o.Reason != core.ReasonRetried {
					t.Errorf("%+v", o)
				}
				g.halt()
				g.balanced()
			})
		})
	}
}

// A turn that ends by itself while the gateway drains is settled as it ended.
func TestDrainLetsTurnsEnd(t *testing.T) {
	bubble(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
		<-time.After(8 * time.Second)
		return answers(ctx, in, emit)
	}, func(t *testing.T, g *gateway) {
		a := g.say("1")
		g.isRunning(a)
		g.halt()
		if o := g.row(a.ID).Outcome; o.Result != core.Completed {
			t.Errorf("%+v", o)
		}
		if !g.outlet.of(a.ID).did("settled") {
			t.Error("the answer was not shown")
		}
	}, func(c *dispatch.Config) { c.Drain = 10 * time.Second })
}
