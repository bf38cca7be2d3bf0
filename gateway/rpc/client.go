package rpc

import (
	"context"
	"errors"
	"io"
	"sync"

	"bellhop/core"
	"bellhop/gateway/rpc/jsonrpc"

	"golang.org/x/sync/errgroup"
)

const (
	maxWatches = 256 // sessions that one client follows at a time
	maxWaiting = 64  // slow calls of one client that run or wait
)

// client is one connection and what it follows.
type client struct {
	s    *Server
	by   core.Principal
	out  *outbox
	pool chan struct{} // a token for each slow call that runs
	line chan struct{} // a token for each slow call that runs or waits
	slow sync.WaitGroup

	mu      sync.Mutex
	watches map[core.ConversationID]*watch
	order   []core.ConversationID // oldest first
}

// errGone is why a connection ends that came to its end in an orderly way.
var errGone = errors.New("the client is gone")

var (
	tooLong = &jsonrpc.Error{Code: jsonrpc.InvalidRequest, Message: "invalid request: the message is too long"}
	tooMany = &jsonrpc.Error{Code: jsonrpc.ServerError, Message: "too many calls are waiting; wait for an answer"}
)

// ServeConn answers one client until it is gone (nil), ctx ends, or the connection breaks (its error). A client that ends
// its side first gets the answers to what it has asked. It closes conn.
func (s *Server) ServeConn(ctx context.Context, conn jsonrpc.Conn, by core.Principal) error {
	c := &client{s: s, by: by, out: newOutbox(s.cfg.Room), watches: map[core.ConversationID]*watch{},
		pool: make(chan struct{}, s.cfg.Pool), line: make(chan struct{}, maxWaiting)}
	defer c.leaveAll()
	defer c.slow.Wait()
	c.out.reply(readyFrame(s.cfg.Version))

	g, ctx := errgroup.WithContext(ctx)
	closing := context.AfterFunc(ctx, func() { conn.Close() })
	defer closing()
	defer conn.Close()
	g.Go(func() error { return c.write(ctx, conn) })
	g.Go(func() error { return c.read(ctx, conn) })
	if err := g.Wait(); err != errGone {
		return err
	}
	return nil
}

// read takes frames until the client is gone. Quick calls run here, in order; slow ones in the pool.
func (c *client) read(ctx context.Context, conn jsonrpc.Conn) error {
	for {
		c.out.crowded(ctx)
		data, err := conn.Read(ctx)
		switch {
		case errors.Is(err, jsonrpc.ErrTooLong):
			c.out.reply(jsonrpc.Reply(jsonrpc.Null, nil, tooLong))
			continue
		case errors.Is(err, io.EOF):
			c.slow.Wait()
			c.out.finish()
			return nil // the writer ends when it has written what is there
		case err != nil:
			return err
		}
		frame := jsonrpc.Decode(data)
		if !c.isSlow(frame) {
			c.serve(ctx, frame)
			continue
		}
		select {
		case c.line <- struct{}{}:
			c.slow.Go(func() { c.serveSlow(ctx, frame) })
		default:
			c.refuse(frame)
		}
	}
}

func (c *client) serveSlow(ctx context.Context, f jsonrpc.Frame) {
	defer func() { <-c.line }()
	select {
	case c.pool <- struct{}{}:
		defer func() { <-c.pool }()
		c.serve(ctx, f)
	case <-ctx.Done():
	}
}

// isSlow reports whether a frame has a call that belongs in the pool; then the whole batch goes there.
func (c *client) isSlow(f jsonrpc.Frame) bool {
	for _, call := range f.Calls {
		if c.s.methods[call.Method].Slow {
			return true
		}
	}
	return false
}

// serve runs the calls of a frame and queues the answer. Events that were held for it follow.
func (c *client) serve(ctx context.Context, f jsonrpc.Frame) {
	e := &Env{s: c.s, c: c, By: c.by}
	defer e.release()
	var replies [][]byte
	for _, call := range f.Calls {
		result, err := c.s.call(ctx, e, call)
		if !call.Notification() {
			replies = append(replies, jsonrpc.Reply(call.ID, result, err))
		}
	}
	c.answer(f, replies)
}

func (c *client) answer(f jsonrpc.Frame, replies [][]byte) {
	switch {
	case len(replies) == 0:
	case f.Batch:
		c.out.reply(jsonrpc.Batch(replies))
	default:
		c.out.reply(replies[0])
	}
}

// refuse answers a frame of a client that has too many slow calls waiting; nothing of it runs.
func (c *client) refuse(f jsonrpc.Frame) {
	var replies [][]byte
	for _, call := range f.Calls {
		if !call.Notification() {
			replies = append(replies, jsonrpc.Reply(call.ID, nil, tooMany))
		}
	}
	c.answer(f, replies)
}

// write sends what the outbox holds until ctx ends, a write fails, or the outbox is finished and empty.
func (c *client) write(ctx context.Context, conn jsonrpc.Conn) error {
	for {
		frame, it, err := c.out.next(ctx)
		if err != nil {
			return err
		}
		if frame == nil {
			frame = c.s.eventFrame(it)
		}
		if err := conn.Write(ctx, frame); err != nil {
			if c.out.finished() {
				return errGone // it did not wait for the rest
			}
			return err
		}
	}
}

// follow makes sure that the client hears of a session, and holds its events back until the reply of e is queued.
func (c *client) follow(e *Env, id core.ConversationID) *watch {
	c.mu.Lock()
	w, ok := c.watches[id]
	if !ok {
		w = &watch{id: id, out: c.out, room: c.s.cfg.Room}
		c.watches[id] = w
		c.order = append(c.order, id)
	}
	w.hold()
	e.held = append(e.held, w)
	if !ok {
		w.detach = c.s.cfg.Hub.Attach(id, w)
	}
	var oldest core.ConversationID
	if len(c.order) > maxWatches {
		oldest = c.order[0]
	}
	c.mu.Unlock()
	if oldest != "" {
		c.leave(oldest)
	}
	return w
}

// leave stops following a session.
func (c *client) leave(id core.ConversationID) {
	c.mu.Lock()
	w := c.watches[id]
	delete(c.watches, id)
	for i, o := range c.order {
		if o == id {
			c.order = append(c.order[:i:i], c.order[i+1:]...)
			break
		}
	}
	c.mu.Unlock()
	if w != nil {
		w.detach()
	}
}

func (c *client) leaveAll() {
	for _, id := range c.following() {
		c.leave(id)
	}
}

// following lists the sessions that the client follows, oldest first.
func (c *client) following() []core.ConversationID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]core.ConversationID(nil), c.order...)
}
