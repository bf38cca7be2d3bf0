package markup

import "strings"

// Fence is an open fenced code block.
type Fence struct {
	Quote  string // what precedes the fence on each line of a block quote
	Indent int    // blanks before the fence
	Run    string // the fence itself
	Info   string
	list   int // content column of the list item it stands in
}

// Opener is the line that opens the block again in another message, where its list item does not exist. Without info it
// is as short as can be.
func (f *Fence) Opener(info bool) string {
	s := f.Quote + strings.Repeat(" ", min(f.Indent, 3)) + f.Run
	if info {
		s += f.Info
	}
	return s
}

// Closer is the line that ends the block.
func (f *Fence) Closer() string { return f.Quote + strings.Repeat(" ", f.Indent) + f.Run }

// Outdent returns the blanks that lines of the block must lose after Opener, which indents by three at most.
func (f *Fence) Outdent() int {
	if f.Indent > 3 {
		return f.Indent - 3
	}
	return 0
}

// LineKind is what a line is to those who look for a place to cut.
type LineKind uint8

const (
	TextLine    LineKind = iota
	BlankLine            //
	HeadingLine          //
	ItemLine             // begins a list item
	QuoteLine            //
	RowLine              // has a cell mark: perhaps a table's
	FenceLine            // opens or closes a fence
	CodeLine             // inside a fence
)

// Scanner follows the block structure line by line: fences by the rule of CommonMark, and as much of quotes and list items
// as that needs. The zero Scanner stands at the beginning of a text. It is a value: a copy is a place to come back to.
type Scanner struct {
	fence Fence
	in    bool
	lists [8]int // content columns of the open list items
	n     int
	blank bool // the last line was blank
}

// Fence returns the open fence, or nil.
func (s *Scanner) Fence() *Fence {
	if !s.in {
		return nil
	}
	f := s.fence
	return &f
}

// Line takes the next line, without its line break.
func (s *Scanner) Line(line string) LineKind {
	quote, rest := cutQuote(line)
	if s.in {
		if kind, ok := s.code(quote, rest); ok {
			return kind
		}
	}
	blank := strings.TrimSpace(rest) == ""
	defer func() { s.blank = blank }()
	if blank {
		return BlankLine
	}
	return s.text(quote, rest)
}

// code takes a line inside the fence; ok is false when the line ends what the fence stands in.
func (s *Scanner) code(quote, rest string) (kind LineKind, ok bool) {
	f := &s.fence
	indent, body := cutIndent(rest)
	if (f.Quote != "") != (quote != "") || body != "" && indent < f.list {
		s.in = false
		return 0, false
	}
	n := runOf(body, f.Run[0])
	if n >= len(f.Run) && indent <= f.list+3 && strings.TrimSpace(body[n:]) == "" {
		s.in = false
		return FenceLine, true
	}
	return CodeLine, true
}

// text takes a line outside of fences.
func (s *Scanner) text(quote, rest string) LineKind {
	indent, body := cutIndent(rest)
	starts := startsBlock(body)
	for s.n > 0 && indent < s.lists[s.n-1] && (s.blank || starts) {
		s.n--
	}
	indent, body, item := s.items(indent, body)
	column := 0
	if s.n > 0 {
		column = s.lists[s.n-1]
	}
	f, fence := opener(body)
	switch {
	case fence && indent-column < 4:
		f.Quote, f.Indent, f.list = quote, indent, column
		s.fence, s.in = f, true
		return FenceLine
	case item:
		return ItemLine
	case heading(body):
		return HeadingLine
	case quote != "":
		return QuoteLine
	case strings.Contains(body, "|"):
		return RowLine
	}
	return TextLine
}

// items opens the list items whose markers the line begins with, and returns what follows them.
func (s *Scanner) items(indent int, body string) (column int, rest string, any bool) {
	for w := marker(body); w > 0; w = marker(body) {
		more, after := cutIndent(body[w:])
		if more == 0 || more > 4 || after == "" {
			more = 1
		}
		indent += w + more
		if s.n < len(s.lists) {
			s.lists[s.n] = indent
			s.n++
		}
		body, any = after, true
	}
	return indent, body, any
}

// cutQuote splits the marks of block quotes off a line.
func cutQuote(line string) (quote, rest string) {
	end := 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '>' && (i > 0 && line[i-1] == '>' || quoteMark(line[i:])):
			end = i + 1
			if end < len(line) && line[end] == ' ' {
				end++
				i++
			}
			continue
		case line[i] == ' ' && i-end < 3:
			continue
		}
		break
	}
	return line[:end], line[end:]
}

// cutIndent splits leading blanks off; a tab counts up to the next multiple of four.
func cutIndent(s string) (columns int, rest string) {
	for i := range len(s) {
		switch s[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns, s[i:]
		}
	}
	return columns, ""
}

// marker returns the width of a list marker at the beginning of s, 0 when there is none.
func marker(s string) int {
	n := 0
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	switch {
	case n == len(s):
		return 0
	case n == 0 && (s[0] == '-' || s[0] == '*' || s[0] == '+'), n > 0 && (s[n] == '.' || s[n] == ')'):
		n++
	default:
		return 0
	}
	if n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// opener reads the line that begins a fence. The info string of a backtick fence has no backticks.
func opener(s string) (Fence, bool) {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return Fence{}, false
	}
	n := runOf(s, s[0])
	info := strings.TrimRight(s[n:], " \t\r")
	if n < 3 || s[0] == '`' && strings.Contains(info, "`") {
		return Fence{}, false
	}
	return Fence{Run: s[:n], Info: info}, true
}

func heading(s string) bool {
	n := runOf(s, '#')
	return n > 0 && n < 7 && (n == len(s) || s[n] == ' ')
}

func startsBlock(s string) bool {
	if _, ok := opener(s); ok {
		return true
	}
	return marker(s) > 0 || heading(s)
}

// runOf counts how often s begins with c.
func runOf(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}
