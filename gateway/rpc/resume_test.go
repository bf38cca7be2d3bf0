package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"bellhop/core"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/rpctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type resumed struct {
	session
	History []rpc.Message `json:"history"`
	Seq     int64         `json:"seq"`
	Live    []event       `json:"live"`
	Queue   []struct {
		ID   string `json:"admission_id"`
		Text string `json:"text"`
	} `json:"queue"`
	Questions []obj `json:"questions"`
	Running   bool  `json:"running"`
	Waiting   int   `json:"waiting"`
}

type missed struct {
	Events []event `json:"events"`
	Seq    int64   `json:"seq"`
	More   bool    `json:"more"`
}

// TestResumeInTheMiddle: a client that opens a session while a turn runs sees what was said, what the turn has shown and
// what it asks, and then the rest, each once.
func TestResumeInTheMiddle(t *testing.T) {
	g := make(chan struct{})
	b := rpctest.New(t, func(ctx context.Context, turn *rpctest.Turn) {
		if turn.Prompt() == "first" {
			turn.Say("answer")
			return
		}
		turn.Say("one ")
		turn.Say(turn.Question(ctx, approval))
		<-g
	})
	s := rpc.New(b.Config())
	p := connect(t, s, rpc.Local())
	id := p.create()
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "first"})
	p.until("message.complete")
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "second"})
	q := requestID(t, last(p.until("approval.request")))
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "third", "queue": true})

	late := connect(t, s, rpc.Local())
	r := ok[resumed](late, "session.resume", obj{"session_id": id})
	var said []string
	for _, m := range r.History {
		said = append(said, string(m.Role)+": "+m.Text)
	}
	if diff := cmp.Diff([]string{"user: first", "assistant: answer", "user: second"}, said); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"message.start", "message.delta", "approval.request", "queue.update"}, types(r.Live)); diff != "" {
		t.Error(diff)
	}
	if r.Seq != last(r.Live).Seq || !r.Running || r.Waiting != 1 || len(r.Queue) != 2 || r.Queue[1].Text != "third" {
		t.Errorf("resumed %+v", r)
	}
	if e := late.event(); e.Type != "approval.request" || requestID(t, e) != q || e.Seq != 0 || r.Questions[0]["request_id"] != q {
		t.Errorf("the question that waits is %+v", e)
	}
	ok[obj](late, "approval.respond", obj{"request_id": q, "choice": "once"})
	close(g)
	rest := late.untilAll("question.resolved", "message.complete")
	if len(rest) != 3 || rest["message.delta"].Seq == 0 {
		t.Errorf("the rest is %v", rest)
	}
}

func TestSinceInPages(t *testing.T) {
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := core.ConversationID(p.create())
	ok[obj](p, "session.close", obj{"session_id": id})
	for range 2500 {
		b.Hub.Emit(id, "A", "T", core.EventBody{Type: core.MessageDelta, Text: "x"})
	}
	p.fails("session.events.since", obj{"session_id": id, "seq": -1}, rpc.BadParams)
	var got, seq int64
	for more := true; more; {
		r := ok[missed](p, "session.events.since", obj{"session_id": id, "seq": seq})
		for _, e := range r.Events {
			if got++; e.Seq != got {
				t.Fatalf("number %d where %d belongs", e.Seq, got)
			}
		}
		if seq, more = r.Seq, r.More; more {
			b.Hub.Emit(id, "A", "T", core.EventBody{Type: core.MessageDelta, Text: "meanwhile"})
		}
	}
	if got != 2502 {
		t.Errorf("%d events came, want 2502", got)
	}
	b.Hub.Emit(id, "A", "T", core.EventBody{Type: core.MessageDelta, Text: "live"})
	if e := p.event(); e.Seq != 2503 {
		t.Errorf("the live event has number %d", e.Seq)
	}
}

// TestReconnectProperty: wherever connections are cut, a client that asks for what it missed hears everything once and in
// order.
func TestReconnectProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := rpctest.New(t, echo)
		cfg := b.Config()
		cfg.Room = rapid.IntRange(1, 8).Draw(rt, "room")
		s := rpc.New(cfg)
		p := connect(t, s, rpc.Local())
		id := p.create()
		var heard []int64
		var emitted int64
		hear := func(e event) {
			if e.Seq != 0 {
				heard = append(heard, e.Seq)
			}
		}
		seen := func() int64 {
			if len(heard) == 0 {
				return 0
			}
			return heard[len(heard)-1]
		}
		catchUp := func() {
			for _, e := range p.kept { // from before the cut, or the lag
				hear(e)
			}
			p.kept = nil
			m := p.call("session.events.since", obj{"session_id": id, "seq": seen()})
			before := p.kept
			p.kept = nil
			var r missed
			if err := json.Unmarshal(m.Result, &r); err != nil || r.More {
				rt.Fatalf("%s: %v", m.Result, err)
			}
			for _, e := range before { // sent before the reply: known, or in the reply too
				if e.Seq > seen() {
					hear(e)
				}
			}
			for _, e := range r.Events {
				if e.Seq > seen() {
					hear(e)
				}
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"emit", "cut", "read"}).Draw(rt, "step") {
			case "emit":
				for range rapid.IntRange(1, 12).Draw(rt, "events") {
					emitted++
					b.Hub.Emit(core.ConversationID(id), "A", "T", core.EventBody{Type: core.MessageDelta, Text: fmt.Sprint(emitted)})
				}
			case "cut":
				p.conn.Close()
				p = connect(t, s, rpc.Local())
				catchUp()
			case "read":
				ok[obj](p, "setup.status", nil)
				catchUp()
			}
		}
		catchUp()
		for i, seq := range heard {
			if seq != int64(i+1) {
				rt.Fatalf("heard %v", heard)
			}
		}
		if int64(len(heard)) != emitted {
			rt.Fatalf("heard %d of %d", len(heard), emitted)
		}
	})
}

// TestSlowClient: a client that does not read is told so once and catches up; nobody else notices, and what waits for it is
// bounded.
func TestSlowClient(t *testing.T) {
	b := rpctest.New(t, echo)
	s := rpc.New(b.Config())
	slow, quick := connect(t, s, rpc.Local()), connect(t, s, rpc.Local())
	id := slow.create()
	ok[resumed](quick, "session.resume", obj{"session_id": id})
	const n = 5000
	go func() {
		for range n {
			b.Hub.Emit(core.ConversationID(id), "A", "T", core.EventBody{Type: core.MessageDelta, Text: strings.Repeat("x", 100)})
		}
	}()
	var seq int64
	lagged := 0
	for seq < n { // the quick one reads at once, and may still be outrun: then it asks
		e := quick.event()
		if e.Seq == 0 {
			lagged++
			seq = catchUpFrom(t, quick, id, seq)
			continue
		}
		if e.Seq != seq+1 {
			t.Fatalf("number %d after %d", e.Seq, seq)
		}
		seq = e.Seq
	}
	t.Logf("the quick client lagged %d times", lagged)

	seq = 0
	for {
		e := slow.event()
		if e.Seq == 0 {
			if !strings.Contains(string(e.Payload), fmt.Sprintf(`"since":%d`, seq)) || !strings.Contains(string(e.Payload), `"kind":"lagged"`) {
				t.Errorf("after %d it is told %s", seq, e.Payload)
			}
			break
		}
		if e.Seq != seq+1 {
			t.Fatalf("number %d after %d", e.Seq, seq)
		}
		seq = e.Seq
	}
	if seq > 1100 {
		t.Errorf("%d events waited for a client that does not read", seq)
	}
	if seq = catchUpFrom(t, slow, id, seq); seq != n {
		t.Errorf("caught up to %d", seq)
	}
	b.Hub.Emit(core.ConversationID(id), "A", "T", core.EventBody{Type: core.MessageDelta, Text: "live again"})
	if e := slow.event(); e.Seq != n+1 {
		t.Errorf("the next event has number %d", e.Seq)
	}
}

func catchUpFrom(t *testing.T, p *peer, id string, seq int64) int64 {
	t.Helper()
	for more := true; more; {
		r := ok[missed](p, "session.events.since", obj{"session_id": id, "seq": seq})
		for _, e := range r.Events {
			if e.Seq != seq+1 {
				t.Fatalf("number %d after %d", e.Seq, seq)
			}
			seq = e.Seq
		}
		more = r.More
	}
	return seq
}

func TestManyClients(t *testing.T) {
	const clients = 200
	b := rpctest.New(t, echo)
	s := rpc.New(b.Config())
	first := connect(t, s, rpc.Local())
	id := first.create()
	all := []*peer{first}
	for range clients - 1 {
		p := connect(t, s, rpc.Local())
		ok[resumed](p, "session.resume", obj{"session_id": id})
		all = append(all, p)
	}
	ok[receipt](first, "prompt.submit", obj{"session_id": id, "text": "hi"})
	for _, p := range all {
		if got := types(p.until("message.complete")); len(got) != 4 {
			t.Fatalf("a client heard %v", got)
		}
	}
	for _, p := range all {
		p.conn.Close()
	}
}
