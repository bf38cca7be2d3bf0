package main

import (
	"html"
	"slices"
	"strings"
	"unicode/utf16"

	"bellhop/adapters/telegram/telegramtest"
)

// render turns a text and its entities into HTML for the page. Everything that is not a known entity is escaped.
func render(text string, entities []telegramtest.Entity) string {
	units := utf16.Encode([]rune(text))
	var b strings.Builder
	at := 0
	write := func(to int) {
		to = min(max(to, at), len(units))
		b.WriteString(html.EscapeString(string(utf16.Decode(units[at:to]))))
		at = to
	}
	var open []telegramtest.Entity
	shut := func(until int) {
		for len(open) > 0 {
			e := open[len(open)-1]
			if e.Offset+e.Length > until {
				return
			}
			write(e.Offset + e.Length)
			b.WriteString(tags(e)[1])
			open = open[:len(open)-1]
		}
	}
	for _, e := range entities {
		shut(e.Offset)
		write(e.Offset)
		b.WriteString(tags(e)[0])
		open = append(open, e)
	}
	shut(len(units))
	write(len(units))
	for _, e := range slices.Backward(open) { // entities past the end
		b.WriteString(tags(e)[1])
	}
	return b.String()
}

var plainTags = map[string][2]string{"bold": {"<b>", "</b>"}, "italic": {"<i>", "</i>"}, "underline": {"<u>", "</u>"},
	"strikethrough": {"<s>", "</s>"}, "code": {"<code>", "</code>"}, "pre": {"<pre>", "</pre>"},
	"blockquote": {"<blockquote>", "</blockquote>"}, "expandable_blockquote": {"<blockquote>", "</blockquote>"},
	"spoiler": {`<span class="spoiler">`, "</span>"}, "mention": {`<span class="link">`, "</span>"},
	"bot_command": {`<span class="link">`, "</span>"}}

func tags(e telegramtest.Entity) [2]string {
	if e.Type == "text_link" && safe(e.URL) {
		return [2]string{`<a target="_blank" rel="noopener noreferrer" href="` + html.EscapeString(e.URL) + `">`, "</a>"}
	}
	return plainTags[e.Type]
}

// safe keeps addresses that run code out of the page.
func safe(address string) bool {
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if strings.HasPrefix(strings.ToLower(address), scheme) {
			return true
		}
	}
	return false
}
