package rpc

import (
	"encoding/json"

	"bellhop/core"
	"bellhop/gateway/rpc/jsonrpc"
)

// Codes of this protocol, beside those of JSON-RPC.
const (
	NoSession  jsonrpc.Code = 4001 // no such session, or not yours
	BadParams  jsonrpc.Code = 4002 // a required parameter is missing or makes no sense
	NotAllowed jsonrpc.Code = 4003 // the caller may not do that
	SessionNow jsonrpc.Code = 4009 // busy, or there is nothing of that kind to answer
)

// fault is what a method returns when it knows the words itself.
func fault(code jsonrpc.Code, message string) error {
	return &jsonrpc.Error{Code: code, Message: message, Data: kindData(kindOfCode[code])}
}

var kindOfCode = map[jsonrpc.Code]core.Kind{
	NoSession: core.NotFound, BadParams: core.Invalid, NotAllowed: core.Denied, SessionNow: core.Busy,
	jsonrpc.InvalidParams: core.Invalid, jsonrpc.MethodNotFound: core.NotFound,
}

// words says each kind of error to a client. A kind that is not here is a fault of ours.
var words = map[core.Kind]jsonrpc.Error{
	core.Invalid:     {Code: BadParams, Message: "that makes no sense here"},
	core.NotFound:    {Code: NoSession, Message: "no such session"},
	core.Conflict:    {Code: SessionNow, Message: "this request id was used for something else, or it is too late for that"},
	core.Busy:        {Code: SessionNow, Message: "session busy"},
	core.Full:        {Code: SessionNow, Message: "the queue of this session is full; wait for an answer or remove a message"},
	core.Denied:      {Code: NotAllowed, Message: "you may not do that"},
	core.Unavailable: {Code: jsonrpc.ServerError, Message: "the gateway cannot reach its store now; nothing was changed, try again"},
	core.Timeout:     {Code: jsonrpc.ServerError, Message: "that took too long"},
	core.NoSpace:     {Code: jsonrpc.ServerError, Message: "the disk is full; nothing was stored"},
	core.Corrupt:     {Code: jsonrpc.ServerError, Message: "the store is damaged; run bellhop doctor"},
}

// problem turns an error into what the client reads. known is false when it is a fault of ours, which belongs in the log.
func problem(err error) (e *jsonrpc.Error, known bool) {
	if e, ok := err.(*jsonrpc.Error); ok {
		return e, true
	}
	kind := core.KindOf(err)
	w, known := words[kind]
	if !known {
		w = jsonrpc.Error{Code: jsonrpc.ServerError, Message: "internal error; the log of the gateway has the cause"}
	}
	w.Data = kindData(kind)
	return &w, known
}

func kindData(k core.Kind) json.RawMessage { return json.RawMessage(`{"kind":"` + k.String() + `"}`) }
