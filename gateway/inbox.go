package gateway

import (
	"context"
	"slices"
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

// Receive takes a batch through the guards and makes it durable, in one commit if it can. Then commands run and presses
// are resolved, and conversations with new rows are woken. It never waits for a turn.
//
// A command or a press is about what came before it, so what follows it in its chat is admitted once it has run: the batch
// is taken in pieces. The cursor moves with the last piece, and after what acted in it. A crash in between brings the batch
// again, and what is stored is then a duplicate.
func (b *inbox) Receive(ctx context.Context, batch adapters.Batch) ([]adapters.Receipt, error) {
	start := time.Now()
	receipts := make([]adapters.Receipt, len(batch.Inbound))
	b.addressed(batch.Inbound)
	var cur *core.Cursor
	if batch.Cursor != "" {
		cur = &core.Cursor{Name: b.name, Value: batch.Cursor, Seat: b.g.cfg.Seat(b.name)}
	}
	rest := make([]int, len(batch.Inbound))
	for i := range rest {
		rest[i] = i
	}
	for {
		piece, left, err := b.guarded(ctx, batch.Inbound, rest)
		if err != nil {
			return nil, err
		}
		with := cur
		if len(left) > 0 || acts(piece) {
			with = nil
		}
		if err := b.admit(ctx, piece, with, start); err != nil {
			return nil, err
		}
		for i := range piece {
			receipts[piece[i].place] = piece[i].Receipt
		}
		if rest = left; len(rest) > 0 {
			continue
		}
		if cur != nil && with == nil {
			_, err = b.g.cfg.Desk.Admit(ctx, nil, cur)
		}
		return receipts, err
	}
}

func acts(piece []Arrival) bool {
	return slices.ContainsFunc(piece, func(a Arrival) bool { return a.acts })
}

// Cursor returns the adapter's stored place, from which it goes on now: this process, or the node that sat there before,
// may have taken care of what follows.
func (b *inbox) Cursor(ctx context.Context) (string, error) {
	b.g.begin(time.Now())
	return b.g.cfg.Store.Cursor(ctx, b.name)
}

// Health tells how the connection fares. Failures are the adapter's own to log and to wait out; what counts here is the
// age of the last success.
func (b *inbox) Health(err error) {
	if err == nil {
		b.g.metrics.Received(b.name, time.Now())
	}
}

// guarded takes the inputs that rest names through the guards. left are those for the next piece: what comes from a chat
// in which something acts, and everything after what may change who is let in.
func (b *inbox) guarded(ctx context.Context, in []adapters.Inbound, rest []int) (piece []Arrival, left []int, err error) {
	piece = make([]Arrival, 0, len(rest))
	var chats map[string]bool // what the piece has of a chat; true: something that acts
	if len(rest) > 1 {
		chats = make(map[string]bool, len(rest))
	}
	for n, i := range rest {
		piece = append(piece, Arrival{In: in[i], Platform: b.name, Opts: b.opts, place: i, heard: b.heard})
		a := &piece[len(piece)-1]
		a.Key, a.first = keyOf(b.name, in[i], b.opts.Shared), true
		if chats != nil {
			acted, known := chats[a.source()]
			if acted {
				piece, left = piece[:len(piece)-1], append(left, i)
				continue
			}
			a.first = !known
		}
		if err := b.g.judge(ctx, a); err != nil {
			return nil, nil, err
		}
		if chats != nil && a.Entry != nil {
			chats[a.source()] = a.acts
		}
		if a.alone {
			return piece, append(left, rest[n+1:]...), nil
		}
	}
	return piece, left, nil
}

// judge takes one arrival down the list of guards. When one of them panics nothing is stored, and the person is told.
func (g *Gateway) judge(ctx context.Context, a *Arrival) error {
	defer func() {
		if p := recover(); p != nil {
			err := g.panicked(a, p)
			a.Entry, a.acts = nil, false
			a.after = func(ctx context.Context, a *Arrival, _ core.Admitted) { g.fault(ctx, a, "a guard", err) }
		}
	}()
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

// admit makes a piece durable and does what follows. Stops do not wait for the commit.
func (b *inbox) admit(ctx context.Context, piece []Arrival, cur *core.Cursor, start time.Time) error {
	b.g.hurry(ctx, piece)
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
			b.g.lose(piece)
			return err
		}
		b.g.metrics.Acked(b.name, time.Since(start))
	}
	crash.Point(crash.AfterAck)
	b.g.follow(ctx, piece, admitted)
	return nil
}
