package markup

import (
	"slices"
	"testing"
)

func TestSpans(t *testing.T) {
	tests := []struct {
		block        string
		closed, open []string
	}{
		{"a **b** c", []string{"**b**"}, nil},
		{"a *b", nil, []string{"*b"}},
		{"**a *b* c**", []string{"**a *b* c**", "*b*"}, nil},
		{"***a***", []string{"***a***", "**a**"}, nil},
		{"a_b_c 2 * 3", nil, nil},
		{"`a` ``b ` c`` `d", []string{"``b ` c``", "`a`"}, []string{"`d"}},
		{"**a `b", nil, []string{"**a `b", "`b"}},
		{`\*a\* \` + "`b", nil, nil},
		{"[a](b) ![c](d_(e)) [f]", []string{"![c](d_(e))", "[a](b)"}, nil},
		{"x [a](b", nil, []string{"[a](b"}},
		{"<https://a.b> https://c.d/e_f, **https://g.h**", []string{"**https://g.h**", "<https://a.b>", "https://c.d/e_f", "https://g.h"}, nil},
		{"~~a~~ ~b~ ~~~c", []string{"~b~", "~~a~~"}, nil},
		{"**「重要」**です", []string{"**「重要」**"}, nil},
	}
	for _, tt := range tests {
		c, o := Spans(tt.block)
		closed, open := texts(tt.block, c), texts(tt.block, o)
		slices.Sort(closed)
		if !slices.Equal(closed, tt.closed) || !slices.Equal(open, tt.open) {
			t.Errorf("Spans(%q) = %q, %q; want %q, %q", tt.block, closed, open, tt.closed, tt.open)
		}
	}
}

func texts(s string, spans []Span) (ts []string) {
	for _, x := range spans {
		ts = append(ts, s[x.Start:x.End])
	}
	return ts
}

func TestScannerFences(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		kinds []LineKind
	}{
		{"C011 inner fence", []string{"~~~~md", "```go", "x", "```", "~~~~", "y"}, []LineKind{FenceLine, CodeLine, CodeLine, CodeLine, FenceLine, TextLine}},
		{"C011 closer with text", []string{"```", "``` no", "```"}, []LineKind{FenceLine, CodeLine, FenceLine}},
		{"longer closer", []string{"```", "`````", "x"}, []LineKind{FenceLine, FenceLine, TextLine}},
		{"info with backtick", []string{"``` a`b", "x"}, []LineKind{TextLine, TextLine}},
		{"indented code is text here", []string{"    ```", "x"}, []LineKind{TextLine, TextLine}},
		{"in an item", []string{"- a", "  ```", "  x", "  ```", "b"}, []LineKind{ItemLine, FenceLine, CodeLine, FenceLine, TextLine}},
		{"the item ends", []string{"- a", "  ```", "  x", "b"}, []LineKind{ItemLine, FenceLine, CodeLine, TextLine}},
		{"on the item's line", []string{"- ```", "  x", "  ```"}, []LineKind{FenceLine, CodeLine, FenceLine}},
		{"the quote ends", []string{"> ```", "> x", "y"}, []LineKind{FenceLine, CodeLine, TextLine}},
		{"others", []string{"# h", "", "| a |", "> q", "1. x", "#h"}, []LineKind{HeadingLine, BlankLine, RowLine, QuoteLine, ItemLine, TextLine}},
	}
	for _, tt := range tests {
		var sc Scanner
		for i, l := range tt.lines {
			if k := sc.Line(l); k != tt.kinds[i] {
				t.Errorf("%s: %q is %d, want %d", tt.name, l, k, tt.kinds[i])
			}
		}
	}
}
