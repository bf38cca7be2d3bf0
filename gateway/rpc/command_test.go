package rpc_test

import (
	"context"
	"strings"
	"testing"

	"bellhop/core"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/rpctest"
)

// TestMessagesInCommandForm: /queue TEXT and /steer TEXT are messages, in one row with the request id, whichever method
// brings them.
func TestMessagesInCommandForm(t *testing.T) {
	began, goOn, took := make(chan struct{}), make(chan struct{}), make(chan string, 4)
	b := rpctest.New(t, steerable(began, goOn, took))
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "one"})
	<-began

	steer := obj{"session_id": id, "text": "/steer left", "request_id": "s1"}
	first := ok[receipt](p, "prompt.submit", steer)
	if first.Status != "steered" || first.Admission == "" {
		t.Errorf("/steer: %+v", first)
	}
	if again := ok[receipt](p, "prompt.submit", steer); again.Admission != first.Admission || !again.Duplicate {
		t.Errorf("/steer again: %+v", again)
	}
	queue := obj{"session_id": id, "text": "/queue two", "request_id": "q1"}
	second := ok[receipt](p, "prompt.submit", queue)
	if second.Status != "streaming" || second.Place != 2 {
		t.Errorf("/queue: %+v", second)
	}
	if again := ok[receipt](p, "prompt.submit", queue); again.Admission != second.Admission || !again.Duplicate {
		t.Errorf("/queue again: %+v", again)
	}
	third := ok[receipt](p, "command.dispatch", obj{"session_id": id, "name": "queue", "args": "three", "request_id": "q2"})
	if third.Status != "streaming" || third.Place != 3 {
		t.Errorf("dispatched: %+v", third)
	}
	if n := b.Rows(core.ConversationID(id)); n != 4 {
		t.Errorf("%d rows, want one for each message", n)
	}
	reader := connect(t, rpc.New(b.Config()), core.Principal{ID: "local", Caps: core.CanRead | core.CanSubmit})
	reader.fails("prompt.submit", obj{"session_id": id, "text": "/steer right"}, rpc.NotAllowed)

	close(goOn)
	for _, want := range []string{"left", "two", "three"} { // the script takes the offer and leaves its row
		said := ""
		for !strings.Contains(said, "you said") {
			said = string(last(p.until("message.complete")).Payload)
		}
		if !strings.Contains(said, "you said: "+want) {
			t.Errorf("%s, want %s", said, want)
		}
	}
	if got := <-took; got != "left" || len(took) > 0 {
		t.Errorf("the turn was told %q and %d more", got, len(took))
	}
}

// TestUnknownCommand: what looks like a command and is none is answered, and no text for the model.
// TestPress: a button does what it stands for once; a press that is sent again is known.
func TestPress(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	b := rpctest.New(t, func(_ context.Context, turn *rpctest.Turn) {
		if turn.Prompt() == "one" {
			close(began)
			<-goOn
		}
	})
	defer close(goOn)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "one"})
	<-began
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "two", "queue": true})
	type pressed struct {
		Message   string
		Duplicate bool
	}
	type shown struct {
		Buttons []rpc.Button
	}
	list := ok[shown](p, "prompt.submit", obj{"session_id": id, "text": "/queue"}).Buttons
	if len(list) != 2 || list[1].Label != "1 remove" || list[1].Row != 0 {
		t.Fatalf("buttons %+v", list)
	}
	press := obj{"session_id": id, "data": list[1].Data, "request_id": "p1"}
	if got := ok[pressed](p, "command.press", press); got.Message != "Removed." {
		t.Errorf("pressed: %+v", got)
	}
	if got := ok[pressed](p, "command.press", press); !got.Duplicate {
		t.Errorf("the same press: %+v", got)
	}
	if got := ok[pressed](p, "command.press", obj{"session_id": id, "data": list[1].Data}); got.Message != "It is not waiting any more." {
		t.Errorf("another press: %+v", got)
	}
	p.fails("command.press", obj{"session_id": id, "data": "nonsense"}, rpc.BadParams)
	p.fails("command.press", obj{"session_id": id}, rpc.BadParams)
}

func TestUnknownCommand(t *testing.T) {
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	for text, hint := range map[string]string{"/stopp": "`/stop`", " /xyzzy now\n": "`/help`", "/undo 2": "not in this version"} {
		r := ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": text})
		if r.Status != "command" || !strings.Contains(r.Text, hint) {
			t.Errorf("%q: %+v", text, r)
		}
	}
	for _, text := range []string{"/etc/hosts is a file", "/", "/1 of them", "half /stop"} {
		if r := ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": text}); r.Status != "streaming" {
			t.Errorf("%q: %+v", text, r)
		}
		p.until("message.complete")
	}
}

// hasty is a desk after whose SendNow the turn before has ended already and the message runs.
type hasty struct {
	rpc.Admission
	after func()
}

func (h hasty) SendNow(ctx context.Context, by core.Principal, id core.AdmissionID) error {
	err := h.Admission.SendNow(ctx, by, id)
	h.after()
	return err
}

// TestNowSparesItsOwn: a message that is sent now is not interrupted by being sent.
func TestNowSparesItsOwn(t *testing.T) {
	first, began := make(chan struct{}), make(chan struct{})
	goOn := make(chan struct{})
	b := rpctest.New(t, func(ctx context.Context, turn *rpctest.Turn) {
		if turn.Prompt() == "one" {
			<-first
			return
		}
		close(began)
		select {
		case <-goOn:
		case <-ctx.Done():
		}
	})
	cfg := b.Config()
	cfg.Admission = hasty{cfg.Admission, func() { close(first); <-began }}
	p := connect(t, rpc.New(cfg), rpc.Local())
	id := p.create()
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "one"})
	p.until("message.start")
	second := ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "two", "queue": true})
	ok[obj](p, "queue.now", obj{"admission_id": second.Admission})
	close(goOn)
	for e := (event{}); e.Admission != second.Admission; {
		if e = last(p.until("message.complete")); !strings.Contains(string(e.Payload), `"status":"complete"`) {
			t.Errorf("%s ended with %s", e.Admission, e.Payload)
		}
	}
}
