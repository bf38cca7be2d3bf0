package prompt

import (
	"cmp"
	"strings"
	"time"
)

const (
	defaultFile = 16 << 10 // bytes of a project file
	identity    = "You are bellhop, a capable assistant that people talk to in chats. You can use tools to act for them."
	conduct     = `Answer in the language of the person. Be brief and concrete; lead with the result. Use tools when they help, and report
what they really said. Never claim that something was done unless a tool result shows it. When a result says that an
outcome is unknown, check before repeating the action. Ask when a request could mean two things that differ in effect.`
	groupNote = "Several people take part. Each of their messages begins with the name of its author."
)

// Options configure a Builder.
type Options struct {
	Identity  string   // who the agent is, from the configuration; empty: a default
	Workspace string   // absolute path of the folder the agent works in; empty: none
	Files     []string // project files of the workspace to include, relative; nil: AGENTS.md
	MaxFile   int      // bytes of one project file; 0: 16 KiB
}

// Input is what one session adds.
type Input struct {
	Hint     string    // about the surface that shows the answer: what it can render, how long messages may be
	Caller   string    // the caller's own system message
	Group    bool      // several people write; APIText puts their names before their messages
	Lang     string    // BCP 47 tag of the person's language
	Notes    string    // memory, skills: whatever else is volatile
	Started  time.Time // when the session began; only the date is used; zero: no date
	Previous string    // prompt of the segment before this one: its workspace block stays as it is
}

// Builder makes system prompts. Safe for concurrent use.
type Builder struct{ o Options }

// New returns a Builder.
func New(o Options) *Builder {
	o.Identity = cmp.Or(o.Identity, identity)
	o.MaxFile = cmp.Or(o.MaxFile, defaultFile)
	if o.Files == nil {
		o.Files = []string{"AGENTS.md"}
	}
	return &Builder{o}
}

// System builds the prompt of a session from its three layers. It reads the workspace; files that are missing or cannot be
// read are left out.
func (b *Builder) System(in Input) string {
	var blocks []string
	add := func(text string) {
		if text = clean(strings.TrimSpace(text)); text != "" {
			blocks = append(blocks, text)
		}
	}
	add(b.o.Identity)
	add(conduct)
	add(b.workspace(in.Previous))
	add(in.Hint)
	if in.Group {
		add(groupNote)
	}

	add(in.Caller)
	for _, f := range b.projectFiles() {
		add(f)
	}

	add(in.Notes)
	if in.Lang != "" {
		add("The person's language is " + in.Lang + ".")
	}
	if !in.Started.IsZero() {
		add("This conversation began on " + in.Started.UTC().Format("Monday, 2 January 2006") + " (UTC).")
	}
	return strings.Join(blocks, "\n\n")
}
