package markup

import "github.com/rivo/uniseg"

// Clip returns at most n graphemes of s, the last of which is an ellipsis when something is missing.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	kept, rest, state := 0, s, -1
	for range n - 1 {
		if rest == "" {
			return s
		}
		var g string
		g, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		kept += len(g)
	}
	if _, after, _, _ := uniseg.FirstGraphemeClusterInString(rest, state); after == "" {
		return s
	}
	return s[:kept] + "…"
}
