package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// question is the one that is asked on the terminal now.
type question struct {
	ID      string   `json:"request_id"`
	Kind    string   `json:"kind"`
	Title   string   `json:"title"`
	Detail  string   `json:"detail"`
	Risk    string   `json:"risk"`
	Choices []string `json:"choices"`
}

// ask shows a question. Without a terminal nobody can answer here; another door may.
func (t *chat) ask(e Event) {
	var q question
	if json.Unmarshal(e.Payload, &q) != nil {
		return
	}
	if !t.o.Interactive {
		t.paint.note("waiting for an answer elsewhere: %s %s", q.Title, q.Detail)
		return
	}
	t.question = &q
	t.paint.note("%s", q.Title)
	if q.Detail != "" && q.Detail != q.Title {
		t.paint.note("    %s", strings.ReplaceAll(q.Detail, "\n", "\n    "))
	}
	if q.Risk != "" {
		t.paint.note("    why: %s", q.Risk)
	}
	t.paint.ask(q.hint())
}

func (q *question) hint() string {
	switch {
	case q.Kind == "approval":
		return "allow? [y] once  [s] this session  [a] always  [n] no: "
	case len(q.Choices) > 0:
		return "answer (" + strings.Join(q.Choices, " / ") + "): "
	}
	return "answer: "
}

var approvals = map[string]string{"y": "once", "yes": "once", "s": "session", "a": "always", "n": "deny", "no": "deny"}

// reply takes a line that was typed while a turn runs: the answer to its question, else a message that waits.
func (t *chat) reply(ctx context.Context, text string) {
	q := t.question
	if q == nil {
		t.queue(ctx, text)
		return
	}
	method, params := q.Kind+".respond", map[string]any{"request_id": q.ID}
	switch q.Kind {
	case "approval":
		choice, ok := approvals[strings.ToLower(strings.TrimSpace(text))]
		if !ok {
			t.paint.ask(q.hint())
			return
		}
		params["choice"] = choice
	case "sudo":
		params["password"] = text
	case "secret":
		params["value"] = text
	default:
		params["answer"] = text
	}
	t.question = nil
	if err := t.c.Call(ctx, method, params, nil); err != nil {
		t.paint.note("not answered: %v", err)
	}
}

// queue sends what was typed while a turn runs; it waits for its own turn, or is a command.
func (t *chat) queue(ctx context.Context, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	var r struct {
		Status    string `json:"status"`
		Admission string `json:"admission_id"`
		Text      string `json:"text"`
		Place     int    `json:"place"`
	}
	err := t.c.Call(ctx, "prompt.submit", map[string]any{"session_id": t.session, "text": text, "queue": true}, &r)
	switch {
	case err != nil:
		t.paint.note("not sent: %v", err)
	case r.Status == "steered":
		t.paint.note(steered)
	case r.Place > 0:
		t.paint.note("waiting: %d before it", r.Place)
	}
	t.keep(r.Status, r.Admission)
	t.paint.command(r.Text)
}

// resolved shows how a question ended, and stops asking it.
func (t *chat) resolved(e Event) {
	var r struct {
		ID      string `json:"request_id"`
		Message string `json:"message"`
	}
	if json.Unmarshal(e.Payload, &r) != nil {
		return
	}
	if t.question != nil && t.question.ID == r.ID {
		t.question = nil
		fmt.Fprintln(t.o.Err)
	}
	t.paint.note("%s", r.Message)
}
