package command

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/stream/markup"
)

// Call is one command as it was given.
type Call struct {
	By           core.Principal
	Key          core.Key
	Conversation core.Conversation // the zero value: nobody spoke there yet
	Name, Args   string            // the name without the slash, lower case
	Route        core.Route
	Group        bool
	Rich         bool // the door shows more than text
	Submission   core.Submission
	Early        bool // its row is not stored yet
	Again        bool // a process that died may have run it already
	// Asked is when a call that is repeated was made: it means nothing that came later, unless it names it. Zero: now.
	Asked time.Time
}

// later reports whether something came after a call that is repeated, so that it was not meant.
func (c Call) later(at time.Time) bool { return !c.Asked.IsZero() && !at.Before(c.Asked) }

// Answer is what a command says. Submit, when set, becomes a turn.
type Answer struct {
	Text    string // Markdown
	Buttons []core.Button
	Stopped bool             // what ran was stopped
	Ended   core.AdmissionID // that; empty when it had not begun
	Submit  *core.Submission
	Busy    string // how Submit meets a running turn: queue or steer; "" is the conversation's own mode
}

func say(text string) (Answer, error) { return Answer{Text: text}, nil }

// Command is one row of the table.
type Command struct {
	Name   string
	Args   string // as shown in the help: "[text]"
	About  string // one line
	Admin  bool   // admins only
	Inline bool   // runs while a turn runs
	Rebind bool   // points the key to another conversation: what follows must be admitted after it has run
	Halts  bool   // without arguments it stops what runs and does nothing else, so that it may run before it is stored
	Later  bool   // belongs to a later version: it says so, and is in no menu
	run    func(t *Table, ctx context.Context, c Call) (Answer, error)
}

// commands is the registry, in the order of the help.
func commands() []Command {
	return []Command{
		{Name: "help", About: "what I can do", Inline: true, run: (*Table).help},
		{Name: "new", About: "start a new conversation", Inline: true, Rebind: true, run: (*Table).fresh},
		{Name: "stop", Args: "[all]", About: "stop what I am doing; all also clears the queue", Inline: true, Halts: true, run: (*Table).stop},
		{Name: "status", About: "what I am doing now", Inline: true, run: (*Table).status},
		{Name: "queue", Args: "[text|list|edit N text|rm N|clear]", About: "messages that wait", Inline: true, run: (*Table).queue},
		{Name: "steer", Args: "text", About: "tell the running turn something", Inline: true, run: (*Table).steer},
		{Name: "approve", Args: "[id] [once|session|always]", About: "allow what I ask about", Inline: true, run: (*Table).approve},
		{Name: "deny", Args: "[id] [reason]", About: "refuse what I ask about", Inline: true, run: (*Table).deny},
		{Name: "resolve", Args: "[id] done|retry|drop", About: "say what became of a turn that was cut off", Inline: true, run: (*Table).resolve},
		{Name: "model", Args: "[name]", About: "which model answers", Inline: true, run: (*Table).model},
		{Name: "busy", Args: "[queue|steer|interrupt]", About: "what a message does while I work", Inline: true, run: (*Table).busy},
		{Name: "usage", About: "what this conversation has cost", Inline: true, run: (*Table).usage},
		{Name: "whoami", About: "who you are to me", Inline: true, run: (*Table).whoami},
		{Name: "start", About: "say hello", Inline: true, run: (*Table).start},
		{Name: "btw", Args: "question", Later: true}, {Name: "background", Args: "task", Later: true},
		{Name: "retry", Later: true}, {Name: "undo", Args: "[n]", Later: true}, {Name: "title", Args: "[text]", Later: true},
		{Name: "sessions", Later: true}, {Name: "resume", Args: "NAME", Later: true}, {Name: "branch", Later: true},
		{Name: "compact", Later: true},
		{Name: "allow", Args: "[person]", About: "let a person in, or list who may talk", Admin: true, Inline: true, run: (*Table).allow},
		{Name: "pair", Args: "[list|approve CODE|revoke PERSON]", About: "people who asked to be let in", Admin: true, Inline: true, run: (*Table).pair},
		{Name: "platform", Args: "list|pause|resume", Admin: true, Later: true}, {Name: "approvals", Admin: true, Later: true},
		{Name: "restart", Admin: true, Later: true}, {Name: "log", Admin: true, Later: true},
	}
}

