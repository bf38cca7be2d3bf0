package stream

import "strings"

// Split cuts Markdown into pieces for which size(piece) <= max. Every piece is valid on its own: a code block that is cut
// is closed and opened again with its info string, a table repeats its heading, spans and links move whole to the next
// piece, or are closed and opened again when they are longer than a piece. Cuts are between paragraphs where possible,
// else lines, sentences, words, graphemes; a grapheme is cut only when it alone is too long. Without the inserted
// markup the pieces join to md, except for white space where a piece ends.
//
// size should grow with its argument; max should be large against one grapheme. A text that shows nothing has no pieces.
func Split(md string, max int, size func(string) int) []string {
	return newCutter(max, size).all(md, carry{})
}

// all cuts a text that begins after a piece that left in.
func (k cutter) all(md string, in carry) (pieces []string) {
	for md = trimmed(md); strings.TrimSpace(md) != ""; {
		var p string
		var n int
		p, n, in = k.cut(md, in)
		if strings.TrimSpace(p) != "" {
			pieces = append(pieces, p)
		}
		md = md[n:]
	}
	return pieces
}

// carry is what a piece needs of the one before.
type carry struct {
	prefix  string // inserted before the text: opening fence, table heading, inline marks
	inLine  bool   // the cut was inside a line
	inCode  bool   // and inside a code block
	outdent int    // blanks that the lines of that code block lose
}

type cutter struct {
	max  int
	size func(string) int
	fits func(md string, max int) bool // a short way to learn it; nil: there is none
}

// over reports whether md is too long for one piece.
func (k cutter) over(md string) bool {
	return (k.fits == nil || !k.fits(md, k.max)) && k.size(md) > k.max
}

// noLimit stands for the limits that a platform without one may state.
const noLimit = 1 << 28

func newCutter(max int, size func(string) int) cutter {
	return cutter{max: min(max, noLimit), size: size}
}

// cut takes the first piece off rest, which begins after a piece that left in. It returns the piece, how much of rest it
// took, and what the next one needs. When it took all of rest nothing had to be cut, and only an open fence is closed.
func (k cutter) cut(rest string, in carry) (piece string, n int, out carry) {
	skip := 0
	if !in.inCode {
		skip = blank(rest, in.inLine)
	}
	for window := 4*max(k.max, 256) + 1024; ; window *= 2 {
		p := newPage(rest[skip:], in, window)
		if all := p.at(len(p.text), ""); p.whole && k.fits != nil && k.fits(all, k.max) {
			return all, len(rest), carry{}
		}
		end := k.reach(p)
		if end < len(p.text) {
			piece, end, out = k.fit(p, end)
			return piece, skip + p.origin(end), out
		}
		if p.whole {
			return p.at(end, ""), len(rest), carry{}
		}
	}
}

// fit chooses a cut at or before end whose piece fits.
func (k cutter) fit(p *page, end int) (piece string, at int, out carry) {
	for {
		c := p.choose(end)
		piece = p.at(c.end, c.suffix)
		if end <= p.least() || k.size(piece) <= k.max {
			c.end = p.pastCloser(c.end)
			return piece, c.end, k.carry(p, c)
		}
		end = max(p.runeStart(end-1-end/16), p.least())
	}
}

// reach finds the largest end that fits, assuming that size grows with the text. It looks at no more than about twice
// that much.
func (k cutter) reach(p *page) int {
	size := func(end int) int { return k.size(p.at(end, "")) }
	low, high := bound{end: p.from}, bound{end: p.runeStart(min(len(p.text), p.from+max(k.max, 16)))}
	for high.size = size(high.end); high.size <= k.max; high.size = size(high.end) {
		if high.end == len(p.text) {
			return high.end
		}
		low, high.end = high, p.runeStart(min(len(p.text), 2*high.end))
	}
	for guess := true; ; guess = !guess {
		mid := low.end + (high.end-low.end)/2
		if guess { // sizes grow evenly, mostly
			mid = low.end + (high.end-low.end)*(k.max-low.size)/max(high.size-low.size, 1)
		}
		if mid = p.runeStart(min(mid, high.end-1)); mid <= low.end {
			mid = p.runeEnd(low.end)
		}
		if mid >= high.end {
			return max(low.end, p.least())
		}
		if n := size(mid); n <= k.max {
			low = bound{mid, n}
		} else {
			high = bound{mid, n}
		}
	}
}

// bound is an end and the size of the piece that ends there.
type bound struct{ end, size int }

// carry works out what the piece after c needs. A prefix that would leave little room is shortened or left out.
func (k cutter) carry(p *page, c choice) carry {
	out := carry{inLine: p.text[c.end-1] != '\n', prefix: c.prefix}
	l := p.lineAt(c.end)
	state := p.stateAt(c.end)
	switch f := state.Fence(); {
	case f != nil:
		out.inCode, out.outdent = true, max(f.Outdent(), p.outdents(c.end))
		out.prefix = f.Opener(l.state.Fence() != nil) + "\n" // of a line that is cut the info is not known
		if k.size(out.prefix+f.Closer()) > k.max/2 {
			out.prefix = f.Opener(false) + "\n"
		}
		if k.size(out.prefix+f.Closer()) > k.max/2 {
			out.prefix = ""
		}
	case l.table != "" && l.start == c.end && k.size(l.table) <= k.max/4:
		out.prefix = l.table
	}
	return out
}

// blank is how much white space at the beginning of a piece is left out: blank lines, and blanks inside a line.
func blank(s string, inLine bool) int {
	t := strings.TrimLeft(s, " \t\r\n")
	if inLine || t == "" {
		return len(s) - len(t)
	}
	return strings.LastIndexByte(s[:len(s)-len(t)], '\n') + 1
}
