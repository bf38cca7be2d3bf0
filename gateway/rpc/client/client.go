package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"bellhop/gateway/rpc/jsonrpc"

	"github.com/cenkalti/backoff/v5"
)

// Dial makes a new connection; it is called again when one broke.
type Dial func(ctx context.Context) (jsonrpc.Conn, error)

// ErrCut ends a call whose connection broke before the answer came.
var ErrCut = errors.New("the connection broke before the answer came")

// Event is one piece of news, as it came.
type Event struct {
	Type      string          `json:"type"`
	Session   string          `json:"session_id"`
	Seq       int64           `json:"seq"`
	Admission string          `json:"admission_id"`
	Turn      string          `json:"turn_id"`
	Payload   json.RawMessage `json:"payload"`

	// Raw is the whole of it.
	Raw json.RawMessage `json:"-"`
}

// Types of news of the client's own making, without a session.
const (
	Online  = "client.online"
	Offline = "client.offline"
)

// Client talks to one gateway. Safe for concurrent use; Run must run for anything to happen.
type Client struct {
	dial     Dial
	patience time.Duration
	again    time.Duration // patience after the first connection
	reach    *reach        // is told how it stands; nil: nobody is
	events   chan Event

	mu    sync.Mutex
	conn  jsonrpc.Conn
	up    chan struct{} // closed while there is a connection
	next  int
	calls map[string]*call
	seen  map[string]int64 // last number by session
}

// call waits for its answer.
type call struct {
	done   chan struct{}
	result json.RawMessage
	err    error
	since  string // not empty: a question for what was missed in that session, handled by the reader
}

// buffer is how many events may wait for their reader before the connection is not read any more.
const buffer = 1024

// Open makes a Client over dial; Run dials. A connection that cannot be had again within patience ends Run.
func Open(dial Dial, patience time.Duration) *Client {
	return &Client{dial: dial, patience: patience, again: patience, events: make(chan Event, buffer), up: make(chan struct{}),
		calls: map[string]*call{}, seen: map[string]int64{}}
}

// Events tells the news. Somebody must read them, or calls stop being answered. It is never closed.
func (c *Client) Events() <-chan Event { return c.events }

// Run keeps a connection until ctx ends (nil) or none can be had (ErrUnreachable with the error of the last attempt).
func (c *Client) Run(ctx context.Context) error {
	for patience := c.patience; ctx.Err() == nil; patience = c.again {
		conn, err := c.connect(ctx, patience)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return &unreachable{err}
		}
		c.live(ctx, conn)
	}
	return nil
}

// connect dials until there is a connection.
func (c *Client) connect(ctx context.Context, patience time.Duration) (jsonrpc.Conn, error) {
	told := c.reach
	if told == nil {
		told = &reach{out: io.Discard}
	}
	told.most = func() time.Duration { return patience }
	conn, err := backoff.Retry(ctx, func() (jsonrpc.Conn, error) { return c.dial(ctx) },
		backoff.WithBackOff(&backoff.ExponentialBackOff{InitialInterval: 100 * time.Millisecond, Multiplier: 1.6,
			RandomizationFactor: 0.3, MaxInterval: 3 * time.Second}), backoff.WithMaxElapsedTime(patience), backoff.WithNotify(told.failed))
	if err == nil {
		told.back()
	}
	return conn, err
}

// live serves one connection until it breaks.
func (c *Client) live(ctx context.Context, conn jsonrpc.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	c.online(ctx, conn)
	for {
		data, err := conn.Read(ctx)
		if err != nil {
			break
		}
		if m, err := jsonrpc.Parse(data); err == nil {
			c.take(ctx, m)
		}
	}
	c.offline()
	if c.reach != nil && ctx.Err() == nil {
		c.reach.cut(c.again)
	}
	c.tell(ctx, Event{Type: Offline})
}

// online makes a connection the current one, and asks for what was missed.
func (c *Client) online(ctx context.Context, conn jsonrpc.Conn) {
	c.mu.Lock()
	c.conn = conn
	close(c.up)
	seen := make(map[string]int64, len(c.seen))
	for s, n := range c.seen {
		seen[s] = n
	}
	c.mu.Unlock()
	c.tell(ctx, Event{Type: Online})
	for s, n := range seen {
		c.catchUp(ctx, s, n)
	}
}

