package markup

import (
	"strings"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// maxTable is the widest table, in columns of a fixed-width font, that is drawn as one; wider ones, which a phone would
// wrap, and those with links are written as lines "Heading: value".
const maxTable = 56

func (c *chat) table(n *east.Table) {
	rows := cells(n, c.src)
	widths := make([]int, len(n.Alignments))
	total := 0
	for i := range widths {
		for _, r := range rows {
			widths[i] = max(widths[i], uniseg.StringWidth(r[i]))
		}
		total += widths[i] + 3
	}
	if total-3 > maxTable || hasLink(n) {
		c.records(n)
		return
	}
	c.codeBlock(draw(rows, widths, n.Alignments), "")
}

func hasLink(n ast.Node) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if _, ok := c.(*ast.Link); ok || hasLink(c) {
			return true
		}
	}
	return false
}

// cells returns the plain texts, each row as long as the heading.
func cells(n *east.Table, src []byte) (rows [][]string) {
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		row := make([]string, len(n.Alignments))
		i := 0
		for cell := r.FirstChild(); cell != nil && i < len(row); cell = cell.NextSibling() {
			row[i] = strings.ReplaceAll(plainOf(cell, src), "\n", " ")
			i++
		}
		rows = append(rows, row)
	}
	return rows
}

func draw(rows [][]string, widths []int, align []east.Alignment) string {
	var b strings.Builder
	for i, r := range rows {
		line := make([]string, len(r))
		for j, cell := range r {
			line[j] = pad(cell, widths[j], align[j])
		}
		b.WriteString(strings.TrimRight(strings.Join(line, " | "), " ") + "\n")
		if i == 0 {
			for j, w := range widths {
				line[j] = strings.Repeat("-", w)
			}
			b.WriteString(strings.Join(line, "-|-") + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func pad(s string, width int, a east.Alignment) string {
	room := width - uniseg.StringWidth(s)
	left := 0
	switch a {
	case east.AlignRight:
		left = room
	case east.AlignCenter:
		left = room / 2
	}
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", room-left)
}

// records writes each row as lines "Heading: value", with the markup of its cells.
func (c *chat) records(n *east.Table) {
	head := cells(n, c.src)[0]
	for r := n.FirstChild().NextSibling(); r != nil; r = r.NextSibling() {
		if r.PreviousSibling() != n.FirstChild() {
			c.br(2)
		}
		i := 0
		for cell := r.FirstChild(); cell != nil && i < len(head); cell = cell.NextSibling() {
			if cell.FirstChild() != nil {
				c.br(1)
				if head[i] != "" {
					c.text(head[i] + ": ")
				}
				c.inlines(cell)
			}
			i++
		}
	}
	if n.ChildCount() == 1 {
		c.text(strings.Join(head, " | "))
	}
}

// plainOf is the text of a node, without markup.
func plainOf(n ast.Node, src []byte) string {
	c := chat{sink: &sink{}, t: &bare, src: src}
	c.inlines(n)
	return c.b.String()
}
