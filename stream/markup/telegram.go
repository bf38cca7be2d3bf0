package markup

import "strings"

// telegram is the HTML that the Bot API takes (core.telegram.org/bots/api#html-style): b i s blockquote code pre a.
// blockquote cannot hold another one, and pre and code hold text only.
var telegram = tags{
	bold:   [2]string{"<b>", "</b>"},
	italic: [2]string{"<i>", "</i>"},
	strike: [2]string{"<s>", "</s>"},
	quote:  [2]string{"<blockquote>", "</blockquote>"},
	code:   [2]string{"<code>", "</code>"},
	pre: func(lang string) (string, string) {
		if lang == "" {
			return "<pre>", "</pre>"
		}
		return `<pre><code class="language-` + quoteAttr.Replace(lang) + `">`, "</code></pre>"
	},
	link:    func(href string) (string, string) { return `<a href="` + quoteAttr.Replace(href) + `">`, "</a>" },
	schemes: []string{"http", "https", "mailto", "tel", "tg"},
}

// Telegram renders md as the HTML that the Bot API takes. The result is empty when md shows nothing.
func Telegram(md string) string {
	s := &sink{escape: true}
	telegramTo(s, md)
	return s.b.String()
}

// TelegramSize counts the UTF-16 code units that Telegram(md) shows, without building it. The server counts characters
// after parsing; UTF-16 units are never fewer.
func TelegramSize(md string) int {
	s := &sink{measure: true}
	telegramTo(s, md)
	return s.units
}

// TelegramFits reports that Telegram(md) certainly shows no more than max UTF-16 units, without parsing. What is shown is
// what was written less the markup, in the place of which come line breaks, indents and marks of lists; only tables are laid
// out anew. false says nothing: TelegramSize must tell.
func TelegramFits(md string, max int) bool {
	if len(md) > max || strings.Contains(md, "|") {
		return false
	}
	most, perBlock := len(md)+maxTab*strings.Count(md, "\t"), maxBreaks
	eachLine(md, func(line string) {
		blocks, item := heads(line)
		if item {
			perBlock = maxBreaks + maxIndent + maxMark
		}
		most += perBlock * blocks
	})
	return most <= max
}

const (
	maxBreaks = 2  // between two blocks
	maxTab    = 3  // blanks that a tab becomes, less the tab
	maxMark   = 13 // "1000000000. " and what an item without its number has
)

// heads counts the blocks that may begin in a line: one, and one more for each mark of a list or a quote at its head.
func heads(line string) (n int, item bool) {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '-', c == '+', c == '*', c == '.', c == ')':
			n, item = n+1, true
		case c == '>':
			n++
		case c == ' ', c == '\t', c == '\r', c >= '0' && c <= '9':
		default:
			return n + 1, item
		}
	}
	return n + 1, item
}

func telegramTo(s *sink, md string) {
	if wordy(md) {
		s.text(md)
		return
	}
	n, src := parse(valid(md))
	c := chat{sink: s, t: &telegram, src: src}
	c.document(n)
}