func (c *Client) offline() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn, c.up = nil, make(chan struct{})
	for id, k := range c.calls {
		k.err = ErrCut
		close(k.done)
		delete(c.calls, id)
	}
}

// catchUp asks for the events of a session after seq; take hands them on.
func (c *Client) catchUp(ctx context.Context, session string, seq int64) {
	if _, err := c.start(ctx, "session.events.since", map[string]any{"session_id": session, "seq": seq}, session); err != nil {
		return // the connection broke again; the next one asks anew
	}
}

// start sends a call.
func (c *Client) start(ctx context.Context, method string, params any, since string) (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil, ErrCut
	}
	c.next++
	id := strconv.Itoa(c.next)
	k := &call{done: make(chan struct{}), since: since}
	c.calls[id] = k
	if err := c.conn.Write(ctx, jsonrpc.Request(jsonrpc.ID(id), method, params)); err != nil {
		delete(c.calls, id)
		return nil, errors.Join(ErrCut, err)
	}
	return k, nil
}

// Call asks and waits for the answer, into result when it is not nil. Without a connection it waits for one. Errors: a
// *jsonrpc.Error from the gateway, ErrCut, or that of ctx.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if err := c.connected(ctx); err != nil {
		return err
	}
	k, err := c.start(ctx, method, params, "")
	if err != nil {
		return err
	}
	select {
	case <-k.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if k.err != nil || result == nil {
		return k.err
	}
	return json.Unmarshal(k.result, result)
}

// connected waits for a connection.
func (c *Client) connected(ctx context.Context) error {
	c.mu.Lock()
	up := c.up
	c.mu.Unlock()
	select {
	case <-up:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// take handles one message of the gateway.
func (c *Client) take(ctx context.Context, m jsonrpc.Message) {
	if m.Method == "event" {
		c.hear(ctx, m.Params)
		return
	}
	c.mu.Lock()
	k := c.calls[string(m.ID)]
	delete(c.calls, string(m.ID))
	c.mu.Unlock()
	if k == nil {
		return
	}
	if k.result = m.Result; m.Error != nil {
		k.err = m.Error
	}
	if k.since != "" && k.err == nil {
		c.missed(ctx, k)
	}
	close(k.done)
}

// missed hands on what a session.events.since answered, before anything newer is read.
func (c *Client) missed(ctx context.Context, k *call) {
	var r struct {
		Events []json.RawMessage `json:"events"`
		Seq    int64             `json:"seq"`
		More   bool              `json:"more"`
	}
	if json.Unmarshal(k.result, &r) != nil {
		return
	}
	for _, e := range r.Events {
		c.hear(ctx, e)
	}
	if r.More {
		c.catchUp(ctx, k.since, r.Seq)
	}
}

// hear hands on one event, unless it was heard before.
func (c *Client) hear(ctx context.Context, raw json.RawMessage) {
	e := Event{Raw: raw}
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	var news struct {
		Kind  string `json:"kind"`
		Since int64  `json:"since"`
	}
	if e.Type == "status.update" && json.Unmarshal(e.Payload, &news) == nil && news.Kind == "lagged" {
		c.catchUp(ctx, e.Session, news.Since)
		return
	}
	if e.Seq != 0 && !c.fresh(e.Session, e.Seq) {
		return
	}
	c.tell(ctx, e)
}

// fresh reports whether a number is new in its session, and notes it.
func (c *Client) fresh(session string, seq int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if seq <= c.seen[session] {
		return false
	}
	c.seen[session] = seq
	return true
}

// Seen says that everything of a session up to seq is known already, for example from session.resume. From then on the
// session is followed across reconnects.
func (c *Client) Seen(session string, seq int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[session] = max(c.seen[session], seq)
}

func (c *Client) tell(ctx context.Context, e Event) {
	select {
	case c.events <- e:
	case <-ctx.Done():
	}
}

// codeOf returns the code of an error that the gateway answered, 0 when it is another error.
func codeOf(err error) jsonrpc.Code {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
