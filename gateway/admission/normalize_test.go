package admission

import (
	"strings"
	"testing"
	"unicode/utf8"

	"bellhop/core"
)

func TestRepair(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain", "grüß dich 👋", "grüß dich 👋"},
		{"NUL", "a\x00b\x00", "ab"},
		{"cut in the middle of a character", "caf\xc3", "caf\uFFFD"},
		{"a lone surrogate", "x\xed\xa0\xbdy", "x\uFFFDy"},
		{"latin-1", "\xe4\xf6", "\uFFFD"},
		{"empty", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := repair(tc.in); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestPreview(t *testing.T) {
	family := "👨‍👩‍👧‍👦"
	for _, tc := range []struct{ name, in, want string }{
		{"short", "hello", "hello"},
		{"first line that says something", "\n  \n one \ntwo", "one"},
		{"exactly as long", strings.Repeat("ä", 60), strings.Repeat("ä", 60)},
		{"one too long", strings.Repeat("ä", 61), strings.Repeat("ä", 59) + "…"},
		{"a family is one character", strings.Repeat(family, 61), strings.Repeat(family, 59) + "…"},
		{"sixty families", strings.Repeat(family, 60), strings.Repeat(family, 60)},
		{"blank", " \n\t", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := preview(tc.in); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestNormalizeKeepsTheCallersValue(t *testing.T) {
	s := core.Submission{Text: " keep the front \n\n", Attachments: []core.Attachment{{Kind: "photo", Name: "a\x00"}},
		Reply: &core.Reply{Quote: "q\x00"}, Display: map[string]string{"k": "v\x00"}}
	n := normalize(s)
	if n.Text != " keep the front" || n.Attachments[0].Name != "a" || n.Reply.Quote != "q" || n.Display["k"] != "v" || n.Title != "keep the front" {
		t.Errorf("%+v", n)
	}
	if s.Attachments[0].Name != "a\x00" || s.Reply.Quote != "q\x00" || s.Display["k"] != "v\x00" {
		t.Error("the caller's value was changed")
	}
	if p := normalize(core.Submission{Text: "a piece \n", Part: true}); p.Text != "a piece \n" {
		t.Errorf("the end of a piece is gone: %q", p.Text)
	}
	if p := normalize(core.Submission{Attachments: []core.Attachment{{Kind: "voice"}}}); p.Title != "voice" {
		t.Errorf("title %q", p.Title)
	}
}

func TestDigest(t *testing.T) {
	file := func(ref string) []core.Attachment { return []core.Attachment{{Kind: "photo", Ref: ref}} }
	base := core.Submission{Text: "hello", Attachments: file("f1")}
	same := []core.Submission{
		{Text: "hello ", Attachments: file("f1")},
		{Text: " hello\x00", Attachments: file("f1"), MessageID: "other", Surface: "other", Title: "other"},
	}
	other := []core.Submission{
		{Text: "hello"},
		{Text: "hello", Attachments: file("f2")},
		{Text: "Hello", Attachments: file("f1")},
		{Text: "hellophoto", Attachments: []core.Attachment{{Ref: "f1"}}},
	}
	for _, s := range same {
		if Digest(s) != Digest(base) {
			t.Errorf("%+v has another digest", s)
		}
	}
	for _, s := range other {
		if Digest(s) == Digest(base) {
			t.Errorf("%+v has the same digest", s)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"", "a\x00", "\xed\xa0\x80", strings.Repeat("👨‍👩‍👧", 70), "x\n\ny"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, part bool) {
		s := core.Submission{Text: text, Part: part}
		n := normalize(s)
		if !utf8.ValidString(n.Text) || !utf8.ValidString(n.Title) || strings.ContainsRune(n.Text, 0) {
			t.Fatalf("%q became %q, title %q", text, n.Text, n.Title)
		}
		if again := normalize(n); again.Text != n.Text || again.Title != n.Title || Digest(n) != Digest(s) {
			t.Fatalf("normalizing %q twice gives something else", text)
		}
	})
}
