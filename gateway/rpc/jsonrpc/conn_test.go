package jsonrpc_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bellhop/gateway/rpc/jsonrpc"

	"github.com/coder/websocket"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", jsonrpc.MaxMessage+1)
	in := "one\r\n\n\ntwo\n" + long + "\nthree"
	c := jsonrpc.Lines(strings.NewReader(in), io.Discard)
	for _, want := range []string{"one", "two", "TOO LONG", "three", "EOF"} {
		line, err := c.Read(t.Context())
		got := string(line)
		switch {
		case errors.Is(err, jsonrpc.ErrTooLong):
			got = "TOO LONG"
		case errors.Is(err, io.EOF):
			got = "EOF"
		case err != nil:
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("read %.20q, want %q", got, want)
		}
	}
}

func TestLinesWritesOneLineAMessage(t *testing.T) {
	var out strings.Builder
	c := jsonrpc.Lines(strings.NewReader(""), &out)
	for _, m := range []string{"a", "b"} {
		if err := c.Write(t.Context(), []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "a\nb\n" {
		t.Errorf("wrote %q", out.String())
	}
}

func TestCloseEndsARead(t *testing.T) {
	r, w := io.Pipe()
	c := jsonrpc.Lines(r, w)
	done := make(chan error)
	go func() {
		_, err := c.Read(context.Background())
		done <- err
	}()
	c.Close()
	if err := <-done; err == nil {
		t.Error("the read ended without an error")
	}
}

func TestWebSocketTakesAMegabyte(t *testing.T) {
	big := strings.Repeat("x", jsonrpc.MaxMessage-1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		c := jsonrpc.WebSocket(ws)
		defer c.Close()
		if data, err := c.Read(r.Context()); err != nil || len(data) != len(big) {
			t.Errorf("read %d bytes: %v", len(data), err)
		}
		if _, err := c.Read(r.Context()); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("a message above the limit: %v", err)
		}
	}))
	defer srv.Close()
	ws, _, err := websocket.Dial(t.Context(), srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonrpc.WebSocket(ws)
	defer c.Close()
	for _, m := range []string{big, big + "xx"} {
		if err := c.Write(t.Context(), []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Read(t.Context()); err == nil {
		t.Error("the server kept a connection that broke the limit")
	}
}
