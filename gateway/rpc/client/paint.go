package client

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// painter writes a turn to a terminal or a file: the answer to out, everything else to err. With json it writes events as
// lines to out and nothing else.
type painter struct {
	out, err io.Writer
	json     bool

	shown string  // of the text under way
	redo  *string // what came so far of a text that is told once more; nil: none is
}

// begin forgets the turn before.
func (p *painter) begin() { p.shown, p.redo = "", nil }

// again says that the turn begins its text once more, because its process died: what it says as before is not repeated.
func (p *painter) again() { p.redo = new(string) }

// delta shows a piece of text.
func (p *painter) delta(text string) {
	if p.redo == nil {
		p.shown += text
		fmt.Fprint(p.out, text)
		return
	}
	*p.redo += text
	if whole := *p.redo; !strings.HasPrefix(p.shown, whole) { // it is past what is shown, or another text
		p.all(whole)
	}
}

func (p *painter) prompt() {
	if !p.json {
		fmt.Fprint(p.err, "> ")
	}
}

func (p *painter) ask(hint string) {
	if !p.json {
		fmt.Fprint(p.err, hint)
	}
}

// note writes a line beside the answer.
func (p *painter) note(format string, args ...any) {
	if !p.json {
		fmt.Fprintf(p.err, format+"\n", args...)
	}
}

// command shows what a command said.
func (p *painter) command(text string) {
	if text != "" && !p.json {
		fmt.Fprintln(p.out, strings.TrimRight(text, "\n"))
	}
}

// beside shows news of another turn: in JSON all of it, for people nothing.
func (p *painter) beside(e Event) {
	if p.json && e.Raw != nil {
		fmt.Fprintf(p.out, "%s\n", e.Raw)
	}
}

// on shows one event of the own turn.
func (p *painter) on(e Event) {
	if p.json {
		p.beside(e)
		return
	}
	var b struct {
		Text    string `json:"text"`
		Name    string `json:"name"`
		Context string `json:"context"`
		Summary string `json:"summary"`
		Message string `json:"message"`
	}
	if json.Unmarshal(e.Payload, &b) != nil {
		return
	}
	switch e.Type {
	case "message.delta":
		p.delta(b.Text)
	case "message.reset":
		p.all(b.Text)
	case "message.interim":
		p.all(b.Text)
		p.newline()
		p.begin()
	case "tool.start":
		p.newline()
		p.begin()
		p.note("· %s %s", b.Name, b.Context)
	case "tool.complete":
		p.note("  %s", b.Summary)
	case "status.update", "error":
		p.note("%s", b.Message)
	}
}

// end shows the rest of the answer and says how the turn ended.
func (p *painter) end(e Event) error {
	var b struct {
		Text    string `json:"text"`
		Status  string `json:"status"`
		Warning string `json:"warning"`
	}
	if err := json.Unmarshal(e.Payload, &b); err != nil {
		return err
	}
	if !p.json {
		if b.Status == "complete" || p.shown == "" {
			p.all(b.Text)
		}
		p.newline()
		if b.Warning != "" {
			p.note("%s", b.Warning)
		}
	}
	switch b.Status {
	case "interrupted":
		return ErrInterrupted
	case "error":
		return ErrFailed
	}
	return nil
}

// all makes text what is shown. What was written cannot be taken back: when it differs, the whole text follows it.
func (p *painter) all(text string) {
	rest, ok := strings.CutPrefix(text, p.shown)
	if !ok {
		p.newline()
		p.note("(corrected:)")
	}
	fmt.Fprint(p.out, rest)
	p.shown, p.redo = text, nil
}

func (p *painter) newline() {
	if p.shown != "" && !strings.HasSuffix(p.shown, "\n") {
		fmt.Fprintln(p.out)
		p.shown += "\n"
	}
}
