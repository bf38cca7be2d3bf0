package prompt

import (
	"time"

	"bellhop/core"
	"bellhop/core/provider"
)

// Options configure a Builder.
type Options struct {
	Identity  string   // who the agent is, from the configuration; empty: a default
	Workspace string   // absolute path of the folder the agent works in; empty: none
	Files     []string // project files of the workspace to include; nil: AGENTS.md
	MaxFile   int      // bytes of one project file; 0: 16 KiB
}

// Input is what one session adds.
type Input struct {
	Hint    string    // about the surface the answer is shown on: what it can render
	Caller  string    // the caller's own system message
	Tools   []string  // names of the tools the turn has
	Group   bool      // several people write; user messages begin with their names
	Lang    string    // BCP 47 tag of the person's language
	Notes   string    // memory, skills: whatever else is volatile
	Started time.Time // when the session began; only the date is used
}

// Builder makes system prompts. Safe for concurrent use.
type Builder struct{ o Options }

// New returns a Builder.
func New(o Options) *Builder { return &Builder{o} }

// System builds the prompt of a session.
func (b *Builder) System(in Input) string { return b.o.Identity }

// WireOptions configure a wire copy.
type WireOptions struct {
	Model     string
	MaxOutput int
	User      string
	Tools     []provider.Tool
	Reasoning bool // keep the reasoning of assistant messages
	Alternate bool // roles must alternate: merge neighbours
	// Image returns the picture of an attachment; nil, or false, leaves a note in its place.
	Image func(core.Attachment) (provider.Image, bool)
}

// Wire makes the wire copy of a transcript.
func Wire(system string, history []core.Message, o WireOptions) provider.Request {
	return provider.Request{Model: o.Model, System: system, Tools: o.Tools}
}

// APIText returns what the model gets for a submission: the reply context, the author's name in groups, the text.
func APIText(s core.Submission) string { return s.Text }

// Tokens estimates the size of a request.
func Tokens(r provider.Request) int { return 0 }

// Meter calibrates the estimate with what providers report. Safe for concurrent use.
type Meter struct{}

// Tokens estimates the size of a request for its model.
func (m *Meter) Tokens(r provider.Request) int { return Tokens(r) }

// Learn takes what the provider counted for r.
func (m *Meter) Learn(r provider.Request, u core.Usage) {}
