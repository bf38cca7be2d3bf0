package gateway

import "context"

// guardRate limits people whom nobody let in by name: those who may talk only because access.default is allow. It is off
// unless configured.
func (g *Gateway) guardRate(_ context.Context, a *Arrival) (Verdict, error) {
	r := g.cfg.Rate
	if r.Every == 0 || a.By.Admin || g.cfg.Access.Named(a.By.ID) {
		return Pass, nil
	}
	if g.rates.take(string(a.By.ID), r.Every, r.Burst) {
		return Pass, nil
	}
	if g.refused.add("rate "+string(a.By.ID), refusedFor) {
		g.log.Info("a person writes faster than is allowed", "platform", a.Platform, "person", a.By.ID)
	}
	return Drop, nil
}
