package dispatch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/turn"
	"bellhop/gateway/ask"
	"bellhop/gateway/dispatch"
)

// asker is a turn that asks a person before its only call, the way a tool round does.
func asker(g **gateway, desk **ask.Desk) runner {
	return func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
		a := in.Claim.Admission
		if !a.Resume {
			if _, err := (*g).store.Append(ctx, in.Fence, call(a, core.CallAsked, core.Once)(in.Fence)); err != nil {
				return core.Outcome{Result: core.Failed, Reason: core.ReasonPersistence, Error: err.Error()}, nil
			}
		}
		in.Waiting(true)
		q, err := (*desk).Ask(ctx, core.Question{Conversation: a.Conversation, Admission: a.ID, Turn: in.Fence.Turn, For: a.By,
			Ask: core.Ask{Kind: core.Approval, Call: "x", Title: "Run a command?"}})
		in.Waiting(false)
		if err != nil {
			return interrupted(ctx)
		}
		return completed(in, "answer: "+q.Answer)
	}
}

var admin = core.Principal{ID: ann.ID, Caps: ann.Caps | core.CanApprove, Admin: true}

func (g *gateway) question(d *ask.Desk, c core.ConversationID) core.Question {
	g.t.Helper()
	var open []core.Question
	g.until("a question is open", func() (ok bool) {
		open, _ = d.Open(g.t.Context(), c)
		return len(open) == 1
	})
	synctest.Wait()
	return open[0]
}

// askedAgain is question, once a turn waits for its answer.
func (g *gateway) askedAgain(d *ask.Desk, c core.ConversationID) core.Question {
	g.t.Helper()
	g.until("the turn goes on", func() bool {
		s, ok := g.sessions.Status(c)
		return ok && s.WaitingForPerson
	})
	return g.question(d, c)
}

// C150: the answer reaches the blocked turn at once, past the queue it blocks.
func TestApprovalReachesABlockedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *gateway
		var desk *ask.Desk
		g = newGateway(t, asker(&g, &desk))
		desk = ask.New(g.store, ask.Options{})
		g.start()
		a := g.say("1")
		q := g.question(desk, a.Conversation)
		behind := g.say("1")
		if s, ok := g.sessions.Status(a.Conversation); !ok || !s.WaitingForPerson {
			t.Errorf("%+v %v", s, ok)
		}
		if _, err := desk.Answer(t.Context(), admin, q.ID, "once"); err != nil {
			t.Fatal(err)
		}
		if o := g.ended(a.ID, time.Second).Outcome; o.Text != "answer: once" {
			t.Errorf("%+v", o)
		}
		if g.row(behind.ID).Status == core.Terminal {
			t.Error("the message behind it was answered without being asked about")
		}
		g.sessions.Interrupt(a.Conversation, core.Interrupt{Reason: core.ReasonStopped})
		g.ended(behind.ID, time.Second)
		if open, _ := desk.Open(t.Context(), a.Conversation); len(open) != 0 {
			t.Errorf("a stopped turn still asks: %+v", open)
		}
		g.halt()
	})
}

// C169: the gateway restarts while a person thinks. The turn goes on at its call, with the same question and what is left
// of its time.
func TestQuestionOutlivesItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *gateway
		var desk *ask.Desk
		g = newGateway(t, asker(&g, &desk))
		desk = ask.New(g.store, ask.Options{})
		g.start()
		a := g.say("1")
		q := g.question(desk, a.Conversation)
		<-time.After(100 * time.Second)
		g.halt()
		<-time.After(100 * time.Second)
		g.process("two")
		desk = ask.New(g.store, ask.Options{})
		g.start()
		again := g.askedAgain(desk, a.Conversation)
		if again.ID != q.ID || !again.Deadline.Equal(q.Deadline) {
			t.Errorf("%+v, then %+v", q, again)
		}
		if _, err := desk.Answer(t.Context(), admin, q.ID, "session"); err != nil {
			t.Fatal(err)
		}
		if o := g.ended(again.Admission, time.Second).Outcome; o.Text != "answer: session" {
			t.Errorf("%+v", o)
		}
		g.halt()
		g.balanced()
	})
}

// A drain has nothing to wait for in a turn that waits for a person, be it from before or after the drain began. One that
// works has its time.
func TestDrainLeavesTurnsThatAsk(t *testing.T) {
	for name, working := range map[string]time.Duration{"it asks": 0, "it works, then asks": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g *gateway
				var desk *ask.Desk
				asks := asker(&g, &desk)
				g = newGateway(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
					select {
					case <-time.After(working):
					case <-ctx.Done():
						return interrupted(ctx)
					}
					return asks(ctx, in, emit)
				}, func(c *dispatch.Config) { c.Drain = time.Minute })
				desk = ask.New(g.store, ask.Options{})
				g.start()
				a := g.say("1")
				if working == 0 {
					g.question(desk, a.Conversation)
				}
				synctest.Wait()
				begun := time.Now()
				g.halt()
				if took := time.Since(begun); took > working+time.Second {
					t.Errorf("the drain took %v", took)
				}
				if s := g.row(a.ID).Status; s != core.Started {
					t.Errorf("it was left %s", s)
				}
				g.process("two")
				desk = ask.New(g.store, ask.Options{})
				g.start()
				q := g.askedAgain(desk, a.Conversation)
				if _, err := desk.Answer(t.Context(), admin, q.ID, "once"); err != nil {
					t.Fatal(err)
				}
				if o := g.ended(q.Admission, time.Minute).Outcome; o.Text != "answer: once" {
					t.Errorf("%+v", o)
				}
				g.halt()
				g.balanced()
			})
		})
	}
}

// A turn that asks while something of it has an effect that nobody knows yet is not cut off: it would end uncertain.
func TestDrainWaitsForEffects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *gateway
		g = newGateway(t, func(ctx context.Context, in turn.Input, _ emitFunc) (core.Outcome, []core.Message) {
			a := in.Claim.Admission
			if _, err := g.store.Append(ctx, in.Fence, call(a, core.CallStarted, core.Once)(in.Fence)); err != nil {
				return core.Outcome{Result: core.Failed, Reason: core.ReasonPersistence, Error: err.Error()}, nil
			}
			in.Waiting(true)
			defer in.Waiting(false)
			select {
			case <-time.After(5 * time.Second):
				return completed(in, "done")
			case <-ctx.Done():
				return interrupted(ctx)
			}
		}, func(c *dispatch.Config) { c.Drain = time.Minute })
		g.start()
		a := g.say("1")
		synctest.Wait()
		g.halt()
		if o := g.row(a.ID).Outcome; o.Text != "done" {
			t.Errorf("%+v", o)
		}
		g.balanced()
	})
}
