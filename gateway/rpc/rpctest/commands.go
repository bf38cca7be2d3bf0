package rpctest

import (
	"context"
	"slices"

	"bellhop/core"
	"bellhop/gateway/command"
)

// commands is the real table over the backend, with rows of its own before it: one with a known answer, one that asks for a
// turn of its own, one that panics.
type commands struct{ *command.Table }

func newCommands(b *Backend) commands {
	return commands{command.New(command.Deps{Desk: b.Desk, Ask: b.Ask, Sessions: b.Sessions, Store: b, Wake: b.wake})}
}

var own = []command.Command{{Name: "status", About: "what is going on", Inline: true},
	{Name: "new", About: "start again", Inline: true, Rebind: true}, {Name: "retry", Args: "[text]", About: "once more"},
	{Name: "restart", About: "restart the gateway", Admin: true}}

func (c commands) Find(name string) (command.Command, bool) {
	if i := slices.IndexFunc(own, func(c command.Command) bool { return c.Name == name }); i >= 0 {
		return own[i], true
	}
	return c.Table.Find(name)
}

func (c commands) Run(ctx context.Context, call command.Call) (command.Answer, error) {
	switch call.Name {
	case "status":
		return command.Answer{Text: "all **well**", Buttons: []core.Button{{Label: "Stop", Data: "stop:x"}}}, nil
	case "retry":
		s := call.Submission
		s.Text = call.Args
		return command.Answer{Text: "Once more.", Submit: &s}, nil
	case "restart":
		panic("a command that panics")
	}
	return c.Table.Run(ctx, call)
}

// Menu lists the own rows only.
func (commands) Menu(string) []command.MenuItem {
	out := make([]command.MenuItem, len(own))
	for i, c := range own {
		out[i] = command.MenuItem{Name: c.Name, About: c.About, Admin: c.Admin}
	}
	return out
}
