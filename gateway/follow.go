package gateway

import (
	"context"
	"runtime/debug"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/gateway/command"

	"golang.org/x/sync/errgroup"
)

// together is how many commands of one batch run at the same time.
const together = 32

// settlesIn is how long after an adapter took its place inputs of before may still come.
const settlesIn = time.Minute

// said is what a command or a press came to.
type said struct {
	answer  command.Answer
	toast   string
	stopped bool // a turn
	err     error
}

// hurry notes what of a piece acts as this process's to carry out, and carries out the stops at once, all of them before
// anything is stored. A stop must not be carried out twice, because the next turn may run by then: what it came to is kept
// in case it is not stored now and delivered again. One that another process may have carried out waits for its row, which
// knows; so does one that follows something from its chat, because it is about that, too.
func (g *Gateway) hurry(ctx context.Context, piece []Arrival) {
	for i := range piece {
		a := &piece[i]
		if !a.acts {
			continue
		}
		a.since, a.said, a.ours = g.ran.take(a.name())
		if a.halts && a.ours && a.first && a.said == nil && !g.late(a) {
			a.said = g.halt(ctx, a)
			g.ran.keep(a.name(), a.said)
		} else if a.said != nil {
			a.Entry.Submission.Stops = a.said.answer.Ended
		}
	}
}

// late reports whether an input may have been taken care of by the process that had the adapter's place before. What the
// platform gives no time is so for a while. A press names its turn, so that it may be repeated.
func (g *Gateway) late(a *Arrival) bool {
	began := *g.began.Load()
	switch {
	case a.In.Kind == adapters.KindPress:
		return false
	case a.In.Sent.IsZero():
		return time.Since(began) < settlesIn
	}
	return a.In.Sent.Before(began)
}

// halt carries out a stop before it is stored; nil: there was nothing to stop, and once it is stored it looks again.
func (g *Gateway) halt(ctx context.Context, a *Arrival) *said {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	a.early = true
	defer func() { a.early = false }()
	if came := g.carryOut(ctx, a); came.err == nil && came.stopped {
		a.Entry.Submission.Stops = came.answer.Ended
		return came
	}
	return nil
}

// carryOut does what an arrival stands for. A panic in it is an error like any other.
func (g *Gateway) carryOut(ctx context.Context, a *Arrival) (came *said) {
	defer func() {
		if p := recover(); p != nil {
			came = &said{err: g.panicked(a, p)}
		}
	}()
	return a.do(ctx, a)
}

// panicked makes an error of a panic, whose stack is in the log.
func (g *Gateway) panicked(a *Arrival, p any) error {
	g.log.Error("an input made something panic", "platform", a.Platform, "request", a.In.ID, "err", p, "stack", string(debug.Stack()))
	return core.Errorf("input", core.Internal, "panic: %v", p)
}

// lose takes back what hurry noted of a piece that was not stored.
func (g *Gateway) lose(piece []Arrival) {
	for i := range piece {
		if a := &piece[i]; a.ours {
			g.ran.lose(a.name())
		}
	}
}

// follow does what follows the commit of a piece. What acts comes last, one beside the other: each is the last of its
// chat, and their answers then share a commit.
func (g *Gateway) follow(ctx context.Context, piece []Arrival, admitted []core.Admitted) {
	n, acting := 0, make([]func(), 0, 1)
	for i := range piece {
		a := &piece[i]
		var adm core.Admitted
		if a.Entry != nil {
			adm = admitted[n]
			n++
		}
		if a.acts {
			acting = append(acting, func() { g.settle(ctx, a, adm) })
			continue
		}
		g.settle(ctx, a, adm)
	}
	if len(acting) == 1 {
		acting[0]()
		return
	}
	var group errgroup.Group
	group.SetLimit(together)
	for _, act := range acting {
		group.Go(func() error { act(); return nil })
	}
	_ = group.Wait() // none of them fails
}

// settle does what follows the commit for one arrival, and fills its receipt. A panic in it is told to who caused it; the
// others of the batch and the cursor go on.
func (g *Gateway) settle(ctx context.Context, a *Arrival, adm core.Admitted) {
	defer func() {
		if p := recover(); p != nil {
			g.fault(ctx, a, "what follows its commit", g.panicked(a, p))
		}
	}()
	if a.Entry == nil { // nothing was stored; a guard may have something to do all the same
		if a.after != nil {
			a.after(ctx, a, adm)
		}
		return
	}
	a.Receipt.ID = string(adm.Admission.ID)
	a.Receipt.Duplicate = adm.Err == nil && !adm.Fresh && !adm.Merged && !adm.Amended
	if adm.Err != nil {
		g.refuse(ctx, a, adm.Err)
		return
	}
	if a.after != nil && (!a.Receipt.Duplicate || g.undone(ctx, a, adm.Admission)) {
		a.after(ctx, a, adm)
	}
	if a.Entry.Terminal == nil && !a.Receipt.Duplicate {
		g.cfg.Desk.Woken([]core.Admitted{adm})
	}
}

// undone reports whether a command or a press is stored but was not, or not certainly, carried out by the process that
// stored it: a command that was has its answer. A press may be repeated, because it names what it is about.
func (g *Gateway) undone(ctx context.Context, a *Arrival, row core.Admission) bool {
	if !a.ours {
		return false
	}
	answers, err := g.cfg.Store.Outbox().Of(ctx, row.ID)
	if err != nil {
		g.log.Warn("a command that came twice could not be looked up; it is not carried out again", "platform", a.Platform,
			"admission", row.ID, "err", err)
		return false
	}
	a.again, a.since = len(answers) == 0, row.Created
	return a.again
}
