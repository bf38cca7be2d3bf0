package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// quotes is the block quote of CommonMark whose marks are followed by a blank or the line's end. Without that rule the
// first sign of ">= 5", ">_<" or "><a>" would be taken for a mark and vanish, and with it what the text says.
type quotes struct{ parser.BlockParser }

func newQuotes() quotes { return quotes{parser.NewBlockquoteParser()} }

// Open implements parser.BlockParser.
func (q quotes) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if !atMark(reader) {
		return nil, parser.NoChildren
	}
	return q.BlockParser.Open(parent, reader, pc)
}

// Continue implements parser.BlockParser.
func (q quotes) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if !atMark(reader) {
		return parser.Close
	}
	return q.BlockParser.Continue(node, reader, pc)
}

func atMark(reader text.Reader) bool {
	line, _ := reader.PeekLine()
	_, pos := util.IndentWidth(line, reader.LineOffset())
	return pos < len(line) && quoteMark(string(line[pos:min(len(line), pos+longestMark)]))
}

// longestMark bounds how many marks in a row are looked at.
const longestMark = 32

// quoteMark reports whether s begins with marks of a block quote.
func quoteMark(s string) bool {
	rest := strings.TrimLeft(s, ">")
	return rest != s && (rest == "" || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}
