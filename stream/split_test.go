package stream

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"bellhop/stream/markup"
)

func TestSplitCases(t *testing.T) {
	var code strings.Builder
	for i := range 300 {
		fmt.Fprintf(&code, "line_%d = compute(%d)\n", i, i)
	}
	family := "👨‍👩‍👧‍👦"
	a := func(n int) string { return strings.Repeat("a", n) }
	tests := []struct {
		name string
		md   string
		max  int
		want []string // nil: only the invariants
		n    int      // pieces, 0: any
	}{
		{name: "C001 emoji", md: strings.Repeat("😀", 2049), max: 4096, n: 2},
		{name: "C002 pair at the cut", md: a(4095) + "🎩b", max: 4096, want: []string{a(4095), "🎩b"}},
		{name: "C002 blank before", md: a(4094) + " 🎩b", max: 4096, want: []string{a(4094) + " ", "🎩b"}},
		{name: "C004 family", md: strings.Repeat("x", 1995) + family, max: 2000, want: []string{strings.Repeat("x", 1995), family}},
		{name: "C004 flag", md: strings.Repeat("x", 1998) + "🇩🇪", max: 2000, want: []string{strings.Repeat("x", 1998), "🇩🇪"}},
		{name: "C004 skin", md: strings.Repeat("x", 1998) + "👍🏽", max: 2000, want: []string{strings.Repeat("x", 1998), "👍🏽"}},
		{name: "C004 accent", md: strings.Repeat("x", 1999) + "e\u0301", max: 2000, want: []string{strings.Repeat("x", 1999), "e\u0301"}},
		{name: "C005 one grapheme", md: "e" + strings.Repeat("\u0301", 5000), max: 2000, n: 3},
		{name: "C007 long code", md: "Here is the module:\n```py\n" + code.String() + "```\nDone.", max: 2000, n: 4},
		{name: "C008 code first", md: "```go\n" + code.String() + "```", max: 2000, n: 4},
		{name: "C010 garbled info", md: "```" + strings.Repeat("x", 1990) + "\n" + strings.Repeat("y\n", 200) + "```", max: 2000},
		{name: "C010 longer than a piece", md: "```" + strings.Repeat("x", 3000) + "\n" + strings.Repeat("y\n", 200) + "```", max: 2000},
		{name: "C011 inner fence", md: "~~~~md\n```go\nx\n```\n~~~~\n", max: 24},
		{name: "C011 no closer", md: "```\ncode\n``` not a closer\nmore\n```", max: 30},
		{name: "C017 span whole", md: strings.Repeat("word ", 18) + "`TestSplitBoundary` and more", max: 100,
			want: []string{strings.Repeat("word ", 18), "`TestSplitBoundary` and more"}},
		{name: "span longer than a piece", md: "**" + strings.Repeat("bold ", 30) + "end**", max: 60},
		{name: "link whole", md: strings.Repeat("word ", 10) + "[label with words](https://example.com/a_b)", max: 60, n: 2},
		{name: "stray mark", md: "2 * 3 " + strings.Repeat("*word ", 40), max: 60},
		{name: "paragraphs", md: "one two.\n\nthree four.\n\nfive", max: 24, want: []string{"one two.\n\nthree four.\n\n", "five"}},
		{name: "heading stays", md: "one two three.\n\n## Head\n\nfive six seven", max: 30, want: []string{"one two three.\n\n", "## Head\n\nfive six seven"}},
		{name: "table heading", md: "| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 20), max: 100},
		{name: "code in list", md: "1. do\n   - this\n     ```sh\n" + strings.Repeat("     echo hello\n", 20) + "     ```\n2. done", max: 100},
		{name: "blank", md: " \n\n", max: 10, want: []string{}},
		{name: "no room", md: "日本語", max: 0, n: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Split(tt.md, tt.max, markup.UTF16)
			if tt.max > 0 {
				checkPieces(t, tt.md, got, tt.max)
			}
			if tt.want != nil && !equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
			if tt.n > 0 && len(got) != tt.n {
				t.Errorf("%d pieces, want %d: %.300q", len(got), tt.n, got)
			}
		})
	}
}

// What has to be escaped for a platform is all visible, in order, whatever the cut goes through: C013 in its final form, C014
// a backslash and what it escapes, C016 code, an entity and signs of HTML at the cut. Sizes are those of the platform.
func TestSplitShowsEverything(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for md, pieces := range map[string]int{
		strings.Repeat("!", 4096):                      1,
		strings.Repeat(".", 4090):                      1,
		strings.Repeat(`\-`, 5000):                     2,
		"x" + strings.Repeat(`\-`, 5000):               2,
		strings.Repeat("<", 5000):                      2,
		a(4080) + "`" + strings.Repeat("b", 100) + "`": 2,
		a(4093) + "&amp;b":                             1,
		a(4093) + "<&>b":                               2,
	} {
		var shown strings.Builder
		got := Split(md, 4096, markup.TelegramSize)
		for _, p := range got {
			if n := markup.TelegramSize(p); n > 4096 {
				t.Errorf("%.20s: a piece of %d", md, n)
			}
			shown.WriteString(markup.Plain(p))
		}
		if len(got) != pieces || shown.String() != markup.Plain(md) {
			t.Errorf("%.20s…: %d pieces, want %d; %d units shown of %d", md, len(got), pieces, markup.UTF16(shown.String()), markup.UTF16(markup.Plain(md)))
		}
	}
}

