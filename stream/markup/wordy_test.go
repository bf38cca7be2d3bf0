package markup

import "testing"

// What wordy lets pass without the parser is what the parser would make of it.
func FuzzWordy(f *testing.F) {
	for _, md := range []string{"Hello, world!", "Ответ: да - 3 + 4 = 7 (так).", "a  b", "x 1. y", "it's \"quoted\" # no heading", "see www.a.b",
		"Title: $5 {a} ^b %c; d", "été", "a\u00a0", "a: b", "http: x", "a\u2028b"} {
		f.Add(md)
	}
	f.Fuzz(func(t *testing.T, md string) {
		if !wordy(md) {
			return
		}
		n, src := parse(md)
		c := chat{sink: &sink{escape: true}, t: &telegram, src: src}
		c.document(n)
		if got, want := Telegram(md), c.b.String(); got != want || TelegramSize(md) != c.units {
			t.Errorf("%q: %q, the parser makes %q", md, got, want)
		}
	})
}

func TestWordy(t *testing.T) {
	for md, want := range map[string]bool{"Hello, world!": true, "": false, "1. a": false, "a *b*": false, "a\nb": false, " a": false,
		"a ": false, "www.x.y": false, "a&amp;": false, "- a": false, "\xff": false} {
		if wordy(md) != want {
			t.Errorf("wordy(%q) = %v", md, !want)
		}
	}
}
