package stream

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
)

// ToolDisplay is how tools show while they run: one status message per turn, a plain line a tool, no arguments.
type ToolDisplay struct {
	Off   bool
	After time.Duration            // how long a tool runs before anything shows; default 1.2 s
	Lines int                      // at most; default 4
	Keep  bool                     // leave the status message at the end
	Verb  func(tool string) string // what a person reads; default Verb
}

// Verb says in plain words what a tool does.
func Verb(tool string) string {
	for _, w := range [...]struct{ prefix, words string }{
		{"shell", "Running a command"}, {"read", "Reading a file"}, {"write", "Writing a file"}, {"edit", "Editing a file"},
		{"patch", "Editing a file"}, {"list", "Looking through files"}, {"search", "Searching"}, {"grep", "Searching"},
		{"web_search", "Searching the web"}, {"web", "Reading a page"}, {"fetch", "Reading a page"}, {"todo", "Planning"},
		{"memory", "Remembering"}, {"agent", "Asking a helper"},
	} {
		if strings.HasPrefix(tool, w.prefix) {
			return w.words
		}
	}
	return "Using " + strings.ReplaceAll(tool, "_", " ")
}

// StatusWaiting is the Status of a core.StatusUpdate that says in Text what a turn waits for that is silent. It is a line
// like that of a tool, shown at once and changed by the next one; any other news takes it away. While a tool runs there is
// none.
const StatusWaiting = "waiting"

// tools follows the tool calls of a turn.
type tools struct {
	o       ToolDisplay
	lines   []toolLine
	waiting bool // the last line is of StatusWaiting
	rev     int
}

// toolLine is one line: consecutive calls that read the same.
type toolLine struct {
	words   string
	calls   int
	running []string // their ids
	since   time.Time
}

// take applies an event at a time. It reports whether anything changed.
func (t *tools) take(e core.Event, now time.Time) bool {
	if e.Type == core.StatusUpdate {
		return e.Status == StatusWaiting && t.wait(e.Text, now)
	}
	ended := t.endWait()
	switch e.Type {
	case core.ToolStart:
		t.start(e, now)
	case core.ToolComplete:
		for i := range t.lines {
			t.lines[i].running = slices.DeleteFunc(t.lines[i].running, func(id string) bool { return id == e.Call })
		}
	default:
		return ended
	}
	t.rev++
	return true
}

// wait shows what a silent turn waits for.
func (t *tools) wait(words string, now time.Time) bool {
	if !t.waiting {
		if !t.due().IsZero() { // a tool runs
			return false
		}
		t.add(toolLine{calls: 1, running: []string{StatusWaiting}, since: now.Add(-t.o.After)})
	}
	t.waiting, t.lines[len(t.lines)-1].words = true, words
	t.rev++
	return true
}

// endWait takes the line of wait away.
func (t *tools) endWait() bool {
	if !t.waiting {
		return false
	}
	t.waiting, t.lines = false, t.lines[:len(t.lines)-1]
	t.rev++
	return true
}

func (t *tools) add(l toolLine) {
	t.lines = append(t.lines, l)
	if extra := len(t.lines) - 2*t.o.Lines; extra > 0 {
		t.lines = slices.Delete(t.lines, 0, extra)
	}
}

func (t *tools) start(e core.Event, now time.Time) {
	words := t.o.Verb(e.Name)
	if n := len(t.lines); n > 0 && t.lines[n-1].words == words {
		l := &t.lines[n-1]
		if len(l.running) == 0 {
			l.since = now
		}
		l.calls++
		l.running = append(l.running, e.Call)
		return
	}
	t.add(toolLine{words: words, calls: 1, running: []string{e.Call}, since: now})
}

// due is when a tool has run for long enough to be shown; the zero time when none runs.
func (t *tools) due() (at time.Time) {
	for _, l := range t.lines {
		if due := l.since.Add(t.o.After); len(l.running) > 0 && (at.IsZero() || due.Before(at)) {
			at = due
		}
	}
	return at
}

// text is the status message.
func (t *tools) text() string {
	var b strings.Builder
	for _, l := range t.lines[max(0, len(t.lines)-t.o.Lines):] {
		mark := "✓ "
		if len(l.running) > 0 {
			mark = "⏳ "
		}
		b.WriteString(mark + l.words)
		if l.calls > 1 {
			b.WriteString(" ×" + strconv.Itoa(l.calls))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}
