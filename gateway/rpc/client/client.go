// Package client is the Go client of gateway/rpc.
package client

import (
	"context"
	"io"

	"bellhop/gateway/rpc/jsonrpc"
)

// Dial makes a new connection; it is called again when one broke.
type Dial func(ctx context.Context) (jsonrpc.Conn, error)

// Client talks to one gateway.
type Client struct{}

// Open makes a Client over dial. Nothing is dialled yet; Run does.
func Open(dial Dial) *Client { return &Client{} }

// ChatOptions are what `bellhop chat` was told.
type ChatOptions struct {
	Session     string // key, id or title; "" starts a new one
	Text        string // one message; "" reads In
	JSON        bool   // events as JSON lines on Out
	In          io.Reader
	Out, Err    io.Writer
	Interactive bool            // In is a terminal: ask there
	Interrupt   <-chan struct{} // one value per Ctrl-C
}

// Chat runs one conversation in a terminal until its end.
func Chat(ctx context.Context, c *Client, o ChatOptions) error { return nil }