func equal(a, b []string) bool {
	return len(a) == len(b) && strings.Join(a, "\x00") == strings.Join(b, "\x00")
}

func checkPieces(t *testing.T, md string, pieces []string, max int) {
	t.Helper()
	for i, p := range pieces {
		if n := markup.UTF16(p); n > max {
			t.Errorf("piece %d has %d units: %q", i, n, p)
		}
		if !utf8.ValidString(p) && utf8.ValidString(md) || strings.TrimSpace(p) == "" {
			t.Errorf("piece %d is broken: %q", i, p)
		}
		var sc markup.Scanner
		for l := range strings.SplitSeq(p, "\n") {
			sc.Line(l)
		}
		if sc.Fence() != nil {
			t.Errorf("piece %d leaves a fence open: %q", i, p)
		}
	}
}

// TestSplitCodeIsWhole is C007 to the letter: without the inserted lines the pieces are the input, byte for byte.
func TestSplitCodeIsWhole(t *testing.T) {
	var code strings.Builder
	for i := range 300 {
		fmt.Fprintf(&code, "    line_%d = compute(%d)\n\n", i, i)
	}
	md := "Here is the module:\n```py\n" + code.String() + "```\nDone."
	pieces := Split(md, 2000, markup.UTF16)
	var joined strings.Builder
	for i, p := range pieces {
		if strings.Count(p, "```")%2 != 0 {
			t.Errorf("piece %d: odd fences", i)
		}
		if i > 0 {
			var ok bool
			if p, ok = strings.CutPrefix(p, "```py\n"); !ok {
				t.Errorf("piece %d does not open: %.20q", i, p)
			}
		}
		if i < len(pieces)-1 {
			var ok bool
			if p, ok = strings.CutSuffix(p, "\n```"); !ok {
				t.Errorf("piece %d does not close", i)
			}
			p += "\n"
		}
		joined.WriteString(p)
	}
	if joined.String() != md {
		t.Errorf("%d bytes of %d", joined.Len(), len(md))
	}
}

// TestSplitMarkup pins what is inserted where a cut goes through markup.
func TestSplitMarkup(t *testing.T) {
	tests := []struct {
		name, md string
		max      int
		want     []string
	}{
		{"code in a nested list", "1. do\n   - this\n     ```sh\n" + strings.Repeat("     echo hi\n", 6) + "     ```\n2. done", 76,
			[]string{"1. do\n   - this\n     ```sh\n" + strings.Repeat("     echo hi\n", 3) + "     ```",
				"   ```sh\n" + strings.Repeat("   echo hi\n", 3) + "   ```\n2. done"}},
		{"table", "| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 8), 90,
			[]string{"| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 7), "| a | b |\n|---|---|\n| 1 | 2 |"}},
		{"bold", "**one two three four five**", 20, []string{"**one two three**", "**four five**"}},
		{"bold and code", "**one `two three four five six seven` eight**", 30, []string{"**one `two three four five`**", "**`six seven` eight**"}},
		{"quoted code", "> ```go\n> aaaaaaaaaa\n> bbbbbbbbbb\n> cccccccccc\n> ```", 40,
			[]string{"> ```go\n> aaaaaaaaaa\n> bbbbbbbbbb\n> ```", "> ```go\n> cccccccccc\n> ```"}},
		{"closer at the cut", "```\naaaa\nbbbb\n```\nand more", 17, []string{"```\naaaa\nbbbb\n```", "and more"}},
		{"address whole", "see it at https://example.com/a/b/c now", 30, []string{"see it at ", "https://example.com/a/b/c now"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Split(tt.md, tt.max, markup.UTF16)
			checkPieces(t, tt.md, got, tt.max)
			if !equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestSplitIsLinear counts what is measured: about the same for each piece, however long the text is.
func TestSplitIsLinear(t *testing.T) {
	measured := func(n int) int {
		sum := 0
		Split(answer(n), 4096, func(s string) int { sum += len(s); return len(s) })
		return sum / n
	}
	small, large := measured(50_000), measured(400_000)
	if large > small+small/4 {
		t.Errorf("measures each byte %d times in a short text, %d times in a long one", small, large)
	}
}
