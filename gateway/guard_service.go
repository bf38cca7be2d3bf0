package gateway

import (
	"context"

	"bellhop/adapters"
	"bellhop/core"
)

// guardService takes what the platform itself says: none of it starts a turn. A chat that got a new id takes its
// conversations along; that is done before the commit, because it can be repeated. What could not be decoded is kept.
func (g *Gateway) guardService(ctx context.Context, a *Arrival) (Verdict, error) {
	switch a.In.Kind {
	case adapters.KindRaw:
		s := core.Submission{Source: a.Platform, RequestID: core.RequestID("raw:" + a.In.ID), Surface: a.Platform}
		a.Entry = &core.Entry{By: core.Principal{ID: core.PrincipalID(a.Platform)}, Submission: s, Raw: a.In.Raw,
			Terminal: &core.Outcome{Result: core.Rejected, Reason: core.ReasonRefused, Error: "could not be decoded"}}
		return Done, nil
	case adapters.KindService:
	default:
		return Pass, nil
	}
	if to := a.In.Migrate; to != "" {
		from := core.Key(a.source())
		err := g.cfg.Store.Rekey(ctx, from, core.Key(a.Platform+":"+to), to)
		if core.Is(err, core.Invalid) { // it will never make sense: everything behind it would wait for ever
			g.log.Warn("a move of a chat makes no sense", "platform", a.Platform, "target", a.In.Target.Chat, "err", err)
			return Drop, nil
		}
		if err != nil {
			return Drop, err
		}
		g.log.Info("a chat has the new id "+to, "platform", a.Platform, "target", a.In.Target.Chat)
	}
	if a.In.Unreachable {
		g.log.Info("a chat cannot be reached any more", "platform", a.Platform, "target", a.In.Target.Chat)
	}
	return Drop, nil
}
