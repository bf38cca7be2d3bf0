package stream

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"bellhop/stream/markup"
)

// page is a text from which the first piece is to be cut. Its lines are read as far as they are needed.
type page struct {
	text  string // the inserted prefix and as much of the rest as the window shows
	from  int    // length of the prefix
	whole bool   // the window shows all
	in    carry
	moved []int // where in text a blank of the rest was left out
	lines []line
	sc    markup.Scanner
	read  int // bytes of text that lines covers
}

// line is a line of the page and what stands before it.
type line struct {
	start int
	kind  markup.LineKind
	state markup.Scanner // before the line
	first bool           // the line begins a block of inline text
	table string         // heading and rule of the table in which the line is a row
}

func newPage(rest string, in carry, window int) *page {
	p := &page{in: in, from: len(in.prefix), whole: window >= len(rest)}
	if !p.whole {
		for window > 0 && !utf8.RuneStart(rest[window]) {
			window--
		}
		rest = rest[:window]
	}
	switch {
	case in.prefix == "":
		p.text = rest
	case in.outdent > 0:
		p.outdent(rest, in)
	default:
		p.text = in.prefix + rest
	}
	return p
}

// outdent takes the blanks that belonged to a list item off the lines of the code block with which the page begins.
func (p *page) outdent(rest string, in carry) {
	var b strings.Builder
	var sc markup.Scanner
	sc.Line(strings.TrimSuffix(in.prefix, "\n"))
	b.WriteString(in.prefix)
	for first := true; rest != "" && sc.Fence() != nil; first = false {
		l, _, _ := strings.Cut(rest, "\n")
		n := 0
		for n < len(l) && n < in.outdent && l[n] == ' ' && !(first && in.inLine) {
			p.moved = append(p.moved, b.Len())
			n++
		}
		sc.Line(l[n:])
		end := min(len(l)+1, len(rest))
		b.WriteString(rest[n:end])
		rest = rest[end:]
	}
	b.WriteString(rest)
	p.text = b.String()
}

// pastCloser skips the line that closes a code block at end: the piece before has it already, and an empty block would be
// opened for it.
func (p *page) pastCloser(end int) int {
	l := p.lineAt(end)
	if l.start == end && l.kind == markup.FenceLine && l.state.Fence() != nil {
		line, _, _ := strings.Cut(p.text[end:], "\n")
		return min(end+len(line)+1, len(p.text))
	}
	return end
}

// outdents is how far the code at end was moved, if it is still the block with which the page began.
func (p *page) outdents(end int) int {
	for i, l := range p.lines {
		if i > 0 && l.kind == markup.FenceLine && l.start < end {
			return 0
		}
	}
	return p.in.outdent
}

// origin is where in the rest the text at end comes from.
func (p *page) origin(end int) int {
	return end - p.from + sort.SearchInts(p.moved, end)
}

// scan reads lines up to and with the one at end.
func (p *page) scan(end int) {
	for p.read <= end && p.read < len(p.text) {
		s, _, broken := strings.Cut(p.text[p.read:], "\n")
		l := line{start: p.read, state: p.sc, first: true}
		l.kind = p.sc.Line(s)
		p.read += len(s)
		if broken {
			p.read++
		}
		if n := len(p.lines); n > 0 {
			l.first = !markup.Continues(p.lines[n-1].kind, l.kind)
			l.table = p.table(l, n)
		}
		p.lines = append(p.lines, l)
	}
}

// table returns the heading that must be repeated when the text is cut before line l, the n-th.
func (p *page) table(l line, n int) string {
	if l.kind != markup.RowLine {
		return ""
	}
	if t := p.lines[n-1].table; t != "" {
		return t
	}
	if n >= 2 && p.lines[n-2].kind == markup.RowLine && p.lines[n-1].kind == markup.RowLine {
		if rule := p.text[p.lines[n-1].start:l.start]; strings.Trim(rule, "|:- \n\r") == "" && strings.Contains(rule, "-") {
			return p.text[p.lines[n-2].start:l.start]
		}
	}
	return ""
}

// lineAt returns the line that contains the byte at end, or the last one.
func (p *page) lineAt(end int) line {
	p.scan(end)
	i := sort.Search(len(p.lines), func(i int) bool { return p.lines[i].start > end })
	if i == 0 {
		return line{}
	}
	return p.lines[i-1]
}

// stateAt is where the text stands at end, which may be inside a line.
func (p *page) stateAt(end int) markup.Scanner {
	l := p.lineAt(end)
	if l.start < end {
		l.state.Line(strings.TrimSuffix(p.text[l.start:end], "\n"))
	}
	return l.state
}

// at is the piece that ends at end: with the suffix, and an open fence closed.
func (p *page) at(end int, suffix string) string {
	body := p.text[:end]
	if suffix != "" {
		body = strings.TrimRight(body, " \t\n") + suffix
	}
	state := p.stateAt(end)
	if f := state.Fence(); f != nil {
		if !strings.HasSuffix(body, "\n") {
			body += "\n"
		}
		body += f.Closer()
	}
	return body
}

// least is the smallest end that takes anything.
func (p *page) least() int { return p.runeEnd(p.from) }

// runeStart moves i back to the start of a rune.
func (p *page) runeStart(i int) int {
	for i > p.from && i < len(p.text) && !utf8.RuneStart(p.text[i]) {
		i--
	}
	return max(i, p.from)
}

// runeEnd is the end of the rune at i.
func (p *page) runeEnd(i int) int {
	_, n := utf8.DecodeRuneInString(p.text[i:])
	return i + n
}

// grapheme moves end back to a boundary between graphemes; p.from when there is none. Between two ASCII characters there
// always is one, so that is where it starts to look.
func (p *page) grapheme(end int) int {
	if end >= len(p.text) {
		return len(p.text)
	}
	at := end
	for at > p.from && (at == end || p.text[at] >= utf8.RuneSelf || p.text[at-1] >= utf8.RuneSelf || p.text[at] == '\n') {
		at--
	}
	state, rest, c := -1, p.text[at:], ""
	for rest != "" {
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if at+len(c) > end {
			return at
		}
		at += len(c)
	}
	return at
}
