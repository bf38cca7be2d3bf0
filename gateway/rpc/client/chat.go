package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"bellhop/gateway/rpc/jsonrpc"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"
)

// ChatOptions are what `bellhop chat` was told.
type ChatOptions struct {
	Session     string // key, id or title; "" starts a new one
	Text        string // one message; "" reads In
	JSON        bool   // events as JSON lines on Out
	In          io.Reader
	Out, Err    io.Writer
	Interactive bool            // In is a terminal: a conversation, and approvals are asked there
	Interrupt   <-chan struct{} // one value per Ctrl-C
	Settle      time.Duration   // how long an interrupted turn may take to end, default 10 s
	Again       time.Duration   // how long to try when the connection broke, default that of the client
	Where       func() string   // the gateway's address, as people read it; may be nil
}

var (
	// ErrInterrupted: the turn was interrupted, and has settled.
	ErrInterrupted = errors.New("interrupted")
	// ErrUnsettled: the turn was interrupted and has not settled in time; it goes on or ends by itself.
	ErrUnsettled = errors.New("the turn was told to stop and has not ended yet")
	// ErrFailed: the turn ended with an error, which was shown.
	ErrFailed = errors.New("the turn failed")
	// errDone ends the conversation in an orderly way.
	errDone = errors.New("done")
)

// Chat runs one conversation in a terminal until its end: after the answer to Text, or to all of In, or, when it is
// interactive, when In ends. It runs c; nobody else may. A goroutine that reads In ends when In does.
func Chat(ctx context.Context, c *Client, o ChatOptions) error {
	if o.Settle == 0 {
		o.Settle = 10 * time.Second
	}
	if o.Again != 0 {
		c.again = o.Again
	}
	o.Err = &shared{w: o.Err}
	c.reach = &reach{out: o.Err, where: o.Where}
	t := &chat{c: c, o: o, lines: make(chan string), later: map[string]bool{}, paint: painter{out: o.Out, err: o.Err, json: o.JSON}}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := c.Run(ctx); err != nil {
			return err
		}
		return context.Cause(ctx)
	})
	g.Go(func() error {
		if err := t.run(ctx); err != nil {
			return err
		}
		return errDone
	})
	err := g.Wait()
	if errors.Is(err, errDone) {
		return nil
	}
	var away *unreachable
	if errors.As(err, &away) {
		c.reach.gaveUp(away.last)
	}
	return err
}

// chat is the state of one Chat; its loop goroutine alone uses it.
type chat struct {
	c       *Client
	o       ChatOptions
	session string
	lines   chan string // of In; closed at its end
	paint   painter

	own      string          // the admission that is waited for
	later    map[string]bool // admissions that were typed beside it, and wait for turns of their own
	started  bool            // its turn has begun
	question *question
	ended    error // of In
}

func (t *chat) run(ctx context.Context) error {
	if err := t.unlessPressed(ctx, t.open); err != nil {
		return err
	}
	if t.o.Text != "" || !t.o.Interactive {
		text, err := t.wholeText()
		if err != nil {
			return err
		}
		return t.one(ctx, text)
	}
	// A read of a terminal cannot be called off: this goroutine outlives the loop by at most one line.
	go t.read(ctx)
	return t.talk(ctx)
}

func (t *chat) wholeText() (string, error) {
	if t.o.Text != "" {
		return t.o.Text, nil
	}
	all, err := io.ReadAll(io.LimitReader(t.o.In, jsonrpc.MaxMessage/2))
	if err == nil && strings.TrimSpace(string(all)) == "" {
		err = errors.New("there is nothing to send")
	}
	return string(all), err
}

// open finds the session, or starts it, and shows what is under way there.
func (t *chat) open(ctx context.Context) error {
	var s struct {
		ID  string `json:"session_id"`
		Seq int64  `json:"seq"`
	}
	err := error(&jsonrpc.Error{Code: noSession})
	if t.o.Session != "" {
		err = t.c.Call(ctx, "session.resume", map[string]any{"session_id": t.o.Session, "limit": 1}, &s)
	}
	if codeOf(err) == noSession {
		err = t.c.Call(ctx, "session.create", map[string]any{"key": t.o.Session}, &s)
	}
	if err != nil {
		return err
	}
	t.session = s.ID
	t.c.Seen(s.ID, s.Seq)
	if t.o.Interactive && !t.o.JSON {
		fmt.Fprintf(t.o.Err, "session %s; Ctrl-C stops an answer, Ctrl-D ends\n", s.ID)
	}
	return nil
}

const noSession jsonrpc.Code = 4001

// one sends one message and waits for its answer.
func (t *chat) one(ctx context.Context, text string) error {
	defer func() {
		if ctx.Err() == nil { // else it is still to be told what became of it
			t.c.reach.sent.Store(unsent)
		}
	}()
	err := t.unlessPressed(ctx, func(ctx context.Context) error { return t.submit(ctx, text) })
	pressed := errors.Is(err, ErrInterrupted) && t.own != "" // the receipt came all the same: what it is for has to end
	if err != nil && !pressed || t.own == "" {
		return err
	}
	return t.wait(ctx, pressed)
}

