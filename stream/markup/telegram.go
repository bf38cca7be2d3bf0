package markup

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

func telegramTo(s *sink, md string) {
	if wordy(md) {
		s.text(md)
		return
	}
	n, src := parse(valid(md))
	c := chat{sink: s, t: &telegram, src: src}
	c.document(n)
}
