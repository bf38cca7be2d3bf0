package stream

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"bellhop/stream/markup"
)

func FuzzSplit(f *testing.F) {
	files, err := filepath.Glob("markup/testdata/*.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b), uint16(100))
	}
	f.Add("```"+strings.Repeat("x", 90)+"\n"+strings.Repeat("y\n", 50)+"```", uint16(80))
	f.Add(strings.Repeat("👨‍👩‍👧‍👦", 40), uint16(30))
	f.Fuzz(func(t *testing.T, md string, max uint16) {
		if max < 40 || !utf8.ValidString(md) {
			return
		}
		for _, size := range []func(string) int{markup.UTF16, func(s string) int { return len(s) }} {
			pieces := Split(md, int(max), size)
			for i, p := range pieces {
				if size(p) > int(max) {
					t.Fatalf("piece %d has %d > %d: %q", i, size(p), max, p)
				}
				if !utf8.ValidString(p) || strings.TrimSpace(p) == "" {
					t.Fatalf("piece %d is broken: %q", i, p)
				}
				var sc markup.Scanner
				for l := range strings.SplitSeq(p, "\n") {
					sc.Line(l)
				}
				if sc.Fence() != nil {
					t.Fatalf("piece %d leaves a fence open: %q", i, p)
				}
			}
			if !rejoins(md, pieces) {
				t.Fatalf("text was lost or changed: %q\n%q", md, pieces)
			}
		}
	})
}

// rejoins reports whether the pieces hold all letters of md, in order; what is inserted is markup, or the heading of a
// table that is in md.
func rejoins(md string, pieces []string) bool {
	rest := strings.Join(pieces, "\n")
	for _, r := range md {
		if unicode.IsSpace(r) || strings.ContainsRune("`~*_>|-:", r) {
			continue
		}
		i := strings.IndexRune(rest, r)
		if i < 0 {
			return false
		}
		rest = rest[i+utf8.RuneLen(r):]
	}
	return true
}

// TestSplitIsStable grows texts: what was cut off once is cut off in the same way for ever.
func TestSplitIsStable(t *testing.T) {
	files, err := filepath.Glob("markup/testdata/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		md := strings.Repeat(string(b)+"\n\n", 3)
		whole := Split(md, 200, markup.UTF16)
		for n := 100; n < len(md); n += 97 {
			for n < len(md) && !utf8.RuneStart(md[n]) {
				n++
			}
			part := Split(md[:n], 200, markup.UTF16)
			if len(part) < 2 {
				continue
			}
			sealed := part[:len(part)-1]
			if len(sealed) > len(whole) || !equal(sealed, whole[:len(sealed)]) {
				t.Errorf("%s at %d:\n%.1000q\n%.1000q", file, n, sealed, whole[:min(len(sealed), len(whole))])
				break
			}
		}
	}
}
