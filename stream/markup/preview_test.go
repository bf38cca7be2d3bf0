package markup

import "testing"

func TestPreview(t *testing.T) {
	tests := []struct{ name, md, want, live string }{
		{"plain", "Hello wor", "Hello wor", "Hello wor|"},
		{"bold open", "say **bold te", "say **bold te**", "say **bold te|**"},
		{"bold half closed", "say **bold*", "say **bold**", "say **bold*|*"},
		{"mark alone", "say **", "say", "say|"},
		{"mark at once", "**", "", ""},
		{"nested", "**a _b", "**a _b_**", "**a _b|_**"},
		{"strike", "~~gone", "~~gone~~", "~~gone|~~"},
		{"code span", "run `go te", "run `go te`", "run `go te|`"},
		{"no emphasis", "2 * 3 and my_var_na", "2 * 3 and my_var_na", "2 * 3 and my_var_na|"},
		{"fence open", "x\n```go\nfunc", "x\n```go\nfunc\n```", "x\n```go\nfunc|\n```"},
		{"fence line coming", "x\n```g", "x", "x|"},
		{"fence alone", "```", "", ""},
		{"fence empty", "```go\n", "```go\n```", "```go\n|\n```"},
		{"half closer", "```\na\n``", "```\na\n```", "```\na\n|\n```"},
		{"closed fence", "```\na\n```", "```\na\n```", "```\na\n```\n|"},
		{"closed fence and line", "```\na\n```\n", "```\na\n```", "```\na\n```\n|"},
		{"longer fence", "~~~~md\n```go\nx\n```", "~~~~md\n```go\nx\n```\n~~~~", "~~~~md\n```go\nx\n```|\n~~~~"},
		{"not a closer", "```\ncode\n``` not", "```\ncode\n``` not\n```", "```\ncode\n``` not|\n```"},
		{"fence in item", "- a\n  ```\n  x", "- a\n  ```\n  x\n  ```", "- a\n  ```\n  x|\n  ```"},
		{"fence in quote", "> ```\n> x", "> ```\n> x\n> ```", "> ```\n> x|\n> ```"},
		{"link coming", "see [the docs](https://go.d", "see the docs", "see the docs|"},
		{"image coming", "see ![alt](https://go.d", "see alt", "see alt|"},
		{"label coming", "see [the do", "see [the do", "see [the do|"},
		{"list marker", "a\n- ", "a", "a|"},
		{"setext or list", "a\n-", "a", "a|"},
		{"number", "a\n2.", "a", "a|"},
		{"heading mark", "a\n\n##", "a", "a|"},
		{"backslash", `a \`, "a", "a|"},
		{"after paragraph", "a **b**\n\n", "a **b**", "a **b**|"},
		{"stray mark before", "a *b\n\nc", "a *b\n\nc", "a *b\n\nc|"},
		{"item", "- *a\n- b", "- *a\n- b", "- *a\n- b|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Preview(tt.md); got != tt.want {
				t.Errorf("Preview(%q) = %q, want %q", tt.md, got, tt.want)
			}
			if got := Live(tt.md, "|"); got != tt.live {
				t.Errorf("Live(%q) = %q, want %q", tt.md, got, tt.live)
			}
		})
	}
}
