package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// clean repairs text for the wire: valid UTF-8, no NUL. Clean text comes back as it is.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return s
}

// clip shortens s to at most n characters as people see them, with an ellipsis when something is missing.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	rest, state, end := s, -1, 0
	for range n {
		var cluster string
		if cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state); cluster == "" {
			return s
		}
		end += len(cluster)
	}
	if rest == "" {
		return s
	}
	return strings.TrimRight(s[:end], " \t\r\n") + "…"
}

// wholeRunes drops the first part of a character that was cut at the end.
func wholeRunes(b []byte) []byte {
	for n := 1; n <= utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return b
			}
			return b[:len(b)-n]
		}
	}
	return b
}
