package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"bellhop/core"
)

const (
	maxCalls = 256
	maxArgs  = 8 << 20 // bytes of all arguments of one reply
)

var errTooMuch = errors.New("the reply is too large")

// calls assembles tool calls from deltas of every dialect:
//
//	by index                 {index:0,id,name,args:""} {index:0,args} {index:1,…}     OpenAI, vLLM
//	index 0 for every call   {index:0,id:a,…} {index:0,id:b,…}: a new id is a new call  Ollama, gateways
//	no index                 the id tells, else whatever came last goes on              Gemini's door
//	all at once              whole arguments in one delta, as a string or an object
//	repeated                 id and name in each delta
//	no id                    a name, when the call before it has whole arguments, is a new call
//	function_call            the deprecated single call
type calls struct {
	list []*building
	size int
}

type building struct {
	index    int // -1: none was sent
	id, name string
	args     []byte
}

// add takes one delta. It returns the name of a call that begins with it, else "".
func (c *calls) add(d callDelta) (begun string, err error) {
	index := -1
	if d.Index != nil {
		index = *d.Index
	}
	name := strings.TrimSpace(d.Function.Name)
	b := c.find(index, d.ID, name)
	if b == nil {
		if len(c.list) == maxCalls {
			return "", errTooMuch
		}
		b = &building{index: index, id: d.ID}
		c.list = append(c.list, b)
	}
	if b.id == "" {
		b.id = d.ID
	}
	if b.name == "" && name != "" {
		b.name, begun = name, name
	}
	args := arguments(d.Function.Arguments)
	if c.size += len(args); c.size > maxArgs {
		return "", errTooMuch
	}
	b.args = append(b.args, args...)
	return begun, nil
}

// find returns the call that a delta goes on with, nil when it begins a new one.
func (c *calls) find(index int, id, name string) *building {
	var last *building
	for _, b := range c.list {
		if id != "" && b.id == id {
			return b
		}
		if index == -1 || b.index == -1 || b.index == index {
			last = b
		}
	}
	switch {
	case last == nil:
		return nil
	case id != "" && last.id != "":
		return nil // another id
	case id == "" && name != "" && last.name != "" && (name != last.name || isObject(last.args)):
		return nil
	}
	return last
}

// arguments returns a delta's piece of the arguments' text.
func arguments(raw json.RawMessage) []byte {
	switch {
	case !isSet(raw):
		return nil
	case raw[0] == '"':
		return []byte(unquote(raw))
	}
	return raw
}

// done returns the calls in the order in which they began. What never got a name is dropped: nothing can answer it, except
// that arguments without a name are a call of an unknown tool, whose error the model should see.
func (c *calls) done() []core.ToolCall {
	out := make([]core.ToolCall, 0, len(c.list))
	for _, b := range c.list {
		if b.name == "" && b.id == "" && len(bytes.TrimSpace(b.args)) == 0 {
			continue
		}
		if b.id == "" {
			b.id = "call_" + rand.Text()
		}
		out = append(out, core.ToolCall{ID: b.id, Name: b.name, Args: finished(b.args)})
	}
	return out
}

// finished returns arguments as an object; absent ones are the empty object. What is no object becomes a JSON string with
// the model's own words, which can be stored and which every tool refuses.
func finished(args []byte) json.RawMessage {
	args = bytes.TrimSpace(args)
	switch {
	case len(args) == 0, string(args) == "null", string(args) == `""`:
		return json.RawMessage("{}")
	case isObject(args):
		return args
	}
	quoted, err := json.Marshal(string(args))
	if err != nil { // a string always has a JSON form
		return json.RawMessage(`""`)
	}
	return quoted
}

func isObject(b []byte) bool { return len(b) > 1 && bytes.TrimSpace(b)[0] == '{' && json.Valid(b) }
