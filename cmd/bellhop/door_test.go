package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"bellhop/core/provider/providertest"
	"bellhop/gateway/rpc/jsonrpc"
)

const doneFile = "done.log"

// heardBy is everything that a model call holds.
func heardBy(q *providertest.Request) string {
	var b strings.Builder
	for _, m := range q.Messages {
		b.WriteString(m.Text + "\n")
	}
	return b.String()
}

// doorRule holds a turn at the gate on "hold", asks for a command on "risky", hangs on "hang", and repeats all else.
func doorRule(gate <-chan struct{}) providertest.Rule {
	call := providertest.Call("call_1", "shell", `{"command":"echo done >> `+doneFile+`"}`)
	return func(q *providertest.Request) providertest.Reply {
		last, results := q.Last(), strings.Join(q.Results(), "\n")
		switch {
		case results != "" || strings.Contains(last, "left") && strings.Contains(heardBy(q), "hold"):
			return providertest.Reply{providertest.Text("told: " + results + last)}
		case strings.HasPrefix(last, "hold"):
			return providertest.Reply{providertest.Text("begun "), providertest.Until(gate), call}
		case strings.HasPrefix(last, "risky"):
			return providertest.Reply{call}
		case strings.HasPrefix(last, "hang"):
			return providertest.Reply{providertest.Hang()}
		}
		return providertest.Reply{providertest.Text("you said: " + last)}
	}
}

// completes waits for n ends of turns and returns the last.
func (w *webClient) completes(n int) news {
	w.r.t.Helper()
	w.r.until("the end of a turn", func() bool { return len(w.heard("message.complete")) >= n })
	return w.heard("message.complete")[n-1]
}

// TestCommandsAtTheDoor: what a client writes with a slash does what it does in a chat, over the real store and hub.
func TestCommandsAtTheDoor(t *testing.T) {
	gate := make(chan struct{})
	r := newRig(t, doorRule(gate))
	r.reconfigure("access: {", "approvals: {mode: off}\naccess: {")
	g := r.start()
	w := r.web("door")
	first := w.insist("1", "hold on")
	r.until("the turn runs", func() bool { return len(w.heard("message.delta")) > 0 })
	if got := w.insist("2", "/steer go left"); got.Status != "steered" {
		t.Errorf("/steer: %+v", got)
	}
	queued := w.insist("3", "/queue second")
	if again := w.insist("3", "/queue second"); queued.Status != "streaming" || again.Admission != queued.Admission || !again.Duplicate {
		t.Errorf("/queue: %+v, again %+v", queued, again)
	}
	if got := w.insist("4", "/stopp"); got.Status != "command" || !strings.Contains(got.Text, "`/stop`") {
		t.Errorf("a misspelt command: %+v", got)
	}
	close(gate)
	if end := w.completes(1); end.Admission != first.Admission || !strings.Contains(end.Text, "go left") {
		t.Errorf("the turn that was told something ended with %+v", end)
	}
	if end := w.completes(2); end.Admission != queued.Admission || end.Text != "you said: second" {
		t.Errorf("the queued message ended with %+v", end)
	}
	hang := w.insist("5", "hang please")
	r.until("the model is asked", func() bool { return r.model.Open() > 0 })
	if got := w.insist("6", "/stop"); got.Status != "command" || !strings.HasPrefix(got.Text, "Stopped.") {
		t.Errorf("/stop: %+v", got)
	}
	if end := w.completes(3); end.Admission != hang.Admission || end.Status != "interrupted" {
		t.Errorf("what was stopped ended with %+v", end)
	}
	for _, q := range r.model.Requests() {
		if all := heardBy(q); strings.Contains(all, "/stop") || strings.Contains(all, "/queue") || strings.Contains(all, "/steer") {
			t.Errorf("the model was asked %q", all)
		}
	}
	g.stop()
}

// TestApprovalAtTheDoor: a question is found by who comes later, answered once, and refused with a reason.
func TestApprovalAtTheDoor(t *testing.T) {
	r := newRig(t, doorRule(nil))
	g := r.start()
	w := r.web("door")
	w.insist("1", "risky one")
	r.until("the question", func() bool { return len(w.heard("approval.request")) == 1 })
	late := r.web("door")
	open := late.resume().Questions
	if len(open) != 1 || open[0].Request != w.heard("approval.request")[0].Request {
		t.Fatalf("who comes later finds %+v", open)
	}
	r.until("the question is told again", func() bool { return len(late.heard("approval.request")) == 1 })
	answer := map[string]any{"request_id": open[0].Request, "choice": "once"}
	late.must("approval.respond", answer, nil)
	if err := w.call("approval.respond", answer, nil); err == nil {
		t.Error("it could be answered twice")
	}
	if end := w.completes(1); end.Status != "complete" || r.lines(doneFile) != 1 {
		t.Errorf("%+v, %d effects", end, r.lines(doneFile))
	}
	w.insist("2", "risky two")
	r.until("another question", func() bool { return len(w.heard("approval.request")) == 2 })
	if got := w.insist("3", "/deny not on a Monday"); !strings.HasPrefix(got.Text, "Denied") {
		t.Errorf("/deny: %+v", got)
	}
	if end := w.completes(2); !strings.Contains(end.Text, "They said: not on a Monday") || r.lines(doneFile) != 1 {
		t.Errorf("%+v, %d effects", end, r.lines(doneFile))
	}
	g.stop()
}

// flap is a way to the gateway that a test cuts and opens.
type flap struct {
	dial func(context.Context) (jsonrpc.Conn, error)
	open chan struct{} // one value lets one connection through
	conn chan jsonrpc.Conn
}

func (f *flap) through(ctx context.Context) (jsonrpc.Conn, error) {
	select {
	case <-f.open:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	conn, err := f.dial(ctx)
	if err == nil {
		f.conn <- conn
	}
	return conn, err
}

// TestReconnectAtTheDoor: what happened while a client was away, it hears once and in order when it is back, also across a
// restart of the gateway.
func TestReconnectAtTheDoor(t *testing.T) {
	r := newRig(t, doorRule(nil))
	g := r.start()
	f := &flap{dial: r.dial, open: make(chan struct{}, 1), conn: make(chan jsonrpc.Conn, 1)}
	f.open <- struct{}{}
	w := r.webBy(f.through, "door")
	other := r.web("door")
	other.insist("1", "one")
	w.completes(1)
	conn := <-f.conn
	conn.Close()
	other.insist("2", "two")
	other.completes(2)
	if n := len(w.heard("message.complete")); n != 1 {
		t.Fatalf("a client that is away heard of %d turns", n)
	}
	f.open <- struct{}{}
	if end := w.completes(2); end.Text != "you said: two" {
		t.Errorf("it missed %+v", end)
	}
	g.stop()
	g = r.start()
	<-f.conn
	f.open <- struct{}{}
	other.insist("3", "three")
	if end := w.completes(3); end.Text != "you said: three" {
		t.Errorf("after the restart: %+v", end)
	}
	var numbers []int64
	for _, kind := range []string{"message.start", "message.complete"} {
		for _, e := range w.heard(kind) {
			numbers = append(numbers, e.Seq)
		}
	}
	slices.Sort(numbers)
	if len(numbers) != 6 || len(slices.Compact(numbers)) != 6 {
		t.Errorf("numbers of the beginnings and ends: %v", numbers)
	}
	g.stop()
}
