package main

import (
	"strings"
	"testing"

	"bellhop/adapters/telegram/telegramtest"
)

func TestRender(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a &lt;script&gt; &amp; b", "a &lt;script&gt; &amp; b"},
		{"<b>x <i>y</i></b> 😀 <code>z</code>", "<b>x <i>y</i></b> 😀 <code>z</code>"},
		{`<a href="https://x.y/?a=1&amp;b=&quot;">l</a>`, `<a target="_blank" rel="noopener noreferrer" href="https://x.y/?a=1&amp;b=&#34;">l</a>`},
		{`<a href="javascript:alert(1)">l</a>`, "l"},
		{"<pre>a\nb</pre>", "<pre>a\nb</pre>"},
	} {
		text, entities, err := telegramtest.ParseHTML(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := render(text, entities); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.in, got, tt.want)
		}
	}
	odd := []telegramtest.Entity{{Type: "bold", Offset: 1, Length: 99}, {Type: "nonsense", Offset: -3, Length: 1}}
	if got := render("abc", odd); strings.Count(got, "<b>") != strings.Count(got, "</b>") || !strings.Contains(got, "bc") {
		t.Errorf("odd entities: %s", got)
	}
}
