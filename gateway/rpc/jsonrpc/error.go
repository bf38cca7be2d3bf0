package jsonrpc

import "encoding/json"

// Code is the number of an error on the wire.
type Code int

// The codes that JSON-RPC 2.0 defines.
const (
	ParseError     Code = -32700
	InvalidRequest Code = -32600
	MethodNotFound Code = -32601
	InvalidParams  Code = -32602
	ServerError    Code = -32000
)

// Error is the error object of a response. Message is read by people; Data helps programs and may be absent.
type Error struct {
	Code    Code            `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }
