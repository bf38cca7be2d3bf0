package stream

import (
	"strings"

	"bellhop/core"
)

// script is what the turn has said so far: blocks of text in order, of which the last may go on. Those that were painted
// for good are taken off the front.
type script struct {
	blocks []*block
	rev    int // rises with every change
}

// block is text between two tool boundaries.
type block struct {
	f      *filter
	sealed bool // no more text comes
	reset  int  // rises when text was replaced rather than added
}

func (b *block) text() string  { return b.f.text() }
func (b *block) visible() bool { return strings.TrimSpace(b.text()) != "" }

// set replaces the text. When the new one only goes on from the old one, nothing was retracted.
func (b *block) set(text string, whole bool) {
	f := &filter{}
	f.add(text)
	if whole {
		f.end()
	}
	if !strings.HasPrefix(f.text(), b.text()) {
		b.reset++
	}
	b.f = f
}

// last is the block under way.
func (s *script) last() *block {
	if n := len(s.blocks); n > 0 && !s.blocks[n-1].sealed {
		return s.blocks[n-1]
	}
	b := &block{f: &filter{}}
	s.blocks = append(s.blocks, b)
	return b
}

// seal ends the block under way. With hide its text is retracted, to be replaced by what follows.
func (s *script) seal(hide bool) {
	b := s.last()
	switch {
	case hide:
		b.set("", false)
	case b.f.out.Len() > 0 || b.f.held != "":
		b.f.end()
		b.sealed = true
	}
}

// take applies an event. It reports whether anything changed.
func (s *script) take(e core.Event, hide bool) bool {
	switch e.Type {
	case core.MessageDelta:
		s.last().f.add(e.Text)
	case core.MessageReset:
		s.last().set(e.Text, false)
	case core.MessageInterim:
		if strings.TrimSpace(e.Text) != "" {
			s.last().set(e.Text, true)
		}
		s.seal(hide)
	case core.ToolStart, core.ApprovalRequest, core.ClarifyRequest, core.SudoRequest, core.SecretRequest:
		s.seal(hide)
	default:
		return false
	}
	s.rev++
	return true
}
