package rpc

import (
	"context"
	"strings"

	"bellhop/core"
	"bellhop/gateway/command"
)

// commandResult is what a command said. Submitted tells of the turn that it started, if it did.
type commandResult struct {
	Text     string   `json:"text"`
	Rendered string   `json:"rendered"`
	Buttons  []Button `json:"buttons,omitempty"`
}

// Button is a choice beside a command's answer. Data is what command.press takes when it is pressed.
type Button struct {
	Label string `json:"label"`
	Data  string `json:"data"`
	Style string `json:"style,omitempty"` // primary, danger
	Row   int    `json:"row"`             // buttons of one row stand beside one another
}

// dispatch does what a slash command says. One that is nothing but another form of a message (/queue TEXT, /steer TEXT) is
// admitted as that message, in one row with the request id; of all others the row is their dedupe. An unknown one is
// answered by the table, as at every other door, and is no text for the model.
func (e *Env) dispatch(ctx context.Context, conv core.Conversation, sub core.Submission, name, args string) (promptResult, error) {
	call := command.Call{By: e.By, Key: sub.Key, Conversation: conv, Name: name, Args: args, Rich: true, Submission: sub}
	s, busy, ok := e.s.cfg.Command.Turn(call)
	if !ok {
		return e.runOnce(ctx, call)
	}
	s.Title = preview(s.Text)
	if busy == "steer" {
		return e.steer(ctx, conv, s)
	}
	return e.submit(ctx, s, true)
}

// runOnce runs a command under its request id: a row born terminal is its dedupe, as at every other door.
func (e *Env) runOnce(ctx context.Context, c command.Call) (promptResult, error) {
	a, err := e.admit(ctx, core.Entry{By: e.By, Submission: c.Submission, Strict: true,
		Terminal: &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}})
	if err != nil {
		return promptResult{}, err
	}
	out := promptResult{Status: "command", Admission: a.Admission.ID, Duplicate: !a.Fresh}
	if a.Fresh {
		var ran promptResult
		if ran, err = e.run(ctx, c); err != nil {
			return promptResult{}, err
		}
		out.commandResult, out.Session = ran.commandResult, ran.Session
		if ran.Admission != "" {
			out.Status, out.Admission, out.Place = ran.Status, ran.Admission, ran.Place
		}
	}
	return out, nil
}

// run runs a command, and admits the turn that it asks for.
func (e *Env) run(ctx context.Context, c command.Call) (promptResult, error) {
	answer, err := e.s.cfg.Command.Run(ctx, c)
	if err != nil {
		return promptResult{}, err
	}
	out := promptResult{Status: "command", commandResult: &commandResult{Text: answer.Text, Rendered: e.s.cfg.Render(answer.Text)}}
	for _, b := range answer.Buttons {
		out.Buttons = append(out.Buttons, Button{b.Label, b.Data, b.Style, b.Row})
	}
	if out.Session, err = e.moved(ctx, c.Conversation, c.Key, c.Name); err != nil || answer.Submit == nil {
		return out, err
	}
	s := *answer.Submit
	s.RequestID += "/turn" // the command itself has the plain one
	turn, err := e.submit(ctx, s, true)
	if err != nil {
		return promptResult{}, err
	}
	turn.commandResult, turn.Session = out.commandResult, out.Session
	return turn, nil
}

// moved returns the session where the key points now, if a command pointed it elsewhere.
func (e *Env) moved(ctx context.Context, conv core.Conversation, key core.Key, name string) (core.ConversationID, error) {
	if row, _ := e.s.cfg.Command.Find(name); !row.Rebind {
		return "", nil
	}
	now, err := e.s.cfg.Store.Lookup(ctx, key)
	if err != nil || now.ID == conv.ID {
		return "", err
	}
	e.c.follow(e, now.ID)
	return now.ID, nil
}

type dispatchParams struct {
	Session   string         `json:"session_id" need:"yes"`
	Name      string         `json:"name" need:"yes"` // with or without the slash, and with its arguments if one likes
	Args      string         `json:"args"`
	RequestID core.RequestID `json:"request_id"`
}

// commandDispatch runs a slash command.
func commandDispatch(ctx context.Context, e *Env, p dispatchParams) (promptResult, error) {
	text := "/" + strings.TrimPrefix(strings.TrimSpace(p.Name), "/")
	if p.Args != "" {
		text += " " + p.Args
	}
	name, args, ok := command.Parse(text)
	if _, known := e.s.cfg.Command.Find(name); !ok || !known {
		return promptResult{}, fault(BadParams, "there is no such command; commands.catalog lists them")
	}
	conv, err := e.conversation(ctx, p.Session, core.CanSubmit)
	if err != nil {
		return promptResult{}, err
	}
	e.c.follow(e, conv.ID)
	sub, err := e.submission(ctx, conv, text, p.RequestID)
	if err != nil {
		return promptResult{}, err
	}
	return e.dispatch(ctx, conv, sub, name, args)
}

type pressParams struct {
	Session   string         `json:"session_id" need:"yes"`
	Data      string         `json:"data" need:"yes"`
	RequestID core.RequestID `json:"request_id"`
}

type pressResult struct {
	Message   string `json:"message"` // what it did; empty for a duplicate
	Duplicate bool   `json:"duplicate,omitempty"`
}

// commandPress does what a button beside a command's answer stands for. As at every other door the press is a row, which is
// its dedupe.
func commandPress(ctx context.Context, e *Env, p pressParams) (pressResult, error) {
	conv, err := e.conversation(ctx, p.Session, core.CanSubmit)
	if err != nil {
		return pressResult{}, err
	}
	sub, err := e.submission(ctx, conv, p.Data, p.RequestID)
	if err != nil {
		return pressResult{}, err
	}
	a, err := e.admit(ctx, core.Entry{By: e.By, Submission: sub, Strict: true,
		Terminal: &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}})
	if err != nil || !a.Fresh {
		return pressResult{Duplicate: err == nil}, err
	}
	text, err := e.s.cfg.Command.Press(ctx, command.Call{By: e.By, Key: sub.Key, Conversation: conv, Rich: true, Submission: sub}, p.Data)
	return pressResult{Message: text}, err
}

// Command is the wire form of one row of the command table.
type Command struct {
	Name   string `json:"name"`
	Args   string `json:"args"`
	About  string `json:"about"`
	Admin  bool   `json:"admin"`
	Inline bool   `json:"inline"` // runs while a turn runs
}

type catalogResult struct {
	Commands []Command `json:"commands"`
}

// commandsCatalog lists the commands that the caller may use.
func commandsCatalog(_ context.Context, e *Env, _ struct{}) (catalogResult, error) {
	out := catalogResult{Commands: []Command{}}
	for _, item := range e.s.cfg.Command.Menu(e.By.Lang) {
		if item.Admin && !e.By.Admin {
			continue
		}
		row, _ := e.s.cfg.Command.Find(item.Name)
		out.Commands = append(out.Commands, Command{item.Name, row.Args, item.About, item.Admin, row.Inline})
	}
	return out, nil
}
