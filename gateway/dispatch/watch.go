package dispatch

import (
	"context"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/turn"
	"bellhop/gateway/session"
)

// ended is how a turn came back, or did not.
type ended struct {
	outcome core.Outcome
	tail    []core.Message
	ours    bool // it did not come back to say how it ended; nobody closed its tail
}

// run starts the turn and watches it. The turn has a goroutine of its own because it may have to be left behind: one that
// hangs keeps it until it comes back, cut off from everything.
func (t *play) run(ctx context.Context, cancel context.CancelCauseFunc) ended {
	g := &gate{t: t}
	defer g.close()
	done := make(chan *ended, 1)
	go t.call(ctx, g, done)
	return *t.watch(ctx, cancel, done)
}

// call runs the turn; a panic is an outcome.
func (t *play) call(ctx context.Context, g *gate, done chan<- *ended) {
	end := new(ended)
	defer func() {
		if p := recover(); p != nil {
			*end = ended{ours: true, outcome: t.d.panicked(t.row(), p)}
		}
		done <- end
	}()
	in := turn.Input{Claim: t.claim, Fence: t.fence, Steer: g.steer, Active: g.active, Waiting: g.waiting}
	end.outcome, end.tail = t.d.cfg.Runner.Run(ctx, in, g.emit)
}

// watch waits for the turn, and interrupts one that shows no activity or has no time left.
func (t *play) watch(ctx context.Context, cancel context.CancelCauseFunc, done <-chan *ended) *ended {
	idle := time.NewTimer(t.d.cfg.Liveness)
	defer idle.Stop()
	limit := time.NewTimer(t.d.cfg.MaxTime)
	defer limit.Stop()
	if t.d.cfg.MaxTime <= 0 {
		limit.Stop()
	}
	for {
		select {
		case end := <-done:
			return end
		case <-ctx.Done():
			return t.await(ctx, done)
		case <-idle.C:
			if left := t.d.cfg.Liveness - t.live.Idle(); left > 0 {
				idle.Reset(left)
				continue
			}
			t.d.cfg.Log.Warn("a turn shows no activity", "session", t.claim.Admission.Conversation, "turn", t.fence.Turn)
			cancel(&core.Interrupt{Reason: core.ReasonLiveness})
		case <-limit.C:
			if left := t.d.cfg.MaxTime + t.live.Waited() - time.Since(t.began); left > 0 {
				limit.Reset(left)
				continue
			}
			cancel(&core.Interrupt{Reason: core.ReasonTime})
		}
	}
}

// await gives an interrupted turn a moment to close its affairs, then leaves it behind.
func (t *play) await(ctx context.Context, done <-chan *ended) *ended {
	why := core.ReasonLeaseLost
	if i, ok := core.InterruptOf(ctx); ok {
		why = i.Reason
	}
	grace := t.d.cfg.SlowGrace
	switch why {
	case core.ReasonStopped, core.ReasonReplaced, core.ReasonLeaseLost:
		grace = t.d.cfg.Grace
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case end := <-done:
		return end
	case <-timer.C:
	}
	t.abandon(done, why)
	return &ended{ours: true, outcome: core.Outcome{Result: core.Interrupted, Reason: why, Text: reasonWords(why, t.d.cfg)}}
}

// abandon leaves the turn behind and counts it until it comes back.
func (t *play) abandon(done <-chan *ended, why core.Reason) {
	a := t.row()
	t.d.cfg.Log.Error("a turn does not end and is left behind", "session", a.Conversation, "admission", a.ID, "turn", t.fence.Turn, "reason", why)
	t.d.hung.Add(1)
	go func() {
		<-done
		t.d.hung.Add(-1)
	}()
}

// gate stands between a turn and the rest, and is closed when the turn is over for everybody else.
type gate struct {
	t    *play
	mu   sync.Mutex
	shut bool
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

func (g *gate) emit(b core.EventBody) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return
	}
	g.t.live.Active("")
	a := &g.t.claim.Admission
	g.t.d.cfg.Hub.Emit(g.t.ctx, a.Conversation, a.ID, g.t.fence.Turn, b)
}

func (g *gate) active(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		g.t.live.Active(what)
	}
}

func (g *gate) waiting(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		g.t.live.Waiting(on)
	}
}

func (g *gate) steer() []turn.Steered {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return nil
	}
	return steered(g.t.live.TakeSteered())
}

func steered(offers []session.Steered) []turn.Steered {
	out := make([]turn.Steered, len(offers))
	for n, s := range offers {
		out[n] = turn.Steered{ID: s.ID, Text: s.Text}
	}
	return out
}
