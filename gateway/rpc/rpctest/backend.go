package rpctest

import (
	"context"
	"sync"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/gateway/admission"
	"bellhop/gateway/ask"
	"bellhop/gateway/rpc"
	"bellhop/gateway/session"
)

// Script is what a turn does. It must return soon after ctx ends.
type Script func(ctx context.Context, t *Turn)

// Backend is the gateway. Its methods are safe for concurrent use.
type Backend struct {
	*Store
	Hub      *Hub
	Sessions *session.Registry
	Ask      *ask.Desk
	Desk     *admission.Desk

	script Script
	ctx    context.Context
	wg     sync.WaitGroup
}

// New makes a Backend that ends with the test.
func New(tb testing.TB, script Script) *Backend {
	ctx, cancel := context.WithCancelCause(context.Background())
	b := &Backend{Store: NewStore(), Hub: NewHub(), Sessions: session.New(), script: script, ctx: ctx}
	b.Ask = ask.New(b.Store, ask.Options{Publish: func(_ context.Context, q core.Question, body core.EventBody) {
		b.Hub.Emit(q.Conversation, q.Admission, q.Turn, body)
	}})
	b.Desk = admission.New(b.Store, admission.Options{Wake: b.wake, Sessions: b.Sessions})
	tb.Cleanup(func() {
		cancel(&core.Interrupt{Reason: core.ReasonShutdown})
		b.wg.Wait()
	})
	return b
}

// Config wires a Server to the backend.
func (b *Backend) Config() rpc.Config {
	return rpc.Config{Admission: b.Desk, Command: newCommands(b), Ask: b.Ask, Sessions: b.Sessions, Hub: door{b.Hub}, Store: b,
		Version: "test", Render: func(md string) string { return "<p>" + escape(md) + "</p>\n" },
		Setup: func(context.Context) rpc.Setup {
			return rpc.Setup{Ready: true, Practice: true, Provider: "practice", Model: "practice", Message: "The built-in practice model answers."}
		}}
}

// Reserve returns a number above all that were given. The Hub goes on from there, so that a test can count.
func (b *Backend) Reserve(_ context.Context, c core.ConversationID, _ int) (int64, error) {
	return b.Hub.above(c), nil
}

func (b *Backend) wake(c core.ConversationID) {
	live, ok := b.Sessions.Begin(c)
	if !ok {
		return
	}
	b.wg.Go(func() {
		b.drain(c, live)
		live.End()
		if b.ctx.Err() == nil && b.head(c) != nil { // admitted between the last look and the end
			b.wake(c)
		}
	})
}

func (b *Backend) drain(c core.ConversationID, live *session.Live) {
	for b.ctx.Err() == nil {
		row := b.claim(c)
		if row == nil {
			return
		}
		b.turn(*row, live)
	}
}

// turn runs the script for one row, settles, and only then publishes the end.
func (b *Backend) turn(row core.Admission, live *session.Live) {
	ctx, cancel := live.Turn(b.ctx, row.ID, row.Turn)
	defer cancel(nil)
	t := &Turn{b: b, Row: row, Live: live}
	b.say(core.Message{Admission: row.ID, Turn: row.Turn, Role: core.RoleUser, Content: row.Submission.Text}, row.Conversation)
	t.Emit(core.EventBody{Type: core.MessageStart})
	b.script(ctx, t)
	offered := live.Close()

	status, result := "complete", core.Completed
	if _, stopped := core.InterruptOf(ctx); stopped {
		status, result = "interrupted", core.Interrupted
	}
	usage := core.Usage{Calls: 1, Input: 10, Output: len(t.text)}
	b.say(core.Message{Admission: row.ID, Turn: row.Turn, Role: core.RoleAssistant, Content: t.text}, row.Conversation)
	b.settle(row.ID, core.Outcome{Result: result, Text: t.text, Usage: usage})
	live.Rest()
	t.Emit(core.EventBody{Type: core.MessageComplete, Text: t.text, Status: status, Usage: &usage})
	for _, s := range offered {
		if a, err := b.Admission(b.ctx, s.ID); err == nil && a.Status == core.Queued && s.Late != nil {
			s.Late(b.ctx)
		}
	}
}

// Turn is a running turn in the hands of a script.
type Turn struct {
	b    *Backend
	Row  core.Admission
	Live *session.Live
	text string
}

// Prompt is what the person wrote.
func (t *Turn) Prompt() string { return t.Row.Submission.Text }

// Emit publishes news of the turn.
func (t *Turn) Emit(body core.EventBody) {
	t.b.Hub.Emit(t.Row.Conversation, t.Row.ID, t.Row.Turn, body)
}

// Say streams a piece of the answer.
func (t *Turn) Say(text string) {
	t.text += text
	t.Emit(core.EventBody{Type: core.MessageDelta, Text: text})
}

// Interim ends the text under way, which stands beside the tool calls that follow.
func (t *Turn) Interim() {
	t.Emit(core.EventBody{Type: core.MessageInterim, Text: t.text})
	t.text = ""
}

// Tool shows a tool call from its start to its end, with run between; run returns the summary.
func (t *Turn) Tool(id, name, about string, run func() string) {
	t.Emit(core.EventBody{Type: core.ToolStart, Call: id, Name: name, Detail: about})
	began := time.Now()
	summary := run()
	t.Emit(core.EventBody{Type: core.ToolComplete, Call: id, Name: name, Detail: summary, Seconds: time.Since(began).Seconds()})
}

// Question asks a person and returns the answer, "" when the turn ended first.
func (t *Turn) Question(ctx context.Context, a core.Ask) string {
	q, err := t.b.Ask.Ask(ctx, core.Question{Conversation: t.Row.Conversation, Admission: t.Row.ID, Turn: t.Row.Turn, Ask: a, For: t.Row.By})
	if err != nil {
		return ""
	}
	return q.Answer
}
