package jsonrpc

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// MaxBatch is how many calls one batch may hold; a longer one is refused whole.
const MaxBatch = 64

// Null is the id of an answer to something whose id could not be read.
var Null = ID("null")

// ID is a request's id as it was sent: a string, a number or null. The zero ID is absent: a notification.
type ID string

// Call is one request, or what is wrong with it.
type Call struct {
	ID     ID
	Method string
	Params json.RawMessage // an object, an array, or nil when absent
	Err    *Error          // set: answer with it, ID is the one to use
}

// Notification reports whether the caller wants no answer.
func (c Call) Notification() bool { return c.ID == "" && c.Err == nil }

// Frame is one message of a client.
type Frame struct {
	Batch bool
	Calls []Call // at least one
}

// Decode reads one message. It never fails: what is wrong is inside the calls, ready to be answered.
func Decode(data []byte) Frame {
	data = bytes.TrimSpace(data)
	if !utf8.Valid(data) || !json.Valid(data) {
		return refused(ParseError, "parse error: this is not JSON")
	}
	if data[0] != '[' {
		return Frame{Calls: []Call{decodeCall(data)}}
	}
	var members []json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return refused(ParseError, "parse error: this is not JSON")
	}
	switch n := len(members); {
	case n == 0:
		return refused(InvalidRequest, "invalid request: the batch is empty")
	case n > MaxBatch:
		return refused(InvalidRequest, "invalid request: the batch is too long")
	}
	f := Frame{Batch: true, Calls: make([]Call, len(members))}
	for i, m := range members {
		f.Calls[i] = decodeCall(m)
	}
	return f
}

func refused(code Code, why string) Frame {
	return Frame{Calls: []Call{{ID: Null, Err: &Error{Code: code, Message: why}}}}
}

// decodeCall reads one request. Unknown members are ignored, and so is the case of none: JSON member names are exact.
func decodeCall(data []byte) Call {
	var members map[string]json.RawMessage
	if data[0] != '{' || json.Unmarshal(data, &members) != nil {
		return invalid(Null, "a request is an object")
	}
	id, hasID := members["id"]
	if hasID && !validID(id) {
		return invalid(Null, "id must be a string, a number or null")
	}
	reply := Null
	if hasID {
		reply = ID(id)
	}
	var version, method string
	if json.Unmarshal(members["jsonrpc"], &version) != nil || version != "2.0" {
		return invalid(reply, `jsonrpc must be "2.0"`)
	}
	if m := members["method"]; len(m) == 0 || m[0] != '"' || json.Unmarshal(m, &method) != nil {
		return invalid(reply, "method must be a string")
	}
	params := members["params"]
	if string(params) == "null" { // as some libraries write "none"
		params = nil
	}
	if len(params) > 0 && params[0] != '{' && params[0] != '[' {
		return invalid(reply, "params must be an object or an array")
	}
	c := Call{Method: method, Params: params}
	if hasID {
		c.ID = ID(id)
	}
	return c
}

func invalid(id ID, why string) Call {
	return Call{ID: id, Err: &Error{Code: InvalidRequest, Message: "invalid request: " + why}}
}

func validID(id json.RawMessage) bool {
	switch id[0] {
	case '{', '[', 't', 'f':
		return false
	}
	return true
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Reply makes the answer to the call with that id: the result as JSON (null when it is nil), or the error.
func Reply(id ID, result any, e *Error) []byte {
	r := response{Version: "2.0", ID: json.RawMessage(id), Error: e}
	if e == nil {
		r.Result = marshal(result)
	}
	return marshal(r)
}

// Batch joins the answers to the calls of one batch. It returns nil when there is none to give.
func Batch(replies [][]byte) []byte {
	if len(replies) == 0 {
		return nil
	}
	out := append([]byte{'['}, bytes.Join(replies, []byte{','})...)
	return append(out, ']')
}

type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// Notification makes a message that expects no answer.
func Notification(method string, params any) []byte {
	return marshal(notification{"2.0", method, params})
}

type request struct {
	notification
	ID json.RawMessage `json:"id"`
}

// Request makes a call.
func Request(id ID, method string, params any) []byte {
	return marshal(request{notification{"2.0", method, params}, json.RawMessage(id)})
}

// marshal encodes values of this module's own types, which always can be. HTML is not escaped: the reader is no page.
func marshal(v any) []byte {
	if raw, ok := v.(json.RawMessage); ok && len(raw) > 0 {
		return raw
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("jsonrpc: value cannot be encoded: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// Message is what a client reads: an answer (ID set) or a notification (Method set).
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Parse reads one message of a server.
func Parse(data []byte) (Message, error) {
	var m Message
	err := json.Unmarshal(data, &m)
	return m, err
}
