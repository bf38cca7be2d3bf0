package rpc_test

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/jsonrpc"
	"bellhop/gateway/rpc/rpctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// peer is a client at the other end of a pipe.
type peer struct {
	t    *testing.T
	conn jsonrpc.Conn
	next int
	kept []event // events that came while a reply was waited for
}

type event struct {
	Type      string          `json:"type"`
	Session   string          `json:"session_id"`
	Seq       int64           `json:"seq"`
	Admission string          `json:"admission_id"`
	Turn      string          `json:"turn_id"`
	Payload   json.RawMessage `json:"payload"`
}

// connect serves a client in memory and takes its first message.
func connect(t *testing.T, s *rpc.Server, by core.Principal) *peer {
	t.Helper()
	p := dial(t, s, by)
	if e := p.event(); e.Type != "gateway.ready" {
		t.Fatalf("the first message is %s", e.Type)
	}
	return p
}

func dial(t *testing.T, s *rpc.Server, by core.Principal) *peer {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeConn(context.Background(), jsonrpc.Lines(in, out), by) }()
	p := &peer{t: t, conn: jsonrpc.Lines(fromServer, toServer)}
	t.Cleanup(func() {
		p.conn.Close()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("the server goes on although its client is gone")
		}
	})
	return p
}

// read takes the next message, soon or never.
func (p *peer) read() jsonrpc.Message {
	p.t.Helper()
	type result struct {
		data []byte
		err  error
	}
	got := make(chan result, 1)
	go func() {
		data, err := p.conn.Read(context.Background())
		got <- result{data, err}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			p.t.Fatalf("read: %v", r.err)
		}
		m, err := jsonrpc.Parse(r.data)
		if err != nil {
			p.t.Fatalf("not a message: %s", r.data)
		}
		return m
	case <-time.After(patience):
		p.t.Fatal("no message came")
	}
	panic("unreachable")
}

// event takes the next event.
func (p *peer) event() event {
	p.t.Helper()
	if len(p.kept) > 0 {
		e := p.kept[0]
		p.kept = p.kept[1:]
		return e
	}
	m := p.read()
	if m.Method != "event" {
		p.t.Fatalf("an event was expected, not %+v", m)
	}
	return toEvent(p.t, m.Params)
}

func toEvent(t *testing.T, raw json.RawMessage) event {
	t.Helper()
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// until takes events up to the first of a type, and returns all of them.
func (p *peer) until(kind string) []event {
	p.t.Helper()
	var out []event
	for {
		e := p.event()
		out = append(out, e)
		if e.Type == kind {
			return out
		}
	}
}

// untilAll takes events until there was one of each type, and returns the last of each.
func (p *peer) untilAll(kinds ...string) map[string]event {
	p.t.Helper()
	got := map[string]event{}
	for missing := true; missing; {
		e := p.event()
		got[e.Type] = e
		missing = false
		for _, k := range kinds {
			_, have := got[k]
			missing = missing || !have
		}
	}
	return got
}

// send sends a call and returns its id.
func (p *peer) send(method string, params any) string {
	p.t.Helper()
	p.next++
	id := strconv.Itoa(p.next)
	if err := p.conn.Write(context.Background(), jsonrpc.Request(jsonrpc.ID(id), method, params)); err != nil {
		p.t.Fatal(err)
	}
	return id
}

// call asks and waits for the answer; events that come before it are kept.
func (p *peer) call(method string, params any) jsonrpc.Message {
	p.t.Helper()
	id := p.send(method, params)
	for {
		m := p.read()
		switch {
		case m.Method == "event":
			p.kept = append(p.kept, toEvent(p.t, m.Params))
		case string(m.ID) == id:
			return m
		default:
			p.t.Fatalf("the answer to another call: %s", m.ID)
		}
	}
}

// ok asks for something that must work.
func ok[R any](p *peer, method string, params any) R {
	p.t.Helper()
	m := p.call(method, params)
	if m.Error != nil {
		p.t.Fatalf("%s: %d %s", method, m.Error.Code, m.Error.Message)
	}
	var r R
	if err := json.Unmarshal(m.Result, &r); err != nil {
		p.t.Fatalf("%s: %s: %v", method, m.Result, err)
	}
	return r
}

// fails asks for something that must not work.
func (p *peer) fails(method string, params any, code jsonrpc.Code) string {
	p.t.Helper()
	m := p.call(method, params)
	if m.Error == nil {
		p.t.Fatalf("%s %v worked: %s", method, params, m.Result)
	}
	if m.Error.Code != code {
		p.t.Errorf("%s %v: %d %s, want %d", method, params, m.Error.Code, m.Error.Message, code)
	}
	return m.Error.Message
}

type session struct {
	ID    string `json:"session_id"`
	Key   string `json:"key"`
	Title string `json:"title"`
}

func (p *peer) create() string {
	p.t.Helper()
	return ok[session](p, "session.create", nil).ID
}

type receipt struct {
	Status    string `json:"status"`
	Admission string `json:"admission_id"`
	Place     int    `json:"place"`
	Duplicate bool   `json:"duplicate"`
	Text      string `json:"text"`
}

// echo answers with what it was asked.
func echo(_ context.Context, t *rpctest.Turn) { t.Say("you said: "); t.Say(t.Prompt()) }

// steps is a script that goes on when it is told to.
type steps chan struct{}

func (s steps) script(ctx context.Context, t *rpctest.Turn) {
	t.Say("a")
	select {
	case <-s:
		t.Say("b")
	case <-ctx.Done():
	}
}

func types(events []event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = e.Type
	}
	return out
}

type obj = map[string]any
