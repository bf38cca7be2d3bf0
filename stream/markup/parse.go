package markup

import (
	"html"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown is the one parser. HTML blocks, raw HTML and reference definitions are left out: they would hide text.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(newQuotes(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(emphasis{}, 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
})

func parse(md string) (ast.Node, []byte) {
	src := []byte(md)
	return markdown().Parse(text.NewReader(src)), src
}

// wordy reports whether md is one line of plain words that no parser would change: most short answers are, and parsing costs
// more than all else that is done to them. It may be false for text that has no markup either.
func wordy(md string) bool {
	first, _ := utf8.DecodeRuneInString(md)
	return unicode.IsLetter(first) && !strings.HasSuffix(md, " ") && utf8.ValidString(md) &&
		!strings.ContainsAny(md, "\x00\t\n\r\\`*_[]<>&~|/@") && !strings.Contains(md, "www.")
}

// literal resolves backslash escapes and entities in a piece of source, in one pass, so that "\&amp;" stays "&amp;".
func literal(src []byte) string {
	s := string(src)
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			b.WriteByte(s[i+1])
			i += 2
			continue
		case s[i] == '&':
			if end := strings.IndexByte(s[i:min(len(s), i+40)], ';'); end > 0 {
				if r := html.UnescapeString(s[i : i+end+1]); !strings.HasSuffix(r, ";") || len(r) < 2 {
					b.WriteString(r)
					i += end + 1
					continue
				}
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// lines joins the lines of a code block.
func lines(n ast.Node, src []byte) string {
	var b strings.Builder
	segs := n.Lines()
	for i := range segs.Len() {
		s := segs.At(i)
		b.Write(s.Value(src))
	}
	return strings.TrimRight(b.String(), "\n")
}

// codeText is the content of a code span; its line breaks are blanks.
func codeText(n ast.Node, src []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.WriteString(strings.ReplaceAll(string(t.Segment.Value(src)), "\n", " "))
		}
	}
	return b.String()
}

// target returns a link's destination, and whether its scheme is one of those allowed.
func target(dest string, schemes ...string) (string, bool) {
	var b strings.Builder
	for _, r := range dest {
		switch {
		case r == ' ':
			b.WriteString("%20")
		case r < ' ' || r == 0x7f: // browsers drop control characters: "java\tscript:"
		default:
			b.WriteRune(r)
		}
	}
	scheme, rest, ok := strings.Cut(b.String(), ":")
	if !ok || rest == "" {
		return b.String(), false
	}
	for _, s := range schemes {
		if strings.EqualFold(s, scheme) {
			return b.String(), true
		}
	}
	return b.String(), false
}
