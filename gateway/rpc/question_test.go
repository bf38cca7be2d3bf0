package rpc_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/rpctest"
)

// asking asks one question of each ask, and says the answers.
func asking(asks ...core.Ask) rpctest.Script {
	return func(ctx context.Context, t *rpctest.Turn) {
		for _, a := range asks {
			t.Say(t.Question(ctx, a) + ";")
		}
	}
}

var approval = core.Ask{Kind: core.Approval, Call: "c1", Tool: "shell", Title: "Run a command?", Detail: "rm -rf x", Risk: "deletes files"}

func requestID(t *testing.T, e event) string {
	t.Helper()
	var p struct {
		ID string `json:"request_id"`
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil || p.ID == "" {
		t.Fatalf("%s has no request id: %v", e.Payload, err)
	}
	return p.ID
}

func last(events []event) event { return events[len(events)-1] }

func TestApprovals(t *testing.T) {
	tests := []struct {
		name   string
		params func(id, session string) obj
		want   string
	}{
		{"approve is once", func(id, _ string) obj { return obj{"request_id": id, "choice": "approve"} }, "once;"},
		{"session", func(id, _ string) obj { return obj{"request_id": id, "choice": "session"} }, "session;"},
		{"always", func(id, _ string) obj { return obj{"request_id": id, "choice": "always"} }, "always;"},
		{"deny without an id", func(_, _ string) obj { return obj{"choice": "deny"} }, "deny;"},
		{"of a session", func(_, s string) obj { return obj{"session_id": s, "choice": "once"} }, "once;"},
		{"all", func(_, s string) obj { return obj{"choice": "once", "resolve_all": true} }, "once;"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := rpctest.New(t, asking(approval))
			p := connect(t, rpc.New(b.Config()), rpc.Local())
			session := p.create()
			p.fails("approval.respond", obj{"choice": "once"}, rpc.SessionNow)
			ok[receipt](p, "prompt.submit", obj{"session_id": session, "text": "x"})
			id := requestID(t, last(p.until("approval.request")))
			p.fails("approval.respond", obj{"request_id": id, "choice": "perhaps"}, rpc.BadParams)
			p.fails("clarify.respond", obj{"request_id": id, "answer": "yes"}, rpc.SessionNow)
			ok[obj](p, "approval.respond", tt.params(id, session))
			events := p.untilAll("question.resolved", "message.complete") // in either order
			resolved := string(events["question.resolved"].Payload)
			if !strings.Contains(resolved, `"by":"you"`) || !strings.Contains(resolved, `"at":"`) || !strings.Contains(resolved, id) {
				t.Errorf("resolved %s", resolved)
			}
			if got := string(events["message.complete"].Payload); !strings.Contains(got, tt.want) {
				t.Errorf("the turn got %s", got)
			}
			if text := p.fails("approval.respond", obj{"request_id": id, "choice": "deny"}, rpc.SessionNow); text != "no pending approval request" {
				t.Errorf("too late says %q", text)
			}
		})
	}
}

// TestHistoryTellsWhatWasAsked: with what was said come the questions of those turns, and how they ended; what is hidden
// stays so.
func TestHistoryTellsWhatWasAsked(t *testing.T) {
	b := rpctest.New(t, asking(approval, core.Ask{Kind: core.Secret, Call: "c2", Title: "The key?"}))
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	session := p.create()
	ok[receipt](p, "prompt.submit", obj{"session_id": session, "text": "x"})
	first := requestID(t, last(p.until("approval.request")))
	ok[obj](p, "approval.respond", obj{"request_id": first, "choice": "session"})
	second := requestID(t, last(p.until("secret.request")))
	type ended struct {
		ID      string `json:"request_id"`
		Call    string `json:"call_id"`
		Row     string `json:"admission_id"`
		Detail  string
		State   string
		Message string
		At      string
	}
	type page struct{ Asked []ended }
	if got := ok[page](p, "session.resume", obj{"session_id": session}); len(got.Asked) != 0 {
		t.Errorf("of the running turn: %+v", got)
	}
	ok[obj](p, "secret.respond", obj{"request_id": second, "value": "hunter2"})
	p.until("message.complete")
	for _, method := range []string{"session.resume", "session.history"} {
		got := ok[page](p, method, obj{"session_id": session}).Asked
		if len(got) != 2 || got[0].ID != first || got[1].ID != second || got[0].Row == "" || got[0].At == "" {
			t.Fatalf("%s: %+v", method, got)
		}
		if q := got[0]; q.Call != "c1" || q.Detail != "rm -rf x" || q.State != "answered" || q.Message != "Allowed for this session by you." {
			t.Errorf("%s: %+v", method, q)
		}
		if raw := string(ok[json.RawMessage](p, method, obj{"session_id": session})); strings.Contains(strings.Split(raw, `"asked"`)[1], "hunter2") {
			t.Errorf("%s tells the secret: %s", method, raw)
		}
	}
}

