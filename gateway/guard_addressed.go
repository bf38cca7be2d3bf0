package gateway

import (
	"context"
	"time"

	"bellhop/adapters"
)

// heardFor is how long the rest of an album or of a long paste is taken for addressed when its beginning was.
const heardFor = 10 * time.Second

// guardAddressed keeps out of groups' talk: where a section wants the bot to be addressed, what does not address it is not
// ours. Albums and long pastes carry the mention in one of their pieces only.
func (g *Gateway) guardAddressed(_ context.Context, a *Arrival) (Verdict, error) {
	if a.In.Album != "" && a.heard.has(a.album("command")) && a.In.Command == "" {
		return Drop, nil
	}
	if !a.In.Group || !a.Opts.RequireMention || a.In.Mentioned {
		if a.In.Group && a.In.Near {
			a.heard.add(a.paste(), heardFor)
		}
		return Pass, nil
	}
	switch {
	case a.In.Album != "" && a.heard.has(a.album("addressed")):
		return Pass, nil
	case len(a.In.Files) == 0 && a.heard.has(a.paste()):
		if !a.In.Near { // this is the end of it
			a.heard.forget(a.paste())
		}
		return Pass, nil
	}
	return Drop, nil
}

// album and paste name what is remembered of an arrival's beginning.
func (a *Arrival) album(what string) string { return what + " album " + a.source() + " " + a.In.Album }
func (a *Arrival) paste() string {
	return "paste " + a.source() + " " + a.In.Target.Thread + " " + a.In.From.ID
}

// addressed remembers the albums of a batch that address the bot, because the piece that does need not be the first.
func (b *inbox) addressed(in []adapters.Inbound) {
	for i := range in {
		if in[i].Album != "" && in[i].Group && in[i].Mentioned {
			a := Arrival{In: in[i], Platform: b.name}
			b.heard.add(a.album("addressed"), heardFor)
		}
	}
}
