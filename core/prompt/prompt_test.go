package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/provider"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSystemOrder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "AGENTS.md", "Use tabs.")
	write(t, dir, "b.txt", "")
	started := time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)
	in := Input{Hint: "Tables are shown.", Caller: "Call me Captain.", Group: true, Lang: "de", Notes: "Likes tea.", Started: started}
	b := New(Options{Identity: "You are Kim.", Workspace: dir})
	got := b.System(in)
	at := -1
	for _, part := range []string{"You are Kim.", "<workspace>", "AGENTS.md, b.txt", "Tables are shown.", "begins with the name of its author",
		"Call me Captain.", "Use tabs.", "Likes tea.", "language is de", "Monday, 30 November 2026"} {
		i := strings.Index(got, part)
		if i <= at {
			t.Errorf("%q is missing or out of order in:\n%s", part, got)
		}
		at = i
	}
	in.Started = started.Add(20 * time.Minute)
	if again := b.System(in); again != got {
		t.Errorf("the time of day shows: %s", cmp.Diff(got, again))
	}
}

func TestSystemIsFrozen(t *testing.T) {
	dir := t.TempDir()
	b := New(Options{Workspace: dir})
	first := b.System(Input{})
	if b.System(Input{}) != first {
		t.Error("two builds differ")
	}
	write(t, dir, "new.txt", "x")
	if b.System(Input{}) == first {
		t.Error("a new session does not see the new file")
	}
	if got := b.System(Input{Previous: first}); got != first {
		t.Errorf("the next segment's workspace differs: %s", cmp.Diff(first, got))
	}
	if other := New(Options{Workspace: t.TempDir()}).System(Input{Previous: first}); other == first {
		t.Error("the workspace of another folder was kept")
	}
}

func TestProjectFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, filepath.Dir(secret), "secret", "outside")
	for name, c := range map[string]struct {
		make func(dir string)
		want string
	}{
		"none":          {func(string) {}, ""},
		"blank":         {func(dir string) { write(t, dir, "AGENTS.md", " \n") }, ""},
		"whole":         {func(dir string) { write(t, dir, "AGENTS.md", "0123456789") }, "0123456789\n</file>"},
		"cut":           {func(dir string) { write(t, dir, "AGENTS.md", "012345678😀") }, "012345678\n[the first 9 of 13 bytes of this file]"},
		"not UTF-8":     {func(dir string) { write(t, dir, "AGENTS.md", "a\xff\xffb") }, "a\uFFFDb"},
		"a folder":      {func(dir string) { _ = os.Mkdir(filepath.Join(dir, "AGENTS.md"), 0o755) }, ""},
		"a link out":    {func(dir string) { _ = os.Symlink(secret, filepath.Join(dir, "AGENTS.md")) }, ""},
		"no workspace":  {func(dir string) { _ = os.Remove(dir) }, ""},
		"a broken link": {func(dir string) { _ = os.Symlink("nowhere", filepath.Join(dir, "AGENTS.md")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(dir)
			got := New(Options{Workspace: dir, MaxFile: 10}).System(Input{})
			if !utf8.ValidString(got) || strings.Contains(got, "outside") || strings.Contains(got, "<file") != (c.want != "") || !strings.Contains(got, c.want) {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestContents(t *testing.T) {
	dir := t.TempDir()
	for i := range maxEntries + 5 {
		write(t, dir, "f"+strings.Repeat("x", i), "")
	}
	write(t, dir, "a\n<b>", "")
	got := New(Options{Workspace: dir}).System(Input{})
	if !strings.Contains(got, `"a\n<b>"`) || !strings.Contains(got, "and 6 more") {
		t.Error(got)
	}
}

func TestAPIText(t *testing.T) {
	long := strings.Repeat("👨‍👩‍👧‍👦", maxReply+10)
	for name, c := range map[string]struct {
		in   core.Submission
		want string
	}{
		"plain":         {core.Submission{Text: "hi", Author: "Ann"}, "hi"},
		"resolved":      {core.Submission{Text: "@file:a", APIText: "contents"}, "contents"},
		"group":         {core.Submission{Text: "hi", Author: "Ann\nB", Group: true}, "Ann B: hi"},
		"quote":         {core.Submission{Text: "mark this done", Reply: &core.Reply{Own: true, Text: "item 1\nitem 2\nitem 3", Quote: "item 2"}}, "[replying to your message: item 2]\nmark this done"},
		"whole message": {core.Submission{Text: "no", Reply: &core.Reply{Author: "Bob", Text: "Is it?"}, Author: "Ann", Group: true}, "[replying to Bob: Is it?]\nAnn: no"},
		"no author":     {core.Submission{Text: "no", Reply: &core.Reply{Text: "Is it?"}}, "[replying to a message: Is it?]\nno"},
		"empty reply":   {core.Submission{Text: "no", Reply: &core.Reply{MessageID: "7"}}, "no"},
		"clipped":       {core.Submission{Text: "no", Reply: &core.Reply{Text: long}}, "[replying to a message: " + strings.Repeat("👨‍👩‍👧‍👦", maxReply) + "…]\nno"},
		"voice":         {core.Submission{Text: "hello", Voice: true}, "[voice message, transcribed] hello"},
		"attached": {core.Submission{Text: "see", Attachments: []core.Attachment{{Kind: "photo"}, {Kind: "document", Name: "a.pdf", MIME: "application/pdf", Size: 12, Path: "m/a.pdf"}}},
			"see\n[attached: document a.pdf, application/pdf, 12 bytes, saved as m/a.pdf]"},
		"only attached": {core.Submission{Attachments: []core.Attachment{{}}}, "[attached: file]"},
		"broken":        {core.Submission{Text: "a\xff"}, "a\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, APIText(c.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMeter(t *testing.T) {
	var m Meter
	r := provider.Request{Model: "m", System: strings.Repeat("x", 4000), Messages: []provider.Message{{Role: core.RoleUser, Text: strings.Repeat("x", 4000)}}}
	base := m.Tokens(r)
	if base != Tokens(r) || base < 2000 || base > 2020 {
		t.Fatalf("%d", base)
	}
	m.Learn(r, core.Usage{Input: 4 * base / 2})
	if got := m.Tokens(r); got != 2*base {
		t.Errorf("after growth: %d, want %d", got, 2*base)
	}
	m.Learn(r, core.Usage{Input: base})
	if got := m.Tokens(r); got <= base || got >= 2*base {
		t.Errorf("after a fall: %d", got)
	}
	before := m.Tokens(r)
	m.Learn(r, core.Usage{Input: 1, Estimated: true})
	m.Learn(r, core.Usage{})
	if m.Tokens(r) != before {
		t.Error("it learned from an estimate")
	}
	other := r
	other.Model = "n"
	if m.Tokens(other) != base {
		t.Error("one model's ratio is used for another")
	}
}

func TestPictures(t *testing.T) {
	dir := t.TempDir()
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 20)
	write(t, dir, "a.png", png)
	write(t, dir, "lie.png", "<html>no picture</html>")
	write(t, dir, "large.png", png+strings.Repeat("x", 100))
	see := Pictures(100)
	for name, want := range map[string]bool{"a.png": true, "lie.png": false, "large.png": false, "missing.png": false, "": false} {
		img, ok := see(core.Attachment{Kind: "photo", MIME: "image/jpeg", Path: filepath.Join(dir, name)})
		if ok != want || ok && (img.MIME != "image/png" || string(img.Data) != png) {
			t.Errorf("%q: %v %s", name, ok, img.MIME)
		}
	}
}
