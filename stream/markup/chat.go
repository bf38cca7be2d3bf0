package markup

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// tags is how a chat dialect marks text up: opening and closing tag of each, "" for none.
type tags struct {
	bold, italic, strike, quote, code [2]string
	pre                               func(lang string) (open, close string)
	link                              func(href string) (open, close string)
	schemes                           []string
}

// chat walks a document for dialects in which text is laid out by line breaks and blanks.
type chat struct {
	*sink
	t   *tags
	src []byte
	// depth of what cannot stand inside itself
	bold, italic, strike, quote, link int
}

const maxIndent = 12

func (c *chat) document(n ast.Node) { c.blocks(n, 2) }

// blocks writes the children of n with gap line breaks between them.
func (c *chat) blocks(n ast.Node, gap int) {
	for b := n.FirstChild(); b != nil; b = b.NextSibling() {
		if b.PreviousSibling() != nil {
			c.br(gap)
		}
		c.block(b, gap)
	}
}

func (c *chat) block(n ast.Node, gap int) {
	switch n := n.(type) {
	case *ast.Heading:
		c.mark(&c.bold, c.t.bold, n)
	case *ast.ThematicBreak:
		c.text("———")
	case *ast.CodeBlock:
		c.codeBlock(lines(n, c.src), "")
	case *ast.FencedCodeBlock:
		c.codeBlock(lines(n, c.src), string(n.Language(c.src)))
	case *ast.Blockquote:
		c.blockquote(n)
	case *ast.List:
		c.list(n)
	case *east.Table:
		c.table(n)
	case *ast.Paragraph, *ast.TextBlock:
		c.inlines(n)
	default:
		c.blocks(n, gap)
	}
}

func (c *chat) blockquote(n ast.Node) {
	if c.quote > 0 || c.link > 0 {
		c.blocks(n, 2)
		return
	}
	indent := c.indent
	c.indent = 0
	c.quote++
	c.open(c.t.quote[0])
	c.blocks(n, 2)
	c.close(c.t.quote[1])
	c.quote--
	c.indent = indent
}

func (c *chat) codeBlock(code, lang string) {
	if strings.TrimSpace(code) == "" {
		return
	}
	open, end := c.t.pre(lang)
	indent := c.indent
	c.indent = 0
	c.open(open)
	c.text(code)
	c.close(end)
	c.indent = indent
}

func (c *chat) list(l *ast.List) {
	gap, number := 1, l.Start
	if !l.IsTight {
		gap = 2
	}
	for i := l.FirstChild(); i != nil; i = i.NextSibling() {
		if i.PreviousSibling() != nil {
			c.br(gap)
		}
		mark := "• "
		if c.indent > 0 && !l.IsOrdered() {
			mark = "◦ "
		}
		if box, ok := checkbox(i); ok {
			mark = box
		} else if l.IsOrdered() {
			mark = strconv.Itoa(number) + string(l.Marker) + " "
		}
		number++
		c.item(i, mark, gap)
	}
}

func (c *chat) item(n ast.Node, mark string, gap int) {
	c.text(mark)
	indent := c.indent
	c.indent = min(indent+UTF16(mark), maxIndent)
	for b := n.FirstChild(); b != nil; b = b.NextSibling() {
		switch b.(type) {
		case *ast.List:
			c.br(1)
		case *ast.Paragraph, *ast.TextBlock:
			if b.PreviousSibling() != nil {
				c.br(gap)
			}
		default:
			c.br(1)
		}
		c.block(b, gap)
	}
	c.indent = indent
}

// checkbox is the mark of a task list's item.
func checkbox(item ast.Node) (string, bool) {
	if p := item.FirstChild(); p != nil {
		if box, ok := p.FirstChild().(*east.TaskCheckBox); ok {
			if box.IsChecked {
				return "☑ ", true
			}
			return "☐ ", true
		}
	}
	return "", false
}

func (c *chat) inlines(n ast.Node) {
	for i := n.FirstChild(); i != nil; i = i.NextSibling() {
		c.inline(i)
	}
}

func (c *chat) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		c.text(literal(n.Segment.Value(c.src)))
		if n.SoftLineBreak() || n.HardLineBreak() {
			c.breaks++
		}
	case *ast.String:
		c.text(string(n.Value))
	case *ast.CodeSpan:
		c.code(codeText(n, c.src))
	case *ast.Emphasis:
		if n.Level == 2 {
			c.mark(&c.bold, c.t.bold, n)
		} else {
			c.mark(&c.italic, c.t.italic, n)
		}
	case *east.Strikethrough:
		c.mark(&c.strike, c.t.strike, n)
	case *ast.AutoLink:
		c.text(string(n.Label(c.src)))
	case *ast.Link:
		c.linked(n, literal(n.Destination))
	case *ast.Image:
		c.linked(n, literal(n.Destination))
	case *east.TaskCheckBox: // the item's mark shows it
	default:
		c.inlines(n)
	}
}

// mark writes n inside a tag, unless it is inside that tag already.
func (c *chat) mark(depth *int, tag [2]string, n ast.Node) {
	if *depth++; *depth > 1 {
		tag = [2]string{}
	}
	c.open(tag[0])
	c.inlines(n)
	c.close(tag[1])
	*depth--
}

func (c *chat) code(s string) {
	tag := c.t.code
	if c.link > 0 {
		tag = [2]string{}
	}
	c.open(tag[0])
	c.text(s)
	c.close(tag[1])
}

// linked writes a link or an image. A destination that may not be linked is left out, unless it is all there is to see.
func (c *chat) linked(n ast.Node, dest string) {
	href, ok := target(dest, c.t.schemes...)
	if !ok || c.link > 0 {
		before := c.units
		if c.inlines(n); c.units == before {
			c.text(dest)
		}
		return
	}
	open, end := c.t.link(href)
	c.link++
	before := c.units
	c.open(open)
	if c.inlines(n); c.units == before {
		c.text(dest)
	}
	c.close(end)
	c.link--
	if open == "" && plainOf(n, c.src) != dest {
		c.text(" (" + dest + ")")
	}
}
