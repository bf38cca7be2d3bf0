package telegramtest

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParseHTML(t *testing.T) {
	for _, tt := range []struct {
		in, text string
		entities []Entity
	}{
		{"plain &lt;a&gt; &amp;amp; &quot;&#33;&#x21; &nbsp; & &;", `plain <a> &amp; "!! &nbsp; & &;`, nil},
		{"<b>bold</b> 😀 <i>it</i>", "bold 😀 it", []Entity{{Type: "bold", Length: 4}, {Type: "italic", Offset: 8, Length: 2}}},
		{"<B>x<i>y</i></B>", "xy", []Entity{{Type: "bold", Length: 2}, {Type: "italic", Offset: 1, Length: 1}}},
		{`<a href="https://x.y/?a=1&amp;b=2">l</a>`, "l", []Entity{{Type: "text_link", Length: 1, URL: "https://x.y/?a=1&b=2"}}},
		{`<pre><code class="language-go">f()</code></pre>`, "f()", []Entity{{Type: "pre", Length: 3, Language: "go"}}},
		{"<code> </code>", " ", []Entity{{Type: "code", Length: 1}}},
		{"<blockquote expandable>q</blockquote>", "q", []Entity{{Type: "expandable_blockquote", Length: 1}}},
		{`<span class="tg-spoiler">s</span><tg-spoiler>t</tg-spoiler>`, "st", []Entity{{Type: "spoiler", Length: 1}, {Type: "spoiler", Offset: 1, Length: 1}}},
		{"<b></b>", "", nil},
		{"<b>x</>", "x", []Entity{{Type: "bold", Length: 1}}},
	} {
		text, entities, err := ParseHTML(tt.in)
		if err != nil || text != tt.text || !cmp.Equal(entities, tt.entities) {
			t.Errorf("%s: %q %+v %v", tt.in, text, entities, err)
		}
	}
}

// The real server's sentences, with offsets in bytes.
func TestParseHTMLComplains(t *testing.T) {
	for in, want := range map[string]string{
		"а <b>x":                     `can't find end tag corresponding to start tag "b"`,
		"жж <x>":                     `unsupported start tag "x" at byte offset 5`,
		"a <b":                       "unclosed start tag at byte offset 2",
		"a < b":                      `unsupported start tag "" at byte offset 2`,
		"a < b > c":                  `unsupported start tag "" at byte offset 2`,
		"x</b>":                      "unexpected end tag at byte offset 1",
		"<b>x</i>":                   `unmatched end tag at byte offset 4, expected "</b>", found "</i>"`,
		"<b>bold <i>x</b> y</i>":     `unmatched end tag at byte offset 12, expected "</i>", found "</b>"`,
		"<b>x</b":                    "unclosed end tag at byte offset 4",
		"<a href>x</a>":              `expected equal sign in declaration of an attribute of the tag "a" at byte offset 0`,
		`<a href="x>y</a>`:           "unclosed start tag at byte offset 0",
		"<a href=http://x>y</a>":     "unexpected end of name token at byte offset 8",
		`<span class="red">x</span>`: `tag "span" must have class "tg-spoiler" at byte offset 0`,
	} {
		if _, _, err := ParseHTML(in); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

func FuzzParseHTML(f *testing.F) {
	for _, s := range []string{"<b>x</b>", `<a href="x">&lt;</a>`, "<pre><code class='language-go'>", "&#x110000;", "<", "</", "<b ", "<a b=c d='e>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, entities, err := ParseHTML(s)
		if err != nil || !utf8.ValidString(s) {
			return
		}
		n := units(text)
		for _, e := range entities {
			if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > n {
				t.Errorf("%q: entity %+v of %d units", s, e, n)
			}
		}
	})
}
