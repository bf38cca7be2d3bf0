package client

import (
	"context"
	"fmt"
	"net/http"

	"bellhop/gateway/rpc/jsonrpc"

	"github.com/cenkalti/backoff/v5"
	"github.com/coder/websocket"
)

// WebSocket dials the gateway at url (ws://host:port/rpc) with the bearer token of its data folder. A refusal is final:
// trying again with the same token does not help.
func WebSocket(url, token string) Dial {
	return func(ctx context.Context) (jsonrpc.Conn, error) {
		h := http.Header{}
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
		ws, answer, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: h})
		if err == nil {
			return jsonrpc.WebSocket(ws), nil
		}
		if answer != nil && answer.StatusCode == http.StatusUnauthorized {
			return nil, backoff.Permanent(fmt.Errorf("the gateway refused the token: %w", err))
		}
		return nil, err
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
