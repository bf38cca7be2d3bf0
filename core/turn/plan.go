package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/oklog/ulid/v2"

	"bellhop/core"
	"bellhop/core/tool"
)

// call is one tool call of the round under way.
type call struct {
	core.ToolCall
	place  int
	tool   tool.Tool // nil: there is none of that name
	spec   tool.Spec
	risk   tool.Risk
	effect core.Effect
	state  core.CallState // in the ledger
	env    tool.Env

	ended  *tool.Ended // nil while it is not known how the call ends
	status fate
	begun  bool // it was executed
	stored bool // its result is in the transcript
}

// fate is how a call ended, for people and programs that watch.
type fate string

const (
	fateOK      fate = "ok"
	fateError   fate = "error"
	fateDenied  fate = "denied"
	fateSkipped fate = "skipped"
	fateUnknown fate = "unknown"
)

// refuse ends a call without executing it.
func (c *call) refuse(f fate, text string) {
	c.status = f
	c.ended = &tool.Ended{Result: tool.Result{Text: text, Failed: true}, State: tool.Skipped}
}

// row is the call's row in the ledger.
func (c *call) row(t *state, s core.CallState) core.Call {
	return core.Call{ID: c.ID, Admission: t.row.ID, Turn: t.in.Fence.Turn, Place: c.place, Name: c.Name, Args: c.Args,
		Effect: c.effect, State: s}
}

// asks reports whether a person may have to be asked before the call runs.
func (c *call) asks() bool { return c.ended == nil && c.risk.Verdict != tool.Allow }

// plans makes the round of a reply. Every call that is kept gets an id of ours: it is the key of the ledger and of
// idempotent effects, so it must be unique in the conversation, which endpoints do not promise.
func (r *Runner) plans(ctx context.Context, t *state, made []core.ToolCall) []*call {
	if extra := len(made) - r.o.MaxBatch; extra > 0 {
		made = made[:r.o.MaxBatch]
		t.note = fmt.Sprintf("%d more calls were dropped: at most %d can be made at once.", extra, r.o.MaxBatch)
	}
	seen := make(map[string]string, len(made))
	round := make([]*call, len(made))
	for i, m := range made {
		m.ID = "call_" + strings.ToLower(ulid.Make().String())
		m.Name, m.Args = tool.Shorten(tool.Repair(m.Name), 100), proper(m.Args)
		c := r.plan(ctx, t, m, i)
		key := m.Name + " " + canonical(m.Args)
		if first, twice := seen[key]; twice && c.ended == nil {
			c.refuse(fateSkipped, "Not run: it is the same as "+first+", whose result counts for both.")
			c.effect = core.ReadOnly
		}
		seen[key] = m.ID
		round[i] = c
	}
	return round
}

// plan looks at one call: whether there is such a tool, whether its arguments make sense, and what it may do. What can
// be refused at once is, and counts as having no effect.
func (r *Runner) plan(ctx context.Context, t *state, made core.ToolCall, place int) *call {
	c := &call{ToolCall: made, place: place, state: core.CallRecorded, effect: core.ReadOnly}
	c.env = tool.Env{CallID: made.ID, Conversation: t.row.Conversation, Turn: t.in.Fence.Turn, Workspace: r.o.Workspace,
		Spill: filepath.Join(r.o.Spill, string(t.row.Conversation)), By: t.row.Principal(), Progress: r.progress(t, c)}
	found, ok := r.o.Tools.For(t.row.Admin, made.Name)
	if !ok {
		c.refuse(fateError, "There is no tool "+made.Name+". There are: "+names(t)+".")
		return c
	}
	c.tool, c.spec = found, found.Spec()
	if !bytes.HasPrefix(made.Args, []byte("{")) {
		c.refuse(fateError, "The arguments are not a JSON object.")
		return c
	}
	risk, err := found.Assess(ctx, c.env, made.Args)
	switch {
	case err != nil:
		c.refuse(fateError, "The arguments were not accepted: "+err.Error())
		return c
	case risk.Verdict == tool.Forbid:
		c.risk = risk
		c.refuse(fateDenied, forbidden(risk.Why))
		return c
	}
	c.risk = risk
	if c.effect = c.spec.Effect; risk.Effect != "" {
		c.effect = risk.Effect
	}
	return c
}

func forbidden(why string) string {
	return "Forbidden: it " + why + ". Nobody can allow this; do not try to reach the same in another way."
}

// progress is what a call uses to show how it goes on.
func (r *Runner) progress(t *state, c *call) func(string) {
	return func(text string) {
		t.news.tell(core.EventBody{Type: core.ToolProgress, Call: c.ID, Name: c.Name, Detail: tool.Shorten(tool.Repair(text), 500)})
		if t.in.Active != nil {
			t.in.Active(doing(c.spec))
		}
	}
}

// doing says what a tool does, for people.
func doing(s tool.Spec) string {
	if s.Verb != "" {
		return s.Verb
	}
	return "using " + s.Name
}

func names(t *state) string {
	list := make([]string, len(t.tools))
	for i, o := range t.tools {
		list[i] = o.Name
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// proper makes arguments storable: JSON, whatever the model wrote.
func proper(args json.RawMessage) json.RawMessage {
	args = bytes.ToValidUTF8(bytes.TrimSpace(args), []byte("\uFFFD"))
	switch {
	case len(args) == 0:
		return json.RawMessage("{}")
	case json.Valid(args):
		return args
	}
	text, err := json.Marshal(string(args))
	if err != nil { // a string always has a JSON form
		panic(err)
	}
	return text
}

// canonical is a form of arguments in which equal ones are equal.
func canonical(args json.RawMessage) string {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return string(args)
	}
	b, err := json.Marshal(v)
	if err != nil { // what was decoded can be encoded
		panic(err)
	}
	return string(b)
}
