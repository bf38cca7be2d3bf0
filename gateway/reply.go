package gateway

import (
	"context"
	"time"

	"bellhop/core"
	"bellhop/gateway/command"
)

// fullEvery is how often one conversation is told that its queue is full.
const fullEvery = 10 * time.Second

// reply says something where the arrival came from.
func (g *Gateway) reply(ctx context.Context, a *Arrival, d core.Delivery) {
	d.Kind, d.Route = core.DeliverReply, a.route()
	if err := g.cfg.Mouth.Say(ctx, d); err != nil {
		g.log.Error("an answer could not be stored", "platform", a.Platform, "target", a.In.Target.Chat, "err", err)
	}
}

// fault tells a person that something failed, in words that match its log line. Bots are never told.
func (g *Gateway) fault(ctx context.Context, a *Arrival, what string, err error) {
	ref := short(a.In.ID)
	g.log.Error("an input could not be handled: "+what, "platform", a.Platform, "ref", ref, "err", err)
	if !a.In.From.Bot {
		g.reply(ctx, a, core.Delivery{Text: command.WordsFor(err, ref).String()})
	}
}

// refuse tells that an input was not stored; what is said comes from the result of the insert.
func (g *Gateway) refuse(ctx context.Context, a *Arrival, err error) {
	g.log.Info("an input was refused", "platform", a.Platform, "person", a.By.ID, "request", a.In.ID, "err", err)
	switch {
	case a.In.From.Bot, core.Is(err, core.NotFound), core.Is(err, core.Conflict) && (a.Entry.Amend || a.Entry.Delete):
		return
	case core.Is(err, core.Full) && !g.full.add(string(a.Key), fullEvery):
		return
	}
	g.reply(ctx, a, core.Delivery{Text: command.WordsFor(err, "").String()})
}

// short is the end of an id, as a reference that a person can quote.
func short(id string) string {
	r := []rune(id)
	return string(r[max(0, len(r)-6):])
}
