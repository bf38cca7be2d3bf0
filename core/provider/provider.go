package provider

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"bellhop/core"
)

// Provider is one model endpoint. Safe for concurrent use.
type Provider interface {
	// Stream makes one model call. The sequence ends after a Done part or after an error; breaking off the loop or ending
	// ctx ends the call at once. Errors are *Error.
	Stream(ctx context.Context, r Request) iter.Seq2[Part, error]
	// Limits tells what a model can take; zero fields are unknown.
	Limits(model string) Limits
	// Probe checks address, key and, when not empty, the model with the cheapest call there is.
	Probe(ctx context.Context, model string) error
}

// Request is one model call: the wire copy of a transcript. It is built per call and never stored.
type Request struct {
	Model     string
	System    string
	Messages  []Message
	Tools     []Tool
	MaxOutput int    // tokens, 0: the endpoint's default
	User      string // opaque id of the person, for abuse reports
	NoStream  bool   // ask for the whole reply at once: the answer to a NoStream error
}

// Message is one message of the wire copy.
type Message struct {
	Role      core.Role
	Text      string
	Images    []Image
	Reasoning string // echoed where the dialect wants it
	Calls     []core.ToolCall
	CallID    string // of a tool result
}

// Image is an inline picture.
type Image struct {
	MIME string
	Data []byte
}

// Tool describes a tool to the model. Schema is JSON Schema of an object.
type Tool struct {
	Name   string
	About  string
	Schema json.RawMessage
}

// Part is one piece of a reply; exactly one field group is set.
type Part struct {
	Text      string         // visible text, as it comes
	Reasoning string         // hidden text, as it comes
	Recant    bool           // all Text of this reply so far was reasoning: its end came without a beginning
	Naming    string         // a call of this tool is being written
	Call      *core.ToolCall // a whole call; Args is a JSON object, or a JSON string with what the model wrote instead of one
	Done      *Done          // the last part
}

// Done closes a reply.
type Done struct {
	Finish Finish
	Usage  core.Usage
	Model  string // that answered, when the endpoint tells
}

// Finish is why the model stopped.
type Finish string

const (
	FinishStop     Finish = "stop"
	FinishLength   Finish = "length"   // cut at the output limit
	FinishTools    Finish = "tools"    // wants its calls answered; calls may come with any finish
	FinishFiltered Finish = "filtered" // refused by the endpoint's filter
)

// Limits are a model's numbers in tokens.
type Limits struct {
	Window int
	Output int
	Vision bool
}

// ErrorKind classifies a failed call for the retry table.
type ErrorKind string

const (
	RateLimited ErrorKind = "rate limited" // wait RetryAfter, then again
	Quota       ErrorKind = "quota"        // no money or quota left: do not retry here
	Auth        ErrorKind = "auth"
	NoModel     ErrorKind = "no such model"
	Overflow    ErrorKind = "too long" // the request can never succeed as it is
	BadRequest  ErrorKind = "bad request"
	Filtered    ErrorKind = "filtered"
	Overloaded  ErrorKind = "overloaded" // 5xx: again with back-off
	Transport   ErrorKind = "transport"  // no connection, cut stream, time-out
	NoStream    ErrorKind = "no streaming"
)

// Error is why a call failed. Text is the endpoint's own message, shortened and without secrets.
type Error struct {
	Kind       ErrorKind
	Code       int // HTTP status, 0 without an answer
	Text       string
	RetryAfter time.Duration
	Err        error
}

func (e *Error) Error() string {
	s := "model call: " + string(e.Kind)
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain, Transport when there is none.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Transport
}
