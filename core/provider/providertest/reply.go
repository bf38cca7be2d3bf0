package providertest

import (
	"encoding/json"
	"net/http"
	"time"

	"bellhop/core"
)

// Reply is what the model does with one request, step by step. Unless its last step ends it, it ends as the wire form
// wants it: finish reason, usage, end mark.
type Reply []Step

// Step is one step of a Reply; the functions below make them.
type Step struct {
	op      op
	pieces  []string
	call    core.ToolCall
	wait    time.Duration
	gate    <-chan struct{}
	dialect Dialect
	usage   core.Usage
	status  int
	code    string
	header  http.Header
}

type op uint8

const (
	opText op = iota
	opThink
	opCall
	opWait
	opGate
	opDialect
	opUsage
	opFinish
	opRaw
	opRefuse // ends the reply, and so do the rest
	opFail
	opHang
	opCut
	opQuit
)

// Dialect is a way in which endpoints write the same thing.
type Dialect string

const (
	Standard   Dialect = ""
	ZeroIndex  Dialect = "index 0 for every call"
	NoIndex    Dialect = "calls without an index"
	Whole      Dialect = "whole arguments at once"
	Repeated   Dialect = "id and name in every delta"
	ObjectArgs Dialect = "arguments as an object"
	NoID       Dialect = "calls without an id"
	Legacy     Dialect = "function_call" // one call at most
	StopFinish Dialect = "finish reason stop beside calls"

	ReasoningField   Dialect = "reasoning"
	ReasoningDetails Dialect = "reasoning_details"
	ThinkTags        Dialect = "think tags"
	TypedParts       Dialect = "content as typed parts"
)

// Text streams visible text, one chunk a piece.
func Text(pieces ...string) Step { return Step{op: opText, pieces: pieces} }

// Think streams reasoning.
func Think(pieces ...string) Step { return Step{op: opThink, pieces: pieces} }

// Call makes a tool call. args is written as it is, JSON or not.
func Call(id, name, args string) Step {
	return Step{op: opCall, call: core.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}}
}

// Wait pauses.
func Wait(d time.Duration) Step { return Step{op: opWait, wait: d} }

// Until pauses until gate is closed.
func Until(gate <-chan struct{}) Step { return Step{op: opGate, gate: gate} }

// In writes what follows in a dialect.
func In(d Dialect) Step { return Step{op: opDialect, dialect: d} }

// Cost sets what the reply's usage says.
func Cost(u core.Usage) Step { return Step{op: opUsage, usage: u} }

// Finish ends the reply with a finish reason of the wire's.
func Finish(word string) Step { return Step{op: opFinish, code: word} }

// Raw writes bytes as they are, flushing after each piece.
func Raw(pieces ...string) Step { return Step{op: opRaw, pieces: pieces} }

// Refuse answers with an error status instead of a reply; it must be the first step. header is name, value, name, value.
func Refuse(status int, code, text string, header ...string) Step {
	h := make(http.Header)
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return Step{op: opRefuse, status: status, code: code, pieces: []string{text}, header: h}
}

// Fail sends an error object inside the stream and ends it.
func Fail(code, text string) Step { return Step{op: opFail, code: code, pieces: []string{text}} }

// Hang says nothing more until the caller goes away. As the first step not even a status comes.
func Hang() Step { return Step{op: opHang} }

// Cut breaks the connection.
func Cut() Step { return Step{op: opCut} }

// Quit ends the stream cleanly, without finish reason and end mark.
func Quit() Step { return Step{op: opQuit} }
