package rpc

import (
	"context"
	"strings"

	"bellhop/core"
	"bellhop/gateway/command"
	"bellhop/gateway/rpc/jsonrpc"

	"github.com/oklog/ulid/v2"
)

type promptParams struct {
	Session   string         `json:"session_id" need:"yes"`
	Text      string         `json:"text" need:"yes"`
	RequestID core.RequestID `json:"request_id"`
	Queue     bool           `json:"queue"`
}

type promptResult struct {
	Status    string           `json:"status"` // streaming, steered or queued (after /steer), or command
	Admission core.AdmissionID `json:"admission_id,omitempty"`
	Place     int              `json:"place"`               // rows that run or wait before this one
	Duplicate bool             `json:"duplicate,omitempty"` // the request id was seen before; this is its receipt

	// Session is set when a command pointed the place of this session to another one: go on there.
	Session core.ConversationID `json:"session_id,omitempty"`
	*commandResult
}

// promptSubmit admits a message. A leading slash and a name make it a command, so that /approve and /stop get through
// while a turn runs, and neither they nor a misspelt one reach the model.
func promptSubmit(ctx context.Context, e *Env, p promptParams) (promptResult, error) {
	if strings.TrimSpace(p.Text) == "" {
		return promptResult{}, fault(BadParams, "text is required")
	}
	conv, err := e.conversation(ctx, p.Session, core.CanSubmit)
	if err != nil {
		return promptResult{}, err
	}
	e.c.follow(e, conv.ID)
	sub, err := e.submission(ctx, conv, p.Text, p.RequestID)
	if err != nil {
		return promptResult{}, err
	}
	if name, args, ok := command.Parse(strings.TrimSpace(p.Text)); ok {
		return e.dispatch(ctx, conv, sub, name, args)
	}
	return e.submit(ctx, sub, p.Queue)
}

// submit admits one message: with queue behind what runs, without it only when nothing does.
func (e *Env) submit(ctx context.Context, sub core.Submission, queue bool) (promptResult, error) {
	a, err := e.admit(ctx, core.Entry{By: e.By, Submission: sub, Strict: true, WhenIdle: !queue, Cap: e.s.cfg.Cap})
	if err != nil {
		return promptResult{}, err
	}
	if a.Fresh && a.Ahead > 0 {
		e.queueNews(ctx, a.Admission, a.Ahead)
	}
	return promptResult{Status: "streaming", Admission: a.Admission.ID, Place: a.Ahead, Duplicate: !a.Fresh}, nil
}

// admit admits one entry and wakes its conversation.
func (e *Env) admit(ctx context.Context, entry core.Entry) (core.Admitted, error) {
	all, err := e.s.cfg.Admission.Admit(ctx, []core.Entry{entry}, nil)
	if err != nil {
		return core.Admitted{}, err
	}
	if all[0].Err != nil {
		return core.Admitted{}, admitFault(all[0].Err)
	}
	e.s.cfg.Admission.Woken(all)
	return all[0], nil
}

func admitFault(err error) error {
	if core.Is(err, core.Conflict) {
		return &jsonrpc.Error{Code: SessionNow, Message: "this request id was used for another message", Data: kindData(core.Conflict)}
	}
	return err
}

// submission makes what admission gets, with a request id of ours when the client sent none.
func (e *Env) submission(ctx context.Context, conv core.Conversation, text string, id core.RequestID) (core.Submission, error) {
	key, err := e.keyOf(ctx, conv)
	if err != nil {
		return core.Submission{}, err
	}
	if id == "" {
		id = core.RequestID(ulid.Make().String())
	}
	return core.Submission{Key: key, Source: "rpc:" + string(e.By.ID), RequestID: id, Text: text, Surface: surface,
		Author: e.By.Name, AuthorID: e.By.ID, Lang: e.By.Lang, Rich: true, Title: preview(text)}, nil
}

// preview is the beginning of a text, for lists.
func preview(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 60 {
		line = strings.TrimSpace(string(r[:59])) + "…"
	}
	return line
}
