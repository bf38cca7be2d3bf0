// Package jsonrpc speaks JSON-RPC 2.0: frames in, frames out, and nothing about what the methods mean.
//
//	Conn.Read -> Decode -> Frame{Calls}      one object, or a batch of them
//	Reply, Batch, Notification -> Conn.Write
//
// A Conn carries whole messages: one line each over a pipe (Lines), one text message each over a WebSocket (WebSocket).
//
// Why not a library: the usual one refuses unknown members of a request, keeps an unbounded queue of what a client sends
// and blocks its server on a client that does not read. Here the caller owns every queue, and a client that sends faster
// than it is served simply is not read. A client of that library still talks to this package in the tests.
//
// Invariants. A notification (no id member at all) is never answered. An id comes back byte for byte. A frame that is
// not JSON gives one parse error; an empty batch gives one invalid request; a bad member of a batch gives its own error
// and does not spoil the others. Nothing here starts a goroutine, retries or logs.
package jsonrpc
