package gateway

import (
	"context"
	"strings"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/gateway/command"
	"bellhop/stream/markup"
)

// guardPress takes buttons, and the platform's own stop control. Neither waits for a turn: what they stand for may be what
// the turn waits for.
func (g *Gateway) guardPress(_ context.Context, a *Arrival) (Verdict, error) {
	switch a.In.Kind {
	case adapters.KindPress:
		a.In.Text = a.In.Data
		a.halts = command.Halts(a.In.Data)
		return a.command(g.press, g.toast), nil
	case adapters.KindStop:
		a.In.Command, a.In.Args, a.In.Text = "stop", "", "/stop"
		a.halts = true
		return a.command(g.run, g.tell), nil
	}
	return Pass, nil
}

// press does what a button stands for.
func (g *Gateway) press(ctx context.Context, a *Arrival) *said {
	c, err := g.call(ctx, a)
	if err != nil {
		return &said{err: err}
	}
	toast, err := g.cfg.Commands.Press(ctx, c, a.In.Data)
	return &said{toast: toast, stopped: toast == command.PressStopped, err: err}
}

// toast answers a press, which is obeyed now unless it was before; the toast goes back with the acknowledgement.
func (g *Gateway) toast(ctx context.Context, a *Arrival, adm core.Admitted) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	if a.said == nil {
		a.said = g.carryOut(ctx, a)
	}
	toast := a.said.toast
	if err := a.said.err; err != nil {
		if core.Is(err, core.Internal) { // more than a toast can tell
			g.fault(ctx, a, "a button", err)
		}
		g.log.Info("a button could not be obeyed", "platform", a.Platform, "person", a.By.ID, "admission", adm.Admission.ID, "err", err)
		a.Receipt.Answer = command.WordsFor(err, "").What
		return
	}
	a.Receipt.Answer = toast
	if rest, ok := strings.CutPrefix(a.In.Data, "fate:"); ok {
		id, _, _ := strings.Cut(rest, ":")
		text := toast + " (" + markup.Escape(a.By.Name) + ")"
		if err := g.cfg.Mouth.Replace(ctx, core.AdmissionID(id), "fate:", text); err != nil {
			g.log.Warn("the buttons of a settled turn could not be removed", "admission", id, "err", err)
		}
	}
}
