package openai

import "strings"

// piece kinds of a splitter.
type shown uint8

const (
	visible shown = iota
	hidden
	recant // all visible text so far was reasoning
)

type fragment struct {
	kind shown
	text string
}

var (
	openers = []string{"<think>", "<thinking>", "<thought>"}
	closers = []string{"</think>", "</thinking>", "</thought>"}
)

type place uint8

const (
	atHead  place = iota // nothing visible yet
	inside               // a block
	inBody               // visible text, in which tags may still count
	settled              // visible text, in which they do not
)

// splitter tells reasoning in think tags from visible text, however the stream cuts it. It holds back only what may still
// become a tag: blanks at the head and an unfinished tag.
//
//	head --opener--> inside --closer--> head --text--> body | settled
//	body --closer without an opener, outside code (auto)--> recant, head
//	body --opener outside code (any)--> inside --closer--> body
type splitter struct {
	policy Think
	at     place
	pend   string
	block  bool // there was a block already
	said   bool // visible text was handed out
	depth  int  // openers in the visible text that wait for their closers
	code   code
}

func newSplitter(p Think) *splitter {
	s := &splitter{policy: p}
	switch p {
	case ThinkOff:
		s.at = settled
	case ThinkOpen:
		s.at = inside
	}
	return s
}

// plainOnly is told when the endpoint sends reasoning in a field of its own: a closer without an opener is then text.
func (s *splitter) plainOnly() { s.block = true }

// add appends to out what is decided after more text has come.
func (s *splitter) add(text string, out []fragment) []fragment {
	if s.at == settled {
		return s.emit(out, visible, text)
	}
	text, s.pend = s.pend+text, ""
	for text != "" {
		switch s.at {
		case atHead:
			text, out = s.head(text, out)
		case inside:
			text, out = s.thought(text, out)
		case inBody:
			text, out = s.body(text, out)
		case settled:
			return s.emit(out, visible, text)
		}
	}
	return out
}

// end hands out what was held back when the stream ends.
func (s *splitter) end(out []fragment) []fragment {
	kind := visible
	if s.at == inside {
		kind = hidden
	}
	if s.at == atHead && s.block {
		s.pend = strings.TrimSpace(s.pend)
	}
	return s.emit(out, kind, s.pend)
}

func (s *splitter) emit(out []fragment, kind shown, text string) []fragment {
	if text == "" {
		return out
	}
	s.said = s.said || kind == visible
	return append(out, fragment{kind, text})
}

func (s *splitter) head(text string, out []fragment) (rest string, _ []fragment) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	n, partial := tag(trimmed, openers)
	if n == 0 && !partial && s.policy == ThinkAuto {
		if c, p := tag(trimmed, closers); c > 0 || p { // an empty plan without an opener
			s.block = s.block || c > 0
			if c > 0 {
				return trimmed[c:], out
			}
			partial = true
		}
	}
	switch {
	case n > 0:
		s.at, s.block = inside, true
		return trimmed[n:], out
	case partial || trimmed == "":
		s.pend = text
		return "", out
	case s.block:
		text = trimmed
	}
	s.at = inBody
	if s.policy == ThinkOpen || s.policy == ThinkAuto && s.block {
		s.at = settled
	}
	return text, out
}

func (s *splitter) thought(text string, out []fragment) (rest string, _ []fragment) {
	for i := 0; ; i++ {
		next := strings.IndexByte(text[i:], '<')
		if next < 0 {
			return "", s.emit(out, hidden, text)
		}
		i += next
		n, partial := tag(text[i:], closers)
		switch {
		case partial:
			s.pend = text[i:]
			return "", s.emit(out, hidden, text[:i])
		case n > 0:
			s.block = true
			s.at = atHead
			if s.said {
				s.at = inBody
			}
			return text[i+n:], s.emit(out, hidden, text[:i])
		}
	}
}

// body passes visible text on until a tag outside code matters.
func (s *splitter) body(text string, out []fragment) (rest string, _ []fragment) {
	for i := 0; i < len(text); i++ {
		if text[i] == '<' && !s.code.inside() {
			o, po := tag(text[i:], openers)
			c, pc := tag(text[i:], closers)
			switch {
			case po || pc:
				s.pend = text[i:]
				return "", s.emit(out, visible, text[:i])
			case o > 0 && s.policy == ThinkAny:
				s.at, s.block = inside, true
				return text[i+o:], s.emit(out, visible, text[:i])
			case o > 0:
				s.depth++
			case c > 0 && s.depth > 0:
				s.depth--
			case c > 0 && !s.block:
				return text[i+c:], s.recanted(text[:i], out)
			}
		}
		s.code.step(text[i])
	}
	return "", s.emit(out, visible, text)
}

// recanted turns everything visible so far, and the rest before the closer, into reasoning.
func (s *splitter) recanted(text string, out []fragment) []fragment {
	if s.said {
		out = append(out, fragment{kind: recant})
	}
	s.at, s.block, s.said, s.code = atHead, true, false, code{}
	return s.emit(out, hidden, text)
}

// tag returns the length of the tag that text begins with, or whether text may yet become one.
func tag(text string, tags []string) (n int, partial bool) {
	for _, t := range tags {
		if strings.HasPrefix(text, t) {
			return len(t), false
		}
		partial = partial || text != "" && strings.HasPrefix(t, text)
	}
	return 0, partial
}

// code follows Markdown far enough to know whether a place in it is code: fences of three or more backticks or tildes at
// the start of a line, and spans between equal runs of backticks, which a blank line ends.
type code struct {
	fence    byte // open fence: its character and length
	fenceLen int
	span     int // open span: length of its run
	run      int // backticks or tildes just passed
	runOf    byte
	runHead  bool // the run stands at the start of a line
	text     bool // something other than blanks stands on the line
}

func (c *code) step(x byte) {
	if c.run > 0 && x == c.runOf {
		c.run++
		return
	}
	c.settle()
	switch x {
	case '`', '~':
		c.run, c.runOf, c.runHead = 1, x, !c.text
		c.text = true
	case '\n':
		if !c.text {
			c.span = 0
		}
		c.text = false
	case ' ', '\t', '\r':
	default:
		c.text = true
	}
}

// settle decides what the run just passed was.
func (c *code) settle() {
	run := c.run
	c.run = 0
	switch {
	case run == 0:
	case c.fenceLen > 0:
		if c.runHead && c.runOf == c.fence && run >= c.fenceLen {
			c.fenceLen = 0
		}
	case c.span > 0:
		if c.runOf == '`' && run == c.span {
			c.span = 0
		}
	case run >= 3 && c.runHead:
		c.fence, c.fenceLen = c.runOf, run
	case c.runOf == '`':
		c.span = run
	}
}

func (c *code) inside() bool {
	c.settle()
	return c.fenceLen > 0 || c.span > 0
}
