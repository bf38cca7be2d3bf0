package stream

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bellhop/stream/markup"
)

// choice is a place to cut, with the inline marks that end there and begin again.
type choice struct {
	end            int
	suffix, prefix string
}

// choose finds the best cut at or before end: the last boundary of the best kind in the second half.
func (p *page) choose(end int) choice {
	half := p.from + (end-p.from)/2
	if c := p.atLine(max(half, p.from+1), end); c > 0 {
		return choice{end: c}
	}
	l := p.lineAt(p.runeStart(end - 1))
	switch {
	case l.kind == markup.FenceLine && l.start > p.from:
		return choice{end: l.start}
	case l.kind == markup.FenceLine || l.kind == markup.CodeLine:
		return choice{end: p.hard(end)}
	}
	start, block := p.block(end)
	closed, open := markup.Spans(block)
	spans := append(closed, open...)
	cover := covered(spans, len(block))
	free := func(i int) bool { return i < start || cover[i-start] == 0 }
	if c := p.inLine(max(half, l.start+1), end, free); c > 0 {
		return choice{end: c}
	}
	return p.through(end, start, spans, open)
}

// atLine finds the last line boundary from low to end outside of spans over several lines: of a block if there is one,
// but not below a heading; else of a line, a code block's too.
func (p *page) atLine(low, end int) int {
	p.scan(end)
	best := 0
	for i := len(p.lines) - 1; i > 0 && p.lines[i].start >= low; i-- {
		l, above := p.lines[i], p.lines[i-1]
		if l.start > end {
			continue
		}
		if p.isBlock(i) && above.kind != markup.HeadingLine {
			return l.start
		}
		if best == 0 && p.lineFree(i) {
			best = l.start
		}
	}
	return best
}

// isBlock reports whether a paragraph, list, code block, table or heading begins at line i.
func (p *page) isBlock(i int) bool {
	l, above := p.lines[i], p.lines[i-1]
	switch {
	case l.state.Fence() != nil:
		return false
	case l.kind == markup.BlankLine:
		return above.kind != markup.BlankLine && above.kind != markup.HeadingLine
	}
	if above.kind == markup.BlankLine {
		return i < 2 || p.lines[i-2].kind != markup.HeadingLine
	}
	return l.kind == markup.HeadingLine || l.kind == markup.FenceLine && above.kind != markup.TextLine ||
		above.kind == markup.FenceLine
}

// lineFree reports whether the text may be cut before line i without cutting a span, a table's heading or a heading off.
func (p *page) lineFree(i int) bool {
	l, above := p.lines[i], p.lines[i-1]
	switch {
	case l.state.Fence() != nil:
		return true
	case above.kind == markup.HeadingLine:
		return false
	case l.kind == markup.RowLine && above.kind == markup.RowLine && l.table == "":
		return false
	case l.first:
		return true
	}
	start, block := p.block(l.start)
	closed, open := markup.Spans(block)
	return covered(append(closed, open...), len(block))[l.start-start] == 0
}

// block returns the inline text around end, and where it starts. It is read a little beyond end, so that it is known
// which spans end.
func (p *page) block(end int) (start int, text string) {
	limit := min(len(p.text), 2*end+256)
	p.scan(end)
	i := len(p.lines) - 1
	for i > 0 && (p.lines[i].start >= end || !p.lines[i].first) {
		i--
	}
	stop := len(p.text)
	for j := i + 1; ; j++ {
		if j == len(p.lines) {
			if p.read >= limit {
				stop = p.read
				break
			}
			if p.scan(p.read); j == len(p.lines) {
				break
			}
		}
		if p.lines[j].first {
			stop = p.lines[j].start
			break
		}
	}
	return p.lines[i].start, p.text[p.lines[i].start:max(stop, end)]
}

// covered counts for each position the spans that a cut there would cut.
func covered(spans []markup.Span, n int) []int16 {
	c := make([]int16, n+2)
	for _, s := range spans {
		c[min(s.Start+1, n+1)]++
		c[min(s.End, n+1)]--
	}
	for i := 1; i < len(c); i++ {
		c[i] += c[i-1]
	}
	return c
}

// inLine finds the last end of a sentence, else of a word, from low to end.
func (p *page) inLine(low, end int, free func(int) bool) int {
	word := 0
	for i := end; i >= low; i-- {
		if i < len(p.text) && !utf8.RuneStart(p.text[i]) || !free(i) {
			continue
		}
		switch before := p.text[:i]; {
		case sentence(before):
			return i
		case word == 0 && wordEnd(before, p.text[i:]):
			word = i
		}
	}
	return word
}

func sentence(before string) bool {
	for _, s := range [...]string{". ", "! ", "? ", "。", "！", "？", "；"} {
		if strings.HasSuffix(before, s) {
			return true
		}
	}
	return false
}

func wordEnd(before, after string) bool {
	return strings.HasSuffix(before, " ") && !strings.HasPrefix(after, " ") || strings.HasPrefix(after, " ")
}

// through cuts where no boundary is free: before the span, which then moves whole, or inside of it, where its marks end
// and begin again.
func (p *page) through(end, start int, spans, open []markup.Span) choice {
	end = p.hard(end)
	spans = slices.SortedFunc(slices.Values(spans), func(a, b markup.Span) int { return a.Start - b.Start })
	outer := markup.Span{Start: -1}
	for _, s := range spans {
		if s.Start+start < end && end < s.End+start {
			outer = s
			break
		}
	}
	if outer.Start < 0 {
		return choice{end: end}
	}
	if at := outer.Start + start; at > p.from+(end-p.from)/8 && outer.End-outer.Start <= end {
		return choice{end: at}
	}
	c := choice{end: end}
	if i := strings.LastIndexByte(p.text[:end], ' ') + 1; i > p.from+(end-p.from)/2 {
		c.end = i
	}
	for _, s := range spans {
		ends := !slices.Contains(open, s) // what does not end is no markup
		if ends && s.Mark != "" && s.Start+start+len(s.Mark) < c.end && c.end < s.End+start-len(s.Mark) {
			c.prefix += s.Mark
			c.suffix = s.Mark + c.suffix
		}
	}
	return c
}

// hard cuts between graphemes, or through one that is too long.
func (p *page) hard(end int) int {
	if g := p.grapheme(end); g > p.from {
		return g
	}
	return end
}
