package markup

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the goldens anew")

// TestCorpus renders every testdata/*.md into every dialect.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			md := string(src)
			checkDialects(t, md)
			base := strings.TrimSuffix(file, ".md")
			golden(t, base+".telegram.html", Telegram(md))
			golden(t, base+".web.html", Web(md))
			golden(t, base+".txt", Plain(md))
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", file, got, want)
	}
}

// checkDialects checks what must hold for every input, in all states of its growth too.
func checkDialects(t *testing.T, md string) {
	t.Helper()
	s := Telegram(md)
	text, err := acceptTelegram(s)
	if err != nil {
		t.Errorf("refused: %v\n%s", err, s)
	}
	if n := TelegramSize(md); n != UTF16(text) {
		t.Errorf("TelegramSize %d, shows %d", n, UTF16(text))
	}
	if err := acceptWeb(Web(md)); err != nil {
		t.Errorf("web: %v\n%s", err, Web(md))
	}
	for _, out := range []string{s, Web(md), Plain(md)} {
		if !utf8.ValidString(out) {
			t.Errorf("not UTF-8: %q", out)
		}
	}
}

func TestTelegramCases(t *testing.T) {
	tests := []struct{ name, md, want string }{
		{"C022", "[Go](https://en.wikipedia.org/wiki/Go_(programming_language))", `<a href="https://en.wikipedia.org/wiki/Go_(programming_language)">Go</a>`},
		{"C023", "Test (\n'elem1' => 'test123',\n)", "Test (\n'elem1' =&gt; 'test123',\n)"},
		{"C023 all signs", "a \\_ ( ) ~ > # + - = | { } . ! \\\\ z", `a _ ( ) ~ &gt; # + - = | { } . ! \ z`},
		{"C025", "battery_alarm calls my_var_name and 2 * 3 * 4", "battery_alarm calls my_var_name and 2 * 3 * 4"},
		{"C026", "><a>", "&gt;&lt;a&gt;"},
		{"C026 signs", ">= 5\n>_<\n>>x", "&gt;= 5\n&gt;_&lt;\n&gt;&gt;x"},
		{"quote with its blank", "> <a>\n>\n> b", "<blockquote>&lt;a&gt;\n\nb</blockquote>"},
		{"quote marks in a row", ">> b", "<blockquote>b</blockquote>"},
		{"C026 inline", "x ><a> <b>y</b>", "x &gt;&lt;a&gt; &lt;b&gt;y&lt;/b&gt;"},
		{"C028", "**bold _both** italic_", "<b>bold _both</b> italic_"},
		{"C031", "| *Metric* | *Value* |\n| --- | --- |\n| *Latency* | 12ms |", "<pre>Metric  | Value\n--------|------\nLatency | 12ms</pre>"},
		{"C032 italic", "This is _italic text_.", "This is <i>italic text</i>."},
		{"C032 blank code", "Press ` ` to jump", "Press <code> </code> to jump"},
		{"C037", "````\nout ``` in\n````", "<pre>out ``` in</pre>"},
		{"C038", "400 {\"type\":\"invalid_request_error\",\"message\":\"messages.3: tool_use ids…\"}", "400 {\"type\":\"invalid_request_error\",\"message\":\"messages.3: tool_use ids…\"}"},
		{"bold in heading", "# A **b** c", "<b>A b c</b>"},
		{"quote in quote", "> a\n> > b", "<blockquote>a\n\nb</blockquote>"},
		{"language", "```c++\nx<y\n```", "<pre><code class=\"language-c++\">x&lt;y</code></pre>"},
		{"language with a quote", "```a\"b\nx\n```", "<pre><code class=\"language-a&quot;b\">x</code></pre>"},
		{"script link", "[x](javascript:alert(1)) [y](JaVa%0aScript:z) [z](data:text/html,x)", "x y z"},
		{"link without label", "[](https://a.b/)", `<a href="https://a.b/">https://a.b/</a>`},
		{"code in link", "[`x`](https://a.b)", `<a href="https://a.b">x</a>`},
		{"relative link", "[x](/etc/passwd)", "x"},
		{"escapes", `\*a\* \<b\> &lt; &copy; \&amp; &notanentity; &#0;`, "*a* &lt;b&gt; &lt; © &amp;amp; &amp;notanentity; \uFFFD"},
		{"empty", "```\n```\n\nx ****", "x ****"},
		{"nothing", " \n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Telegram(tt.md); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			checkDialects(t, tt.md)
		})
	}
}

func TestPlainFromTheOriginal(t *testing.T) { // C029
	if got := Plain("Sure! Step 1 - **done**."); got != "Sure! Step 1 - done." {
		t.Error(got)
	}
	if got := Plain("[Go](https://go.dev) and <https://go.dev> and [https://go.dev](https://go.dev)"); got != "Go (https://go.dev) and https://go.dev and https://go.dev" {
		t.Error(got)
	}
}

// C040: what people chose is shown as it is, and takes no part in the markup around it.
func TestEscape(t *testing.T) {
	for _, name := range []string{"`test", "*bold*", "_x_ and __y__", "[a](http://b.c)", "<b>&amp;", `back\slash`, "~~gone~~", "|", "a`b`c", "!>#", "日本 😀"} {
		md := "**Run** – allowed by " + Escape(name) + ", then `this is code`"
		if got, want := Plain(md), "Run – allowed by "+name+", then this is code"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := Telegram(md); !strings.HasSuffix(got, ", then <code>this is code</code>") || strings.Count(got, "<code>") != 1 || strings.Contains(got, "<a ") {
			t.Errorf("%q takes part: %s", name, got)
		}
	}
}

func TestUTF16(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "日本": 2, "😀": 2, "👨‍👩‍👧‍👦": 11} {
		if got := UTF16(s); got != want {
			t.Errorf("UTF16(%q) = %d, want %d", s, got, want)
		}
	}
}

func FuzzMarkup(f *testing.F) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b), uint16(len(b)/2))
	}
	f.Fuzz(func(t *testing.T, md string, cut uint16) {
		checkDialects(t, md)
		part := md[:min(int(cut), len(md))]
		checkDialects(t, Live(part, " ▉"))
		checkDialects(t, Preview(part))
		var sc Scanner
		eachLine(Preview(part), func(l string) { sc.Line(l) })
		if sc.Fence() != nil {
			t.Errorf("fence left open: %q", Preview(part))
		}
	})
}

func BenchmarkTelegram(b *testing.B) {
	md := corpus(b)
	b.SetBytes(int64(len(md)))
	b.ReportAllocs()
	for b.Loop() {
		Telegram(md)
	}
}

func BenchmarkTelegramSize(b *testing.B) {
	md := corpus(b)
	b.SetBytes(int64(len(md)))
	b.ReportAllocs()
	for b.Loop() {
		TelegramSize(md)
	}
}

func BenchmarkPreview(b *testing.B) {
	md := corpus(b)[:4000]
	b.SetBytes(int64(len(md)))
	b.ReportAllocs()
	for b.Loop() {
		Preview(md)
	}
}

func corpus(b *testing.B) string {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil {
		b.Fatal(err)
	}
	var s strings.Builder
	for _, f := range files {
		t, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		s.Write(t)
		s.WriteString("\n\n")
	}
	return s.String()
}
