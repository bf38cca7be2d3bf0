// Package markup renders the Markdown of answers into the dialects of platforms, one file a dialect, on one parser. It
// also knows enough of the syntax to close what is open in a text that still grows, and to find where a text may be cut.
//
//	Markdown --> goldmark --> chat   (telegram.go, plain.go: one walk, two tables of tags)
//	                     \--> page   (web.go)
//	Markdown --> Fence, Spans (scan.go, inline.go) --> Preview, and the splitter of package stream
//
// The Markdown is CommonMark with GFM tables, strikethrough, task lists and bare links. Four rules differ, because what
// a model writes must never vanish: raw HTML is text, reference definitions are text, a line break is a line break, and
// the mark of a quote is followed by a blank.
// Emphasis works beside the punctuation of scripts that write without blanks, which models for those scripts rely on.
//
// Invariants. Output is well formed whatever the input is, tags never cross, and all text of the input is in it. Links
// lead to http, https, mailto and, where the platform has such, its own scheme; any other link is its text. Every
// function is pure and safe for concurrent use.
//
// It does not split (package stream does), fetch, highlight, or know how long a message may be.
package markup
