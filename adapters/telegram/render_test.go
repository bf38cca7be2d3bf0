package telegram_test

import (
	"testing"
	"unicode/utf8"

	"bellhop/adapters/telegram"
	"bellhop/adapters/telegram/telegramtest"
	"bellhop/stream/markup"
)

// FuzzRender: whatever a model writes is markup that the strict server takes, and Size is what that server counts.
func FuzzRender(f *testing.F) {
	for _, md := range []string{"**bold _both** italic_", "><a>", "| *a* | b |\n| --- | --- |\n| *c* | `d` |", "```go\nx < y && z\n", "[x](https://a/(b))",
		"press ` ` to jump", "- [ ] a\n  1. b\n\n> c\n> - d", "a &amp; &lt;b&gt; <i>c</i>", "~~~~md\n```go\nx\n```\n~~~~", "# h\n\n---\n![i](u)", "😀 _e\u0301_"} {
		f.Add(md)
	}
	a, err := telegram.New("telegram", telegram.Config{Token: planted}, telegram.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, md string) {
		if !utf8.ValidString(md) {
			return
		}
		html := markup.Telegram(md)
		text, _, err := telegramtest.ParseHTML(html)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", md, html, err)
		}
		n := 0
		for _, r := range text {
			if n++; r > 0xffff {
				n++
			}
		}
		if got := a.Size(md); got != n {
			t.Errorf("%q becomes %q: size %d, the server counts %d", md, html, got, n)
		}
	})
}
