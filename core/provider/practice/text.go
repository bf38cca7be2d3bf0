package practice

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
)

const (
	maxPiece = 24   // bytes after which a piece without blanks ends
	maxQuote = 1500 // characters of a tool result that are quoted
)

const greeting = "**I am the practice model.** I work offline and understand nothing, but I stream, call tools and fail like a real one. "

const help = `Try one of these:

- ` + "`run: date`" + ` calls the shell (you will be asked before risky commands)
- ` + "`write note.txt: hello` or `read note.txt`" + ` works with files
- ` + "`run: date then: read note.txt`" + ` does one after the other
- ` + "`slow: 30`" + ` takes 30 seconds: time to stop it, or to queue another message
- ` + "`count 50`, `long 9000`, `table`, `code`, `think`" + ` show kinds of answers
- ` + "`fail: overloaded`" + ` fails like a model that cannot be reached

To use a real model, set ` + "`model`" + ` and ` + "`providers`" + ` in the configuration.`

const table = `Here is a table:

| Planet | Moons | Day |
|:-------|------:|:---:|
| Earth | 1 | 24 h |
| Mars | 2 | 24 h 37 min |
| Jupiter | 95 | 9 h 56 min |

And a line after it.`

const code = "A small program:\n\n```go\npackage main\n\nimport \"fmt\"\n\nfunc main() {\n\tfor i := range 3 {\n\t\tfmt.Println(\"a < b && c > d\", i)\n\t}\n}\n```\n\nRun it with `go run .`"

const (
	thought    = "The person wants to see me reason. I should take a few steps, so that there is something to watch. First step: there is no question. Second step: so there is nothing to get wrong. "
	conclusion = "I have thought about it: what you see now is the answer, and what came before was reasoning, which most surfaces hide."
)

const filler = "The porter carried the trunk up four flights of stairs, set it down by the window, and waited for nothing. "

// pieces cuts text into about a word each, never within a character.
func pieces(text string) []string {
	var out []string
	start, end, state := 0, 0, -1
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		end += len(cluster)
		if cluster == " " || cluster == "\n" || end-start >= maxPiece {
			out = append(out, text[start:end])
			start = end
		}
	}
	if start < end {
		out = append(out, text[start:end])
	}
	return out
}

// count writes the numbers up to n.
func count(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if i > 1 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, i)
	}
	return b.String()
}

// long writes n characters in paragraphs, ending in a full stop.
func long(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString(filler)
		if i%5 == 0 {
			b.WriteString("\n\n")
		}
	}
	text := b.String()[:n] // one byte a character
	if n > 0 {
		text = text[:n-1] + "."
	}
	return text
}

// quote shows tool results in a fence that nothing inside can close.
func quote(results []string) string {
	text := strings.TrimSpace(strings.Join(results, "\n\n"))
	if text == "" {
		return "nothing."
	}
	if cut := head(text, maxQuote); len(cut) < len(text) {
		text = cut + "\n… (more of it is left out)"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return "this:\n\n" + fence + "\n" + text + "\n" + fence
}

// head returns the first n characters of text.
func head(text string, n int) string {
	end, state := 0, -1
	for rest := text; rest != "" && n > 0; n-- {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		end += len(cluster)
	}
	return text[:end]
}
