package markup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What TelegramFits lets pass is never longer than it says.
func FuzzTelegramFits(f *testing.F) {
	for _, md := range []string{"", "a", "- - - - a", "999999999. a\n1. b\n1. c", "- a\n\n  - b\n\n    - c\n\n      d\n      e", "> > > a\n> b", "---\n---\n***",
		"-\t\tcode\n\t\tx", "\tcode\tx", "```go\nx\n```", "a  \nb\\\nc", "[ ](x y) ![](z)", "&nbsp;&ngE;&#0;", "\x00\xff", "1.\n2.\n3.", "# a\nb\n===\n",
		"* [x] a\n* [ ] b", "1)\t> - a\n\n\n- b", "- 1. - 1. - 1. a\n1\n2\n3", "- >\ta\n  >\n  > b", "www.a.b https://c.d <e@f.g>"} {
		f.Add(md)
	}
	files, _ := filepath.Glob("testdata/*.md")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, md string) {
		if n := TelegramSize(md); n > 0 && TelegramFits(md, n-1) {
			t.Errorf("%q has %d units", md, n)
		}
	})
}

func TestTelegramFits(t *testing.T) {
	prose := strings.Repeat("A sentence of an *answer*, with `code`. ", 25)
	list := strings.Repeat("- an item with some words\n", 20)
	for name, c := range map[string]struct {
		md   string
		max  int
		want bool
	}{
		"nothing":             {"", 0, true},
		"an answer":           {prose + "\n\n" + prose + "\n\n" + list, 4096, true},
		"longer than allowed": {strings.Repeat("a", 4097), 4096, false},
		"perhaps too long":    {strings.Repeat("- a\n", 1000), 4096, false},
		"a table":             {"a|b\n-|-\n1|2", 4096, false},
	} {
		if got := TelegramFits(c.md, c.max); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
