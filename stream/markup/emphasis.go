package markup

import (
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// flanking says whether a run of emphasis marks between two characters can open and close, by the rules of CommonMark.
// Two of them would leave **「重要」**です unmarked, because a bracket stands inside and no blank outside; next to scripts
// that write without blanks their punctuation counts as a letter (the "CJK-friendly" amendment of those rules). Outside of
// the text both characters are blanks.
func flanking(mark byte, before, after rune) (open, closes bool) {
	left := !unicode.IsSpace(after) && (!stops(after) || unicode.IsSpace(before) || stops(before) || cjk(before))
	right := !unicode.IsSpace(before) && (!stops(before) || unicode.IsSpace(after) || stops(after) || cjk(after))
	if mark == '_' {
		return left && (!right || stops(before)), right && (!left || stops(after))
	}
	return left, right
}

// stops reports punctuation of scripts that write with blanks.
func stops(r rune) bool { return (unicode.IsPunct(r) || unicode.IsSymbol(r)) && !cjk(r) }

func cjk(r rune) bool {
	return r >= 0x2E80 && (r < 0xA4D0 || r >= 0xAC00 && r < 0xD7A4 || r >= 0xF900 && r < 0xFB00 ||
		r >= 0xFE30 && r < 0xFE50 || r >= 0xFF00 && r < 0xFFF0 || r >= 0x20000 && r < 0x40000)
}

// around returns the characters before and behind s[i:j].
func around(s string, i, j int) (before, after rune) {
	before, after = ' ', ' '
	if i > 0 {
		before, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	if j < len(s) {
		after, _ = utf8.DecodeRuneInString(s[j:])
	}
	return before, after
}

// emphasis is goldmark's parser for * and _ with flanking instead of its own rule.
type emphasis struct{}

func (emphasis) IsDelimiter(b byte) bool { return b == '*' || b == '_' }

func (emphasis) CanOpenCloser(o, c *parser.Delimiter) bool { return o.Char == c.Char }

func (emphasis) OnMatch(consumes int) ast.Node { return ast.NewEmphasis(consumes) }

func (emphasis) Trigger() []byte { return []byte{'*', '_'} }

func (e emphasis) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 1, e)
	if d == nil {
		return nil
	}
	after := ' '
	if d.OriginalLength < len(line) {
		after, _ = utf8.DecodeRune(line[d.OriginalLength:])
	}
	d.CanOpen, d.CanClose = flanking(d.Char, before, after)
	d.Segment = segment.WithStop(segment.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}
