package rpc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"bellhop/core"
	"bellhop/gateway/rpc/jsonrpc"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
)

// A client that answers no ping for pingLimit is gone; a browser answers by itself, however slow its page is.
const (
	pingEvery = 30 * time.Second
	pingLimit = 60 * time.Second
)

// ServeStdio answers the client at the other end of a pipe, one object a line, until the pipe ends or breaks. Nothing else
// may write to out. The caller ignores SIGINT: interrupting is session.interrupt. When ctx ends it closes in, if it can be
// closed, because a read that waits ends no other way.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, by core.Principal) error {
	return s.ServeConn(ctx, jsonrpc.Lines(in, out), by)
}

// WebSocket is the handler of GET /rpc. ctx is the life of the gateway: when it ends, every connection does. auth says who
// asks, and has checked Origin and Host; its error becomes 401.
func (s *Server) WebSocket(ctx context.Context, auth func(*http.Request) (core.Principal, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by, err := auth(r)
		if err != nil {
			refuse(w, err)
			return
		}
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // auth has checked the origin
		if err != nil {
			return // Accept has answered
		}
		if err := s.serveSocket(ctx, ws, by); err != nil && ctx.Err() == nil {
			s.log.DebugContext(ctx, "connection ended", "platform", surface, "err", err)
		}
	})
}

func (s *Server) serveSocket(ctx context.Context, ws *websocket.Conn, by core.Principal) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return ping(ctx, ws) })
	g.Go(func() error {
		err := s.ServeConn(ctx, jsonrpc.WebSocket(ws), by)
		if err == nil {
			err = errGone
		}
		return err
	})
	if err := g.Wait(); !errors.Is(err, errGone) {
		return err
	}
	return nil
}

func ping(ctx context.Context, ws *websocket.Conn) error {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			limited, cancel := context.WithTimeout(ctx, pingLimit)
			err := ws.Ping(limited)
			cancel()
			if err != nil {
				return err
			}
		}
	}
}

// refuse answers a request that may not come in. What exactly was wrong is not told.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusUnauthorized
	if core.Is(err, core.Unavailable) {
		code = http.StatusServiceUnavailable
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="bellhop"`)
	http.Error(w, "not signed in: open the link that bellhop printed when it started", code)
}
