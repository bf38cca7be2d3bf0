package gateway

import (
	"context"
	"strings"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// refusedFor is how long a refused person's further messages are not logged again.
const refusedFor = 24 * time.Hour

// guardAllowed finds out who it is. A stranger in a chat of two gets one line, ever, with a code that the owner can let
// them in by; in groups strangers are not there. Whoever sends the claim code becomes the owner.
func (g *Gateway) guardAllowed(ctx context.Context, a *Arrival) (Verdict, error) {
	id := a.person()
	by, allowed, err := g.cfg.Access.Who(ctx, id)
	if err != nil {
		return Drop, err
	}
	by.Name, by.Lang = nameOf(a.In.From), a.In.From.Lang
	a.By = by
	if code := claimed(a.In); code != "" && g.cfg.Access.Claims(id, code) {
		a.alone = true
		return a.command(nil, g.claim), nil
	}
	if allowed {
		if by.Admin && !a.In.Group && a.In.Kind == adapters.KindMessage {
			return Pass, g.cfg.Access.Seen(ctx, by, a.route())
		}
		return Pass, nil
	}
	if g.refused.add(string(id), refusedFor) {
		g.log.Info("a person who is not allowed was refused", "platform", a.Platform, "person", id, "target", a.In.Target.Chat)
	}
	switch {
	case a.In.Kind == adapters.KindPress:
		a.Receipt.Answer = "This is not for you."
	case a.In.Kind == adapters.KindMessage && !a.In.Group && !a.In.From.Bot:
		a.after = g.greet
		return Done, nil
	}
	return Drop, nil
}

func nameOf(p adapters.Person) string {
	if p.Name != "" {
		return p.Name
	}
	return p.User
}

// claimed returns the text that may be a claim code: alone, or after /start, in a chat of two.
func claimed(in adapters.Inbound) string {
	if in.Kind != adapters.KindMessage || in.Group || in.From.Bot {
		return ""
	}
	text := strings.TrimSpace(in.Text)
	if rest, ok := strings.CutPrefix(text, "/start"); ok {
		text = strings.TrimSpace(rest)
	}
	return text
}

// claim makes the sender the owner, unless somebody was quicker.
func (g *Gateway) claim(ctx context.Context, a *Arrival, _ core.Admitted) {
	ok, err := g.cfg.Access.Claim(ctx, claimed(a.In), core.Grant{Person: a.By.ID, Name: a.By.Name, Home: a.route()})
	switch {
	case err != nil:
		g.fault(ctx, a, "claim", err)
	case ok:
		g.log.Info("the gateway has an owner", "platform", a.Platform, "person", a.By.ID)
		g.reply(ctx, a, core.Delivery{Text: "You are the owner of this gateway now. Risky things are asked here. `/help` lists what I can do."})
	default:
		g.reply(ctx, a, core.Delivery{Text: "That code has been used already."})
	}
}

// greet gives a stranger a pairing code, once.
func (g *Gateway) greet(ctx context.Context, a *Arrival, _ core.Admitted) {
	code, err := g.cfg.Access.Greet(ctx, core.Grant{Person: a.By.ID, Name: a.By.Name, Home: a.route()})
	if err != nil {
		g.log.Warn("a stranger could not be given a code", "platform", a.Platform, "person", a.By.ID, "err", err)
		return
	}
	if code == "" {
		return
	}
	g.reply(ctx, a, core.Delivery{Text: "Hello. I do not know you yet. If the owner of this bot gives you access, with the code `" +
		code + "`, we can talk."})
}
