package tool

import (
	"strings"
	"unicode/utf8"
)

// Shorten returns at most max bytes of s, never cutting inside a rune, and "…" behind it when something is missing.
func Shorten(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return head(s, max) + "…"
}

// Line returns the first line of s, shortened to max bytes.
func Line(s string, max int) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if line = strings.TrimSpace(line); rest != "" && len(line) <= max {
		return line + " …"
	}
	return Shorten(line, max)
}

// Repair makes s fit to be stored and sent: valid UTF-8 without NUL.
func Repair(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// head returns the longest prefix of s that has at most max bytes and ends at a rune's end.
func head(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// tail returns the longest suffix of s that has at most max bytes and begins at a rune's beginning, also when s itself
// begins inside one.
func tail(s string, max int) string {
	from := len(s) - min(len(s), max)
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}