func TestOtherQuestions(t *testing.T) {
	b := rpctest.New(t, asking(core.Ask{Kind: core.Clarify, Title: "Which?", Choices: []string{"red", "blue"}},
		core.Ask{Kind: core.Sudo, Title: "Password?"}, core.Ask{Kind: core.Secret, Title: "Key?"}))
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	ok[receipt](p, "prompt.submit", obj{"session_id": p.create(), "text": "x"})
	e := last(p.until("clarify.request"))
	if !strings.Contains(string(e.Payload), `"question":"Which?"`) || !strings.Contains(string(e.Payload), `"choices":["red","blue"]`) {
		t.Errorf("clarify %s", e.Payload)
	}
	ok[obj](p, "clarify.respond", obj{"request_id": requestID(t, e), "answer": "blue"})
	ok[obj](p, "sudo.respond", obj{"request_id": requestID(t, last(p.until("sudo.request"))), "password": "hunter2"})
	events := p.untilAll("question.resolved", "secret.request")
	if r := events["question.resolved"]; strings.Contains(string(r.Payload), "hunter2") {
		t.Errorf("a password is told: %s", r.Payload)
	}
	e = events["secret.request"]
	p.fails("secret.respond", obj{"request_id": requestID(t, e)}, rpc.BadParams)
	ok[obj](p, "secret.respond", obj{"request_id": requestID(t, e), "value": ""})
	if got := string(last(p.until("message.complete")).Payload); !strings.Contains(got, "blue;hunter2;;") {
		t.Errorf("the turn got %s", got)
	}
}

// TestTwoAnswer: of two clients that answer at once one wins, and the other is told that nothing waits.
func TestTwoAnswer(t *testing.T) {
	for range 10 {
		b := rpctest.New(t, asking(approval))
		s := rpc.New(b.Config())
		one, two := connect(t, s, rpc.Local()), connect(t, s, rpc.Local())
		id := one.create()
		ok[receipt](one, "prompt.submit", obj{"session_id": id, "text": "x"})
		q := requestID(t, last(one.until("approval.request")))
		ok[obj](two, "session.resume", obj{"session_id": id})
		two.until("approval.request")

		one.send("approval.respond", obj{"request_id": q, "choice": "once"})
		two.send("approval.respond", obj{"request_id": q, "choice": "deny"})
		won := 0
		for _, p := range []*peer{one, two} {
			for {
				m := p.read()
				if m.Method == "event" {
					continue
				}
				if m.Error == nil {
					won++
				} else if m.Error.Code != rpc.SessionNow {
					t.Errorf("the second is told %d %s", m.Error.Code, m.Error.Message)
				}
				break
			}
		}
		if won != 1 {
			t.Errorf("%d answers counted", won)
		}
	}
}

// TestAnswerTooLate: a click after the deadline changes nothing, and says so (the row says how it ended).
func TestAnswerTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := rpctest.New(t, asking(approval))
		p := connect(t, rpc.New(b.Config()), rpc.Local())
		ok[receipt](p, "prompt.submit", obj{"session_id": p.create(), "text": "x"})
		id := requestID(t, last(p.until("approval.request")))
		time.Sleep(301 * time.Second)
		events := p.untilAll("question.resolved", "message.complete")
		if e := events["question.resolved"]; !strings.Contains(string(e.Payload), `"state":"expired"`) {
			t.Errorf("resolved %s", e.Payload)
		}
		p.fails("approval.respond", obj{"request_id": id, "choice": "once"}, rpc.SessionNow)
		if got := string(events["message.complete"].Payload); !strings.Contains(got, "deny;") {
			t.Errorf("the turn got %s", got)
		}
	})
}

// TestUrgentGetsThrough: with a turn blocked on an approval and every place in the pool taken, answering and stopping still
// work at once.
func TestUrgentGetsThrough(t *testing.T) {
	b := rpctest.New(t, asking(approval))
	cfg := b.Config()
	block := make(chan struct{})
	defer close(block)
	cfg.Store = slowStore{cfg.Store, block}
	p := connect(t, rpc.New(cfg), rpc.Local())
	id := p.create()
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "x"})
	q := requestID(t, last(p.until("approval.request")))
	for range 20 {
		p.send("session.resume", obj{"session_id": id})
	}
	ok[obj](p, "approval.respond", obj{"request_id": q, "choice": "once"})
	ok[receipt](p, "session.interrupt", obj{"session_id": id})
}

// slowStore answers reserving numbers only when it is let.
type slowStore struct {
	rpc.Store
	block chan struct{}
}

func (s slowStore) Reserve(ctx context.Context, c core.ConversationID, n int) (int64, error) {
	<-s.block
	return 0, context.Canceled
}

func TestTooManySlowCalls(t *testing.T) {
	b := rpctest.New(t, echo)
	cfg := b.Config()
	block := make(chan struct{})
	cfg.Store = slowStore{cfg.Store, block}
	p := connect(t, rpc.New(cfg), rpc.Local())
	id := p.create()
	for range 65 {
		p.send("session.resume", obj{"session_id": id})
	}
	if m := p.read(); m.Error == nil || !strings.Contains(m.Error.Message, "too many") {
		t.Errorf("the 65th call got %+v", m)
	}
	ok[obj](p, "setup.status", nil)
	close(block)
	for range 64 {
		p.read()
	}
}
