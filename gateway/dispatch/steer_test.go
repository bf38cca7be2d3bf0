package dispatch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/turn"
	"bellhop/gateway/session"
)

// A row that is offered to a running turn is consumed by it or has a turn of its own, and who offered it is told of the
// latter, once, before that turn begins.
func TestSteerIsTakenOrTold(t *testing.T) {
	type step struct {
		name string
		turn func(g *gateway, ctx context.Context, in turn.Input, offered <-chan struct{}) (core.Outcome, []core.Message)
		stop bool
		late bool
	}
	take := func(g *gateway, ctx context.Context, in turn.Input) error {
		b := core.Batch{Messages: []core.Message{{Admission: in.Claim.Admission.ID, Role: core.RoleUser, Content: "beside"}}}
		for _, s := range in.Steer() {
			b.Consume = append(b.Consume, s.ID)
		}
		_, err := g.store.Append(ctx, in.Fence, b)
		return err
	}
	for _, tt := range []step{
		{"it is taken", func(g *gateway, ctx context.Context, in turn.Input, offered <-chan struct{}) (core.Outcome, []core.Message) {
			<-offered
			if err := take(g, ctx, in); err != nil {
				return core.Outcome{Result: core.Failed, Reason: core.ReasonPersistence, Error: err.Error()}, nil
			}
			return completed(in, "with it")
		}, false, false},
		{"the turn ends without it", func(_ *gateway, _ context.Context, in turn.Input, offered <-chan struct{}) (core.Outcome, []core.Message) {
			<-offered
			return completed(in, "without it")
		}, false, true},
		{"it is taken and never written", func(_ *gateway, _ context.Context, in turn.Input, offered <-chan struct{}) (core.Outcome, []core.Message) {
			<-offered
			in.Steer()
			return completed(in, "without it")
		}, false, true},
		{"the turn panics", func(_ *gateway, _ context.Context, _ turn.Input, offered <-chan struct{}) (core.Outcome, []core.Message) {
			<-offered
			panic("boom")
		}, false, true},
		{"the turn is stopped", func(_ *gateway, ctx context.Context, _ turn.Input, _ <-chan struct{}) (core.Outcome, []core.Message) {
			<-ctx.Done()
			return interrupted(ctx)
		}, true, true},
		{"the turn hangs", func(_ *gateway, ctx context.Context, _ turn.Input, _ <-chan struct{}) (core.Outcome, []core.Message) {
			<-ctx.Done()
			<-time.After(time.Hour)
			return interrupted(ctx)
		}, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				offered := make(chan struct{})
				var g *gateway
				g = newGateway(t, func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
					if in.Claim.Admission.Submission.Text != "m1" {
						return answers(ctx, in, emit)
					}
					return tt.turn(g, ctx, in, offered)
				})
				g.start()
				first := g.say("1")
				g.isRunning(first)
				second := g.say("1")
				told := make(chan core.Status, 2)
				if !g.sessions.Offer(first.Conversation, session.Steered{ID: second.ID, Text: "m2",
					Late: func(context.Context) { told <- g.row(second.ID).Status }}) {
					t.Fatal("refused while it runs")
				}
				close(offered)
				if tt.stop {
					g.sessions.Interrupt(first.Conversation, core.Interrupt{Reason: core.ReasonStopped})
				}
				o := g.ended(second.ID, 10*time.Second).Outcome
				synctest.Wait()
				want := 0
				if tt.late {
					want = 1
				}
				if len(told) != want {
					t.Errorf("told %d times, want %d", len(told), want)
				} else if want == 1 {
					if s := <-told; s != core.Queued {
						t.Errorf("told when it was %s", s)
					}
				}
				if steered := o.Reason == core.ReasonSteered; steered == tt.late || tt.late && o.Text != "re: m2" {
					t.Errorf("it ended as %+v", o)
				}
				<-time.After(2 * time.Hour) // until what hangs is back
				g.halt()
				g.balanced()
			})
		})
	}
}
