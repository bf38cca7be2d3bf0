package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"bellhop/gateway/rpc/jsonrpc"
	"bellhop/gateway/rpc/proof"

	"github.com/cenkalti/backoff/v5"
	"github.com/coder/websocket"
)

// ErrStranger: what listens does not know the token, so it is not the gateway of the data folder. It was not sent the token.
var ErrStranger = errors.New("what listens there is not the gateway of this data folder")

// ErrRefused: the gateway does not take the token.
var ErrRefused = errors.New("the gateway refused the token")

// errMoved: the connection on which the gateway proved itself is gone.
var errMoved = errors.New("the gateway closed the connection")

// WebSocket dials the gateway at addr (host:port) with the bearer token of its data folder, once the gateway has proved, on
// the same connection, that it knows the token; ErrStranger when it does not. A refusal is final: trying again with the
// same token does not help.
func WebSocket(addr, token string) Dial {
	return func(ctx context.Context) (jsonrpc.Conn, error) {
		conn, err := meet(ctx, addr, token)
		if err != nil {
			return nil, err
		}
		c := over(conn)
		ws, answer, err := websocket.Dial(ctx, "ws://"+addr+"/rpc", &websocket.DialOptions{HTTPClient: c,
			HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
		if err == nil {
			return jsonrpc.WebSocket(ws), nil
		}
		c.CloseIdleConnections()
		_ = conn.Close() // the failure before it is what is told
		if answer != nil && answer.StatusCode == http.StatusUnauthorized {
			return nil, backoff.Permanent(fmt.Errorf("%w: %w", ErrRefused, err))
		}
		return nil, err
	}
}

// Recognize returns nil when the gateway that knows token listens at addr, ErrStranger when something else does.
func Recognize(ctx context.Context, addr, token string) error {
	conn, err := meet(ctx, addr, token)
	if err != nil {
		return err
	}
	return conn.Close()
}

// meet connects to addr and returns the connection when the other end has proved that it knows token.
func meet(ctx context.Context, addr, token string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	done := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // a read that waits ends no other way
	err = prove(conn, addr, token)
	if !done() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func prove(conn net.Conn, addr, token string) error {
	nonce := rand.Text()
	r, err := http.NewRequest(http.MethodGet, "http://"+addr+proof.Path+"?"+proof.Param+"="+nonce, nil)
	if err != nil {
		return err
	}
	if err := r.Write(conn); err != nil {
		return err
	}
	in := bufio.NewReader(io.LimitReader(conn, maxProof))
	answer, err := http.ReadResponse(in, r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || in.Buffered() > 0 || !proof.Right(token, nonce, string(body)) {
		return fmt.Errorf("%s: %w", addr, ErrStranger)
	}
	return nil
}

// proofTime is how long whoever listens may take to prove itself.
const proofTime = 5 * time.Second

// maxProof bounds an answer with its header, in bytes.
const maxProof = 16 << 10

// over is an HTTP client on one connection, which ends with it; there is no proxy between, and nobody else is dialled.
func over(conn net.Conn) *http.Client {
	var used atomic.Bool
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			if used.Swap(true) {
				return nil, errMoved
			}
			return conn, nil
		}},
	}
}

// Pipe uses one connection once; when it breaks, that is the end.
func Pipe(conn jsonrpc.Conn) Dial {
	used := false
	return func(context.Context) (jsonrpc.Conn, error) {
		if used {
			return nil, backoff.Permanent(ErrCut)
		}
		used = true
		return conn, nil
	}
}
