package main

import (
	"context"

	"bellhop/core"
	"bellhop/gateway/rpc"
)

// This file holds what other packages ask the house about itself and have it say.

// tellPerson says something to a person in their own chat.
func (h *house) tellPerson(ctx context.Context, g core.Grant, text string) {
	if g.Home.IsZero() {
		return
	}
	if err := h.mouth.Say(ctx, core.Delivery{Route: g.Home, Text: text}); err != nil {
		h.log.Error("a person could not be told", "person", g.Person, "err", err)
	}
}

func (h *house) modelNames() []string {
	var names []string
	for _, m := range modelChain(h.cfg) {
		names = append(names, m.Name)
	}
	return names
}

func (h *house) setup(context.Context) rpc.Setup {
	s := rpc.Setup{Ready: true, Provider: h.cfg.Model.Provider, Model: h.cfg.Model.Name,
		Practice: h.cfg.Providers[h.cfg.Model.Provider].Kind == "practice"}
	if s.Practice {
		s.Message = "No model is configured, so the built-in practice model answers. Set OPENAI_API_KEY and BELLHOP_MODEL for a real one."
	}
	return s
}

// hint tells the model how its answer is shown.
func (h *house) hint(s core.Submission) string {
	for _, d := range h.doors {
		if d.Name() == s.Surface || d.Name() == s.Route.Platform {
			return d.hint
		}
	}
	return ""
}
