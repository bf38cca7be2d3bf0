package markup

import (
	"strings"
	"testing"
)

func TestClip(t *testing.T) {
	const family = "👨‍👩‍👧‍👦"
	for _, c := range [][2]string{{"", ""}, {"short", "short"}, {strings.Repeat("a", 8), strings.Repeat("a", 8)}, {strings.Repeat("a", 9), "aaaaaaa…"},
		{strings.Repeat(family, 9), strings.Repeat(family, 7) + "…"}, {strings.Repeat(family, 8), strings.Repeat(family, 8)},
		{strings.Repeat("命", 8), strings.Repeat("命", 8)}} {
		if got := Clip(c[0], 8); got != c[1] {
			t.Errorf("%q: got %q", c[0], got)
		}
	}
}
