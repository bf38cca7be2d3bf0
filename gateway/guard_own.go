package gateway

import (
	"context"
	"time"

	"bellhop/adapters"
)

// guardOwn keeps bots from talking to each other for ever. Messages of bots, our own too, are dropped; where a platform's
// section allows some, one bot gets so many answers per minute and chat, and a person's word there starts the count anew.
func (g *Gateway) guardOwn(_ context.Context, a *Arrival) (Verdict, error) {
	if a.In.Kind == adapters.KindService || a.In.Kind == adapters.KindRaw {
		return Pass, nil
	}
	if a.Opts.Bots <= 0 || a.In.Kind != adapters.KindMessage {
		if a.In.From.Bot {
			return Drop, nil
		}
		return Pass, nil
	}
	place := a.source() + ":" + a.In.Target.Thread
	if !a.In.From.Bot {
		g.bots.refill(place)
		return Pass, nil
	}
	if !g.bots.take(place, time.Minute/time.Duration(a.Opts.Bots), a.Opts.Bots) {
		return Drop, nil
	}
	return Pass, nil
}