// submit sends a message under one request id, again when the connection broke: the gateway knows it then.
func (t *chat) submit(ctx context.Context, text string) error {
	params := map[string]any{"session_id": t.session, "text": text, "queue": true, "request_id": ulid.Make().String()}
	var r struct {
		Status    string `json:"status"`
		Admission string `json:"admission_id"`
		Place     int    `json:"place"`
		Text      string `json:"text"`
		Session   string `json:"session_id"`
	}
	t.own = ""
	err := ErrCut
	for errors.Is(err, ErrCut) {
		if err = t.c.connected(ctx); err == nil {
			t.c.reach.sent.Store(underway)
			err = t.c.Call(ctx, "prompt.submit", params, &r)
		}
	}
	if err != nil {
		return err
	}
	t.c.reach.sent.Store(kept)
	t.own, t.started = r.Admission, false
	if r.Status == "command" || r.Status == "steered" { // the latter is part of a turn that runs
		t.own = ""
	}
	t.keep(r.Status, r.Admission)
	if r.Session != "" {
		t.session = r.Session
		t.c.Seen(r.Session, 0)
	}
	t.paint.begin()
	t.paint.command(r.Text)
	switch {
	case r.Status == "steered":
		t.paint.note(steered)
	case r.Place > 0:
		t.paint.note("waiting: %d before this one", r.Place)
	}
	return nil
}

const steered = "the running turn is told; if it ends before it hears that, your message is answered by itself"

// wait shows the turn until it has ended. pressed: the person wants it to end already.
func (t *chat) wait(ctx context.Context, pressed bool) error {
	var stopping bool
	var late <-chan time.Time
	interrupt := t.o.Interrupt
	if pressed {
		again := make(chan struct{}, 1)
		again <- struct{}{}
		interrupt = again
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-t.c.Events():
			if err, over := t.on(ctx, e); over {
				return err
			}
		case text, ok := <-t.lines:
			if !ok {
				t.lines = nil
				t.ended = io.EOF
				continue
			}
			t.reply(ctx, text)
		case <-interrupt:
			interrupt = t.o.Interrupt
			if stopping {
				return ErrUnsettled
			}
			stopping = true
			timer := time.NewTimer(t.o.Settle)
			defer timer.Stop()
			late = timer.C
			if gone, err := t.stopWithin(ctx); err != nil || gone {
				return err
			}
		case <-late:
			return ErrUnsettled
		}
	}
}

// stopWithin is stop, for as long as an interrupted turn may take, or until the person presses once more.
func (t *chat) stopWithin(ctx context.Context) (gone bool, err error) {
	limited, cancel := context.WithTimeout(ctx, t.o.Settle)
	defer cancel()
	err = t.unlessPressed(limited, func(ctx context.Context) error {
		var err error
		gone, err = t.stop(ctx)
		return err
	})
	if ctx.Err() == nil && (limited.Err() != nil || errors.Is(err, ErrInterrupted) && !gone) {
		return false, ErrUnsettled
	}
	return gone, err
}

// stop ends the own turn, or takes the own message out of the queue; then there is nothing to wait for.
func (t *chat) stop(ctx context.Context) (gone bool, err error) {
	if !t.started {
		err := t.c.Call(ctx, "queue.remove", map[string]any{"admission_id": t.own}, nil)
		if err == nil {
			return true, ErrInterrupted
		}
		if codeOf(err) == 0 {
			return false, err
		}
	}
	err = t.c.Call(ctx, "session.interrupt", map[string]any{"session_id": t.session, "admission_id": t.own}, nil)
	if errors.Is(err, ErrCut) {
		return false, nil // the time to settle runs; a second Ctrl-C ends it
	}
	return false, err
}

// retryOf is the admission that a turn goes on for, "" for most.
func retryOf(e Event) string {
	var p struct {
		Of string `json:"retry_of"`
	}
	if json.Unmarshal(e.Payload, &p) != nil {
		return ""
	}
	return p.Of
}

// on handles one event. over: the own turn has ended. A turn that goes on for the own message becomes the own.
func (t *chat) on(ctx context.Context, e Event) (err error, over bool) {
	switch {
	case e.Type == "message.start" && t.own != "" && retryOf(e) == t.own: // a crash lies between
		t.own = e.Admission
		t.paint.again()
	case e.Type == Online || e.Type == Offline || e.Admission != t.own:
		t.paint.beside(e)
		return nil, false
	}
	t.started = t.started || e.Type == "message.start" // its place in the queue is news of it, too
	t.paint.on(e)
	switch {
	case e.Type == "message.complete":
		return t.paint.end(e), true
	case strings.HasSuffix(e.Type, ".request"):
		t.ask(e)
	case e.Type == "question.resolved":
		t.resolved(e)
	}
	return nil, false
}
