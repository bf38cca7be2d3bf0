package tool

import (
	"context"
	"encoding/json"
	"time"

	"bellhop/core"
)

// Tool is one tool. Safe for concurrent use.
type Tool interface {
	Spec() Spec
	// Assess reads the arguments without any effect: they are valid (else the error's text goes to the model), and how
	// risky the call is.
	Assess(ctx context.Context, env Env, args json.RawMessage) (Risk, error)
	// Call executes. It ends soon after ctx does, leaving no process behind. An error is a failed result whose text goes to
	// the model; it is not a failed turn.
	Call(ctx context.Context, env Env, args json.RawMessage) (Result, error)
}

// Spec describes a tool.
type Spec struct {
	Name     string
	About    string
	Schema   json.RawMessage // JSON Schema of the arguments, an object
	Effect   core.Effect     // of the riskiest call; Risk may lower it for one call
	Parallel bool            // calls may run beside others of the same batch
	Timeout  time.Duration   // of one call, 0: the runner's default
	Admin    bool            // only for admins unless configured
	Verb     string          // what a person reads while it runs: "Running a command"
	Polling  bool            // repeating it with the same result is normal
}

// Risk is what one call may do.
type Risk struct {
	Effect  core.Effect // of this call; empty: as the Spec says
	Verdict Verdict
	Why     string // for the person: "deletes files"
	Summary string // one line for the person: the command, the path
	Detail  string // all of it, for the person who approves; empty: the Summary says it
	Key     string // what "session" and "always" would allow; stable for calls of the same kind
	// Kinds are all kinds of things the call would do, for lists of what is denied; empty: Key alone.
	Kinds []string
	// Plain: the Kinds say all there is to ask about, so a list that allows each of them allows the call. Else a list can
	// allow it by its Key alone.
	Plain bool
	// Once: an approval is for this call only, for what it does depends on more than its arguments. The Key is for lists.
	Once bool
}

// Verdict is whether a call may run.
type Verdict string

const (
	Allow  Verdict = "allow"
	Ask    Verdict = "ask"
	Forbid Verdict = "forbid" // a hard block that nothing passes; Why goes to the model
)

// Env is what a call gets of the world.
type Env struct {
	CallID       string // also the idempotency key
	Conversation core.ConversationID
	Turn         core.TurnID
	Workspace    string            // absolute path of the folder the agent works in
	Spill        string            // absolute path of the folder for large results
	Progress     func(text string) // tells the person; also counts as activity
	By           core.Principal
}

// Result is what a call gave.
type Result struct {
	Text    string // for the model
	Summary string // one line for the person
	Diff    string // unified diff of a file change, for the person
	Failed  bool
	Spoke   bool   // the tool itself already showed the person what there is to say
	Path    string // where a large result was spilled, if it was
}
