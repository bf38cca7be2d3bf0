package gateway

import (
	"context"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/gateway/command"
)

// commandTime bounds a command: it works on rows and memory, never on a turn.
const commandTime = 10 * time.Second

// guardCommand takes commands. A leading /name is one whether the platform marked it or not; one for another bot is not
// ours; in a group that wants to be addressed a bare one is not either. An unknown command is answered, not passed on.
func (g *Gateway) guardCommand(_ context.Context, a *Arrival) (Verdict, error) {
	if a.In.Other {
		return Drop, nil
	}
	if a.In.Command == "" {
		name, args, ok := command.Parse(a.In.Text)
		if !ok {
			return Pass, nil
		}
		a.In.Command, a.In.Args = name, args
	}
	if a.In.Group && a.Opts.RequireMention && !a.In.Mentioned {
		return Drop, nil
	}
	if a.In.Album != "" { // the other pictures belong to the command
		a.heard.add(a.album("command"), heardFor)
	}
	c := command.Call{By: a.By, Key: a.Key, Name: a.In.Command, Args: a.In.Args, Route: a.route(), Group: a.In.Group, Submission: a.submission()}
	if s, busy, ok := g.cfg.Commands.Turn(c); ok {
		a.In.Text, a.Busy = s.Text, busy
		return Pass, nil
	}
	if a.In.Text == "" { // the platform tells commands apart; the row says what was asked for
		a.In.Text = strings.TrimSpace("/" + a.In.Command + " " + a.In.Args)
	}
	row, _ := g.cfg.Commands.Find(a.In.Command)
	a.alone, a.halts = row.Admin, row.Halts && a.In.Args == ""
	return a.command(g.run, g.tell), nil
}

// call is what a command is told about the arrival.
func (g *Gateway) call(ctx context.Context, a *Arrival) (command.Call, error) {
	c := command.Call{By: a.By, Key: a.Key, Name: a.In.Command, Args: a.In.Args, Route: a.route(), Group: a.In.Group, Submission: a.submission(), Early: a.early, Again: a.again, Asked: a.since}
	conv, err := g.cfg.Store.Lookup(ctx, a.Key)
	if err != nil && !core.Is(err, core.NotFound) {
		return c, err
	}
	c.Conversation = conv
	return c, nil
}

// run runs a command.
func (g *Gateway) run(ctx context.Context, a *Arrival) *said {
	c, err := g.call(ctx, a)
	if err != nil {
		return &said{err: err}
	}
	answer, err := g.cfg.Commands.Run(ctx, c)
	return &said{answer: answer, stopped: answer.Stopped, err: err}
}

// tell answers a command, which is run now unless it was before.
func (g *Gateway) tell(ctx context.Context, a *Arrival, adm core.Admitted) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	if a.said == nil {
		a.said = g.carryOut(ctx, a)
	}
	answer := a.said.answer
	if err := a.said.err; err != nil {
		g.fault(ctx, a, "command "+a.In.Command, err)
		return
	}
	if answer.Submit != nil {
		g.submit(ctx, a, answer)
	}
	if answer.Text != "" {
		g.reply(ctx, a, core.Delivery{Text: answer.Text, Buttons: answer.Buttons, Conversation: adm.Admission.Conversation, Admission: adm.Admission.ID})
	}
}

// submit admits the turn that a command asks for.
func (g *Gateway) submit(ctx context.Context, a *Arrival, answer command.Answer) {
	s := *answer.Submit
	s.RequestID += "/turn" // the command itself has the plain one
	turn := &Arrival{In: a.In, Platform: a.Platform, Opts: a.Opts, By: a.By, Key: a.Key, Busy: answer.Busy,
		Entry: &core.Entry{By: a.By, Submission: s}, after: g.meet, heard: a.heard, asked: time.Now()}
	admitted, err := g.cfg.Desk.Admit(ctx, []core.Entry{*turn.Entry}, nil)
	if err != nil {
		g.fault(ctx, a, "admit", err)
		return
	}
	g.settle(ctx, turn, admitted[0])
}
