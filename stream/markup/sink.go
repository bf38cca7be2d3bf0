package markup

import (
	"strings"
	"unicode/utf8"
)

// UTF16 counts the UTF-16 code units of s.
func UTF16(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// sink collects output. Line breaks wait until text follows, and so do opening tags: nothing ends in blank lines and no
// element is empty.
type sink struct {
	b       strings.Builder
	escape  bool // of & < >
	measure bool // count only
	units   int  // UTF-16 units of visible text
	breaks  int
	indent  int
	opens   []string // tags not written yet
}

// text writes visible text.
func (s *sink) text(t string) {
	if t == "" {
		return
	}
	s.flush(s.indent)
	s.units += UTF16(t)
	if s.measure {
		return
	}
	if s.escape {
		t = escaper.Replace(t)
	}
	s.b.WriteString(t)
}

// br asks for at least n line breaks before the next text.
func (s *sink) br(n int) {
	if s.units > 0 {
		s.breaks = max(s.breaks, n)
	}
}

// flush writes what waited.
func (s *sink) flush(indent int) {
	if s.breaks > 0 {
		s.raw(strings.Repeat("\n", s.breaks) + strings.Repeat(" ", indent))
		s.units += s.breaks + indent
		s.breaks = 0
	}
	for _, t := range s.opens {
		s.raw(t)
	}
	s.opens = s.opens[:0]
}

func (s *sink) raw(t string) {
	if !s.measure {
		s.b.WriteString(t)
	}
}

func (s *sink) open(tag string) {
	if tag != "" {
		s.opens = append(s.opens, tag)
	}
}

// close ends the element opened last; an element without text was never there.
func (s *sink) close(tag string) {
	switch {
	case tag == "":
	case len(s.opens) > 0:
		s.opens = s.opens[:len(s.opens)-1]
	default:
		s.raw(tag)
	}
}

var (
	escaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	quoteAttr = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
)

// valid replaces NUL and bytes that are no UTF-8, which no platform takes.
func valid(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}
