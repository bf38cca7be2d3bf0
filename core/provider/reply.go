package provider

import (
	"iter"
	"strings"

	"bellhop/core"
)

// Reply gathers the parts of one model call. The zero value is empty. Not safe for concurrent use.
type Reply struct {
	Calls []core.ToolCall
	Done  *Done // nil until the reply is complete

	text, reasoning strings.Builder
}

// Add takes the next part.
func (r *Reply) Add(p Part) {
	switch {
	case p.Done != nil:
		r.Done = p.Done
	case p.Call != nil:
		r.Calls = append(r.Calls, *p.Call)
	case p.Recant:
		r.reasoning.WriteString(r.text.String())
		r.text.Reset()
	default:
		r.text.WriteString(p.Text)
		r.reasoning.WriteString(p.Reasoning)
	}
}

// Text returns the visible text so far.
func (r *Reply) Text() string { return r.text.String() }

// Reasoning returns the hidden text so far.
func (r *Reply) Reasoning() string { return r.reasoning.String() }

// Gather reads a stream to its end. Beside an error comes what had arrived before it.
func Gather(parts iter.Seq2[Part, error]) (*Reply, error) {
	r := new(Reply)
	for p, err := range parts {
		if err != nil {
			return r, err
		}
		r.Add(p)
	}
	return r, nil
}
