package gateway

import (
	"context"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/crash"
)

// inbox is the way in for one adapter.
type inbox struct {
	g     *Gateway
	name  string
	opts  PlatformOptions
	heard *recent // albums and long pastes whose beginning addressed the bot, or was a command
}

// Receive takes a batch through the guards and makes it durable in one commit, together with the cursor. Then commands
// run and presses are resolved, in batch order, and conversations with new rows are woken. It never waits for a turn.
//
// A command or a press cuts the batch: it is about what came before it, so what follows is admitted after it has run. The
// cursor moves with the last piece only, so a crash in between brings the batch again, and what is stored is then a
// duplicate.
func (b *inbox) Receive(ctx context.Context, batch adapters.Batch) ([]adapters.Receipt, error) {
	start := time.Now()
	receipts := make([]adapters.Receipt, 0, len(batch.Inbound))
	b.addressed(batch.Inbound)
	rest := batch.Inbound
	for {
		piece, left, err := b.guarded(ctx, rest)
		if err != nil {
			return nil, err
		}
		var cur *core.Cursor
		if len(left) == 0 && batch.Cursor != "" {
			cur = &core.Cursor{Name: b.name, Value: batch.Cursor}
		}
		if err := b.admit(ctx, piece, cur, start); err != nil {
			return nil, err
		}
		for i := range piece {
			receipts = append(receipts, piece[i].Receipt)
		}
		if rest = left; len(rest) == 0 {
			return receipts, nil
		}
	}
}

// Cursor returns the adapter's stored place.
func (b *inbox) Cursor(ctx context.Context) (string, error) { return b.g.cfg.Store.Cursor(ctx, b.name) }

// Health tells how the connection fares. Failures are the adapter's own to log and to wait out; what counts here is the
// age of the last success.
func (b *inbox) Health(err error) {
	if err == nil {
		b.g.metrics.Received(b.name, time.Now())
	}
}

// guarded takes inputs through the guards, up to one after which the batch must be cut.
func (b *inbox) guarded(ctx context.Context, in []adapters.Inbound) (piece []Arrival, left []adapters.Inbound, err error) {
	piece = make([]Arrival, len(in))
	for i := range in {
		a := &piece[i]
		*a = Arrival{In: in[i], Platform: b.name, Opts: b.opts, heard: b.heard}
		a.Key = keyOf(b.name, in[i], b.opts.Shared)
		if err := b.g.judge(ctx, a); err != nil {
			return nil, nil, err
		}
		if a.acts {
			return piece[:i+1], in[i+1:], nil
		}
	}
	return piece, nil, nil
}

// judge takes one arrival down the list of guards.
func (g *Gateway) judge(ctx context.Context, a *Arrival) error {
	for _, s := range g.guards {
		verdict, err := s.guard(ctx, a)
		if err != nil {
			return err
		}
		switch verdict {
		case Drop:
			a.Entry = nil
			g.log.Debug("an input was dropped by the guard "+s.name, "platform", a.Platform, "request", a.In.ID)
			return nil
		case Done:
			return nil
		}
	}
	return nil
}

// admit makes a piece durable and does what follows.
func (b *inbox) admit(ctx context.Context, piece []Arrival, cur *core.Cursor, start time.Time) error {
	entries := make([]core.Entry, 0, len(piece))
	asked := time.Now()
	for i := range piece {
		piece[i].asked = asked
		if piece[i].Entry != nil {
			entries = append(entries, *piece[i].Entry)
		}
	}
	var admitted []core.Admitted
	if len(entries) > 0 || cur != nil {
		var err error
		if admitted, err = b.g.cfg.Desk.Admit(ctx, entries, cur); err != nil {
			return err
		}
		b.g.metrics.Acked(b.name, time.Since(start))
	}
	crash.Point(crash.AfterAck)
	n := 0
	for i := range piece {
		a := &piece[i]
		var adm core.Admitted
		if a.Entry != nil {
			adm = admitted[n]
			n++
		}
		b.g.settle(ctx, a, adm)
	}
	return nil
}

// settle does what follows the commit for one arrival, and fills its receipt.
func (g *Gateway) settle(ctx context.Context, a *Arrival, adm core.Admitted) {
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
	if a.after != nil && !a.Receipt.Duplicate {
		a.after(ctx, a, adm)
	}
	if a.Entry.Terminal == nil && !a.Receipt.Duplicate {
		g.cfg.Desk.Woken([]core.Admitted{adm})
	}
}