// Table is the registry over what its commands work on. Safe for concurrent use.
type Table struct {
	deps   Deps
	list   []Command
	byName map[string]Command
}

// New makes the table.
func New(d Deps) *Table {
	t := &Table{deps: d, list: commands(), byName: map[string]Command{}}
	for _, c := range t.list {
		t.byName[c.Name] = c
	}
	return t
}

// Find returns a command by its name without the slash, in any case.
func (t *Table) Find(name string) (Command, bool) {
	c, ok := t.byName[strings.ToLower(name)]
	return c, ok
}

// Run runs one command. An unknown one, and one that the caller may not use, is answered in words, not by an error. Errors
// are those of what the command worked on; see Words.
func (t *Table) Run(ctx context.Context, c Call) (Answer, error) {
	row, ok := t.Find(c.Name)
	switch {
	case !ok:
		return say(t.unknown(c))
	case row.Admin && !c.By.Admin:
		return say("`/" + row.Name + "` is for admins of this gateway.")
	case row.Later:
		return say("`/" + row.Name + "` is not in this version yet. `/help` lists what is.")
	}
	return row.run(t, ctx, c)
}

// List returns the rows of the table in order, those of later versions too.
func (t *Table) List() []Command { return slices.Clone(t.list) }

// MenuItem is one line of a platform's command menu.
type MenuItem struct {
	Name, About string
	Admin       bool
}

// Menu lists the commands for a platform's menu. lang is kept for translations; there is one language so far.
func (t *Table) Menu(lang string) []MenuItem {
	var items []MenuItem
	for _, c := range t.list {
		if !c.Later && c.Name != "start" {
			items = append(items, MenuItem{Name: c.Name, About: c.About, Admin: c.Admin})
		}
	}
	return items
}

// unknown is the answer to a command that nobody knows, with the one that was probably meant.
func (t *Table) unknown(c Call) string {
	name := markup.Clip(c.Name, 32)
	best, at := "", 3
	for _, row := range t.list {
		if row.Later || row.Admin && !c.By.Admin {
			continue
		}
		if d := distance(c.Name, row.Name); d < at {
			best, at = row.Name, d
		}
	}
	text := "I do not know `/" + strings.ReplaceAll(name, "`", "'") + "`."
	if best != "" {
		text += " Did you mean `/" + best + "`?"
	}
	return text + " `/help` lists what I know. To send it as text, put something before the slash."
}

// distance is the number of single changes between two short words; long ones are far.
func distance(a, b string) int {
	if len(a) > 20 || len(b) > 20 {
		return 20
	}
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := prev[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, prev[j+1]+1, row[j]+1)
		}
		prev = row
	}
	return prev[len(b)]
}

// word takes the first word off args.
func word(args string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimSpace(args), " ")
	return first, strings.TrimSpace(rest)
}

func (t *Table) help(_ context.Context, c Call) (Answer, error) {
	var b strings.Builder
	b.WriteString("Just write to me. While I work, what you write waits its turn.\n\n")
	for _, row := range t.list {
		if row.Later || row.Admin && !c.By.Admin || row.Name == "start" {
			continue
		}
		usage := strings.TrimSpace("/" + row.Name + " " + row.Args)
		b.WriteString("- `" + usage + "` – " + row.About + "\n")
	}
	return say(b.String())
}

func (t *Table) start(_ context.Context, c Call) (Answer, error) {
	hello := "Hello"
	if name := named(c.By.Name); name != "" {
		hello += ", " + name
	}
	return say(hello + ". Write to me as you would to a colleague; `/help` lists what else I can do.")
}

func (t *Table) whoami(_ context.Context, c Call) (Answer, error) {
	role := "a user"
	if c.By.Admin {
		role = "an admin"
	}
	text := "You are `" + string(c.By.ID) + "`, " + role + " here.\nThis place is `" + string(c.Key) + "`"
	if c.Conversation.ID != "" {
		text += ", its session `" + string(c.Conversation.ID) + "`"
	}
	return say(text + "." + cmp.Or(version(t.deps.Version), ""))
}

func version(v string) string {
	if v == "" {
		return ""
	}
	return "\nbellhop " + v
}
