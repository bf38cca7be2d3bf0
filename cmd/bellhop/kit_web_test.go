package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bellhop/gateway/rpc/client"
	"bellhop/gateway/rpc/jsonrpc"
)

// webClient is a client of the JSON-RPC door that outlives the gateway's processes: it finds each new one by the files of the
// data folder, as the terminal client does.
type webClient struct {
	r       *rig
	c       *client.Client
	session string

	mu     sync.Mutex
	events []client.Event
}

// web connects a client that follows one session of its own, which the first gateway makes.
func (r *rig) web(key string) *webClient {
	r.t.Helper()
	return r.webBy(r.dial, key)
}

// webBy is web with a way to the gateway of its own.
func (r *rig) webBy(dial client.Dial, key string) *webClient {
	r.t.Helper()
	w := &webClient{r: r, c: client.Open(dial, patience)}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.c.Run(ctx); err != nil {
			r.t.Errorf("the client gave up: %v", err)
		}
	})
	running.Go(func() { w.listen(ctx) })
	r.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	var s struct {
		ID string `json:"session_id"`
	}
	w.must("session.create", map[string]any{"key": key}, &s)
	w.session = s.ID
	w.c.Seen(s.ID, 0)
	return w
}

// dial reaches whatever gateway serves the data folder now.
func (r *rig) dial(ctx context.Context) (jsonrpc.Conn, error) {
	addr, err := os.ReadFile(filepath.Join(r.dir, "data", addressFile))
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(filepath.Join(r.dir, "data", tokenFile))
	if err != nil {
		return nil, err
	}
	return client.WebSocket(strings.TrimSpace(string(addr)), strings.TrimSpace(string(token)))(ctx)
}

func (w *webClient) listen(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.c.Events():
			w.mu.Lock()
			w.events = append(w.events, e)
			w.mu.Unlock()
		}
	}
}

// must calls a method that has to answer.
func (w *webClient) must(method string, params map[string]any, result any) {
	w.r.t.Helper()
	if err := w.call(method, params, result); err != nil {
		w.r.t.Fatalf("%s: %v", method, err)
	}
}

// call asks once; it waits for a connection, not for a second one.
func (w *webClient) call(method string, params map[string]any, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return w.c.Call(ctx, method, params, result)
}

// receipt is what prompt.submit answers.
type receipt struct {
	Status    string `json:"status"`
	Admission string `json:"admission_id"`
	Duplicate bool   `json:"duplicate"`
	Text      string `json:"text"`
}

// submit sends a message under a request id. ok is false when the connection broke before the receipt came.
func (w *webClient) submit(id, text string) (got receipt, ok bool) {
	w.r.t.Helper()
	err := w.call("prompt.submit", map[string]any{"session_id": w.session, "text": text, "request_id": id, "queue": true}, &got)
	if err != nil && !errors.Is(err, client.ErrCut) {
		w.r.t.Errorf("submit %s: %v", id, err)
		return got, true // it makes no sense to try again
	}
	return got, err == nil
}

// insist submits until there is a receipt, as a client does.
func (w *webClient) insist(id, text string) receipt {
	w.r.t.Helper()
	for {
		if got, ok := w.submit(id, text); ok {
			return got
		}
	}
}

// news is an event with the members of its payload that tests look at.
type news struct {
	Type, Admission string
	Seq             int64
	Text            string   `json:"text"`
	Status          string   `json:"status"`
	Kind            string   `json:"kind"`
	Request         string   `json:"request_id"`
	Choices         []string `json:"choices"`
	Message         string   `json:"message"`
	Deadline        string   `json:"deadline"`
}

func newsOf(t *testing.T, e client.Event) news {
	t.Helper()
	n := news{Type: e.Type, Admission: e.Admission, Seq: e.Seq}
	if len(e.Payload) > 0 {
		if err := json.Unmarshal(e.Payload, &n); err != nil {
			t.Errorf("%s: %v in %s", e.Type, err, e.Payload)
		}
	}
	return n
}

// heard returns the events of a type that this client got, in order.
func (w *webClient) heard(kind string) []news {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []news
	for _, e := range w.events {
		if e.Type == kind {
			out = append(out, newsOf(w.r.t, e))
		}
	}
	return out
}

// stored asks for everything that happened in the session.
func (w *webClient) stored() []news {
	w.r.t.Helper()
	var out []news
	for seq, more := int64(0), true; more; {
		var r struct {
			Events []client.Event `json:"events"`
			Seq    int64          `json:"seq"`
			More   bool           `json:"more"`
		}
		w.must("session.events.since", map[string]any{"session_id": w.session, "seq": seq}, &r)
		for _, e := range r.Events {
			out = append(out, newsOf(w.r.t, e))
		}
		seq, more = r.Seq, r.More
	}
	return out
}

// resumed is a session as a client that comes back finds it.
type resumed struct {
	History []struct {
		Role    string `json:"role"`
		Text    string `json:"text"`
		Interim bool   `json:"interim"`
	} `json:"history"`
	Questions []news `json:"questions"`
	Running   bool   `json:"running"`
	Waiting   int    `json:"waiting"`
}

func (w *webClient) resume() (out resumed) {
	w.r.t.Helper()
	w.must("session.resume", map[string]any{"session_id": w.session, "limit": 500}, &out)
	return out
}

// finals counts the finished answers of a transcript that hold text.
func (s resumed) finals(text string) int {
	n := 0
	for _, m := range s.History {
		if m.Role == "assistant" && !m.Interim && strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}
