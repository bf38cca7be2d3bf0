package markup

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// Web renders md as HTML for a page. It is safe to insert: raw HTML of md is text, links lead to http, https and mailto
// only and open without an opener.
func Web(md string) string {
	n, src := parse(valid(md))
	p := page{src: src}
	p.children(n)
	return p.b.String()
}

// page walks a document for HTML with all its elements.
type page struct {
	b    strings.Builder
	src  []byte
	link int
}

func (p *page) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeInline {
			p.inline(c)
		} else {
			p.block(c)
		}
	}
}

// element writes n's children inside a tag with attributes.
func (p *page) element(tag, attrs string, n ast.Node) {
	p.b.WriteString("<" + tag + attrs + ">")
	p.children(n)
	p.b.WriteString("</" + tag + ">")
}

func (p *page) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Paragraph:
		p.element("p", "", n)
	case *ast.Heading:
		p.element("h"+strconv.Itoa(n.Level), "", n)
	case *ast.ThematicBreak:
		p.b.WriteString("<hr>")
	case *ast.CodeBlock:
		p.code(lines(n, p.src), "")
	case *ast.FencedCodeBlock:
		p.code(lines(n, p.src), string(n.Language(p.src)))
	case *ast.Blockquote:
		p.element("blockquote", "", n)
	case *ast.List:
		switch {
		case !n.IsOrdered():
			p.element("ul", "", n)
		case n.Start != 1:
			p.element("ol", ` start="`+strconv.Itoa(n.Start)+`"`, n)
		default:
			p.element("ol", "", n)
		}
	case *ast.ListItem:
		p.element("li", "", n)
	case *east.Table:
		p.table(n)
	default:
		p.children(n)
	}
	p.b.WriteByte('\n')
}

func (p *page) code(s, lang string) {
	p.b.WriteString("<pre><code")
	if lang != "" {
		p.b.WriteString(` class="language-` + quoteAttr.Replace(lang) + `"`)
	}
	p.b.WriteString(">" + escaper.Replace(s) + "</code></pre>")
}

func (p *page) table(n *east.Table) {
	p.b.WriteString("<table>")
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		tag := "td"
		if _, ok := r.(*east.TableHeader); ok {
			tag = "th"
		}
		p.b.WriteString("<tr>")
		for cell := r.FirstChild(); cell != nil; cell = cell.NextSibling() {
			attrs := ""
			if c, ok := cell.(*east.TableCell); ok && c.Alignment != east.AlignNone {
				attrs = ` align="` + c.Alignment.String() + `"`
			}
			p.element(tag, attrs, cell)
		}
		p.b.WriteString("</tr>")
	}
	p.b.WriteString("</table>")
}

func (p *page) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		p.b.WriteString(escaper.Replace(literal(n.Segment.Value(p.src))))
		if n.SoftLineBreak() || n.HardLineBreak() {
			p.b.WriteString("<br>")
		}
	case *ast.String:
		p.b.WriteString(escaper.Replace(string(n.Value)))
	case *ast.CodeSpan:
		p.b.WriteString("<code>" + escaper.Replace(codeText(n, p.src)) + "</code>")
	case *ast.Emphasis:
		if n.Level == 2 {
			p.element("strong", "", n)
		} else {
			p.element("em", "", n)
		}
	case *east.Strikethrough:
		p.element("del", "", n)
	case *ast.AutoLink:
		dest := string(n.URL(p.src))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(dest), "mailto:") {
			dest = "mailto:" + dest
		}
		p.anchor(dest, func() { p.b.WriteString(escaper.Replace(string(n.Label(p.src)))) })
	case *ast.Link:
		p.anchor(literal(n.Destination), func() { p.children(n) })
	case *ast.Image: // a link: a page that loads what a model names would tell strangers who reads it
		p.anchor(literal(n.Destination), func() { p.children(n) })
	case *east.TaskCheckBox:
		if n.IsChecked {
			p.b.WriteString("☑ ")
		} else {
			p.b.WriteString("☐ ")
		}
	default:
		p.children(n)
	}
}

// anchor writes a link; one without a label shows its address, one that may not be followed is its label alone.
func (p *page) anchor(dest string, label func()) {
	href, ok := target(dest, "http", "https", "mailto")
	ok = ok && p.link == 0
	if ok {
		p.b.WriteString(`<a href="` + quoteAttr.Replace(href) + `" rel="noopener noreferrer nofollow" target="_blank">`)
		p.link++
	}
	before := p.b.Len()
	if label(); p.b.Len() == before {
		p.b.WriteString(escaper.Replace(dest))
	}
	if ok {
		p.link--
		p.b.WriteString("</a>")
	}
}
