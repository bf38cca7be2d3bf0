package attach

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/turn"
)

// platform hands out files by their reference; a function stands for one attempt after the other.
type platform map[string]func(ctx context.Context, attempt int) (io.ReadCloser, error)

type fetcher struct {
	files    platform
	attempts map[string]int
}

func (f *fetcher) Fetch(ctx context.Context, file adapters.File) (io.ReadCloser, error) {
	f.attempts[file.Ref]++
	if fn := f.files[file.Ref]; fn != nil {
		return fn(ctx, f.attempts[file.Ref])
	}
	return nil, &adapters.Error{Kind: adapters.Gone, Method: "getFile", Text: "wrong file id"}
}

func bytesOf(s string) func(context.Context, int) (io.ReadCloser, error) {
	return func(context.Context, int) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
}

func failing(kind adapters.ErrorKind) func(context.Context, int) (io.ReadCloser, error) {
	return func(context.Context, int) (io.ReadCloser, error) {
		return nil, &adapters.Error{Kind: kind, Method: "getFile"}
	}
}

// cutBody breaks off after its text.
type cutBody struct{ io.Reader }

func (cutBody) Close() error { return nil }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("cut off") }

// next is the turn that would run.
type next struct {
	ran bool
	in  turn.Input
}

func (n *next) Run(_ context.Context, in turn.Input, _ func(core.EventBody)) (core.Outcome, []core.Message) {
	n.ran, n.in = true, in
	return core.Outcome{Result: core.Completed}, nil
}

func (n *next) said() core.Submission { return n.in.Claim.Admission.Submission }

type world struct {
	t    *testing.T
	r    *Runner
	from *fetcher
	next *next
	dir  string
	tail []core.Message // of the last turn
}

func newWorld(t *testing.T, files platform) *world {
	w := &world{t: t, from: &fetcher{files, map[string]int{}}, next: &next{}, dir: t.TempDir()}
	w.r = New(Options{Next: w.next, Fetchers: map[string]adapters.Fetcher{"telegram": w.from}, Workspace: w.dir, MaxFile: 1000})
	return w
}

func (w *world) run(ctx context.Context, text string, files ...core.Attachment) core.Outcome {
	w.t.Helper()
	in := turn.Input{Claim: new(core.Claim)}
	in.Claim.Admission.ID = "A1"
	in.Claim.Admission.Submission = core.Submission{Text: text, Attachments: files, Route: core.Route{Platform: "telegram", Chat: "1"}}
	given := append([]core.Attachment(nil), files...)
	o, tail := w.r.Run(ctx, in, func(core.EventBody) {})
	w.tail = tail
	if o.Reason == core.ReasonMedia && (len(tail) != 2 || tail[0].Role != core.RoleUser || tail[1].Role != core.RoleAssistant ||
		tail[1].Content != o.Text || tail[0].Admission != "A1" || tail[1].Admission != "A1") {
		w.t.Errorf("later turns do not know what was said: %+v", tail)
	}
	if diff := cmp.Diff(given, files); diff != "" {
		w.t.Errorf("the caller's row was changed:\n%s", diff)
	}
	return o
}

// has asserts what a file of the turn holds.
func (w *world) has(i int, content string) core.Attachment {
	w.t.Helper()
	a := w.next.said().Attachments[i]
	b, err := os.ReadFile(a.Path)
	if err != nil || string(b) != content || a.Size != int64(len(content)) {
		w.t.Errorf("file %d is %q, %d bytes said, %v", i, b, a.Size, err)
	}
	if rel, err := filepath.Rel(filepath.Join(w.dir, "inbox", "A1"), a.Path); err != nil || rel != a.Name {
		w.t.Errorf("%s is not directly in the message's folder (%v)", a.Path, err)
	}
	return a
}

// left lists what lies in the message's folder.
func (w *world) left() []string {
	list, err := os.ReadDir(filepath.Join(w.dir, "inbox", "A1"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func doc(ref, name string) core.Attachment {
	return core.Attachment{Kind: "document", Ref: ref, Name: name}
}

func TestFetch(t *testing.T) {
	w := newWorld(t, platform{"r1": bytesOf("hello"), "r2": bytesOf("\x89PNG\r\n\x1a\nrest")})
	if o := w.run(t.Context(), "look", doc("r1", "a.txt"), core.Attachment{Kind: "photo", Ref: "r2"}); o.Result != core.Completed {
		t.Fatalf("%+v", o)
	}
	if a := w.has(0, "hello"); a.MIME != "text/plain; charset=utf-8" || a.Ref != "r1" {
		t.Errorf("%+v", a)
	}
	if a := w.has(1, "\x89PNG\r\n\x1a\nrest"); a.MIME != "image/png" || a.Name != "photo.jpg" {
		t.Errorf("%+v", a)
	}
	if w.next.said().APIText != "" {
		t.Errorf("the model is told %q", w.next.said().APIText)
	}
}

func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, platform{
			"temporary": func(_ context.Context, n int) (io.ReadCloser, error) {
				if n < 3 {
					return nil, &adapters.Error{Kind: adapters.Temporary, Method: "getFile", Code: 502}
				}
				return bytesOf("third")(nil, n)
			},
			"cut": func(_ context.Context, n int) (io.ReadCloser, error) {
				if n == 1 {
					return cutBody{io.MultiReader(strings.NewReader("half"), broken{})}, nil
				}
				return bytesOf("whole")(nil, n)
			},
			"slow": func(ctx context.Context, n int) (io.ReadCloser, error) {
				if n == 1 {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return bytesOf("at last")(nil, n)
			},
			"limited": func(_ context.Context, n int) (io.ReadCloser, error) {
				if n == 1 {
					return nil, &adapters.Error{Kind: adapters.Limited, Method: "getFile", Code: 429, RetryAfter: 7 * time.Second}
				}
				return bytesOf("later")(nil, n)
			},
		})
		w.run(t.Context(), "x", doc("temporary", "1"), doc("cut", "2"), doc("slow", "3"))
		w.has(0, "third")
		w.has(1, "whole")
		w.has(2, "at last")
		begin := time.Now()
		w.run(t.Context(), "x", doc("limited", "4"))
		if d := time.Since(begin); d < 7*time.Second || d > 10*time.Second {
			t.Errorf("asked again after %v, not 7 s", d)
		}
		w.has(0, "later")
	})
}

// C080: no turn with empty content; what was written beside the file is still answered.
func TestPermanentFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := func(context.Context, int) (io.ReadCloser, error) {
			return nil, &adapters.Error{Kind: adapters.Limited, Method: "getFile", RetryAfter: time.Hour}
		}
		files := platform{"gone": failing(adapters.Gone), "down": failing(adapters.Temporary), "large": bytesOf(strings.Repeat("x", 1001)),
			"hour": long, "exact": bytesOf(strings.Repeat("x", 1000))}
		for ref, attempts := range map[string]int{"gone": 1, "down": 3, "large": 1, "hour": 1} {
			w := newWorld(t, files)
			if o := w.run(t.Context(), "please read", doc(ref, "n.txt")); o.Result != core.Completed {
				t.Errorf("%s beside a text: %+v", ref, o)
			}
			if s := w.next.said(); s.APIText != "please read\n[the attached n.txt could not be fetched]" || len(s.Attachments) != 0 {
				t.Errorf("%s: the model is told %q, %v", ref, s.APIText, s.Attachments)
			}
			if w.from.attempts[ref] != attempts || len(w.left()) != 0 {
				t.Errorf("%s: %d attempts, left behind: %v", ref, w.from.attempts[ref], w.left())
			}
			w = newWorld(t, files)
			o := w.run(t.Context(), " ", doc(ref, "n.txt"))
			if w.next.ran || o.Result != core.Failed || o.Reason != core.ReasonMedia || !strings.Contains(o.Text, "could not fetch the document") || o.Error == "" {
				t.Errorf("%s alone: %+v", ref, o)
			}
			if got := w.tail[0].APIContent; got != "[the attached n.txt could not be fetched]" {
				t.Errorf("%s alone: the model is told %q later", ref, got)
			}
		}
		w := newWorld(t, files)
		if o := w.run(t.Context(), "", doc("gone", "a"), doc("gone", "b")); !strings.Contains(o.Text, "could not fetch the files") {
			t.Errorf("%+v", o)
		}
		w.run(t.Context(), "", doc("gone", "a"), doc("exact", "b")) // one of them is enough
		w.has(0, strings.Repeat("x", 1000))
		w = newWorld(t, files)
		big := doc("exact", "b")
		big.Size = 1001
		if w.run(t.Context(), "", big); w.from.attempts["exact"] != 0 {
			t.Error("a file that is said to be too large is fetched")
		}
		w.r.o.Fetchers = nil
		if o := w.run(t.Context(), "", doc("exact", "b")); o.Reason != core.ReasonMedia {
			t.Errorf("without a fetcher: %+v", o)
		}
	})
}

// C081: sound alone is answered by a sentence, whatever MIME type it has; with words, the words are answered.
func TestSound(t *testing.T) {
	for _, kind := range []string{"voice", "audio", "video_note"} {
		w := newWorld(t, nil)
		o := w.run(t.Context(), "", core.Attachment{Kind: kind, Ref: "r", MIME: "audio/ogg"})
		if w.next.ran || o.Reason != core.ReasonMedia || !strings.Contains(o.Text, "cannot listen") {
			t.Errorf("%s: %+v", kind, o)
		}
		if got := w.tail[0].APIContent; got == "" {
			t.Errorf("%s: the model is told nothing later", kind)
		}
		if w.run(t.Context(), "what is it?", core.Attachment{Kind: kind, Ref: "r"}); !w.next.ran || w.next.said().Text != "what is it?" {
			t.Errorf("%s beside a text: %+v", kind, w.next.said())
		}
		if len(w.from.attempts) != 0 {
			t.Errorf("%s is fetched although nobody can hear it", kind)
		}
	}
}

func TestNames(t *testing.T) {
	for given, want := range map[string]string{
		"a.txt": "a.txt", "../../etc/passwd": "passwd", "/etc/shadow": "shadow", `..\..\win.ini`: "win.ini", "..": "document", ".": "document",
		"": "document", ".bashrc": "bashrc", "-rf": "rf", "a\x00b\nc\x7f.txt": "a_b_c_.txt", "inv\u202egpj.exe": "invgpj.exe",
		"zero\u200bwidth\u2066.md": "zerowidth.md", "a\u0085b": "a_b", "line\u2028end": "lineend", `q"u'o*te?.txt`: "q_u_o_te_.txt", "$(rm).sh": "_(rm).sh",
		"naïve 日本.pdf": "naïve 日本.pdf", "\xff\xfe.bin": "__.bin", "end. ": "end", "/": "document", "a/": "a",
	} {
		if got := safeName(core.Attachment{Kind: "document", Name: given}); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
	long := safeName(core.Attachment{Name: strings.Repeat("字", 300) + ".pdf"})
	if len(long) > longestName || !strings.HasSuffix(long, "字.pdf") || !utf8.ValidString(long) {
		t.Errorf("%d bytes: %q", len(long), long)
	}
	if got := safeName(core.Attachment{Kind: "photo", MIME: "image/png"}); got != "photo.png" {
		t.Error(got)
	}
	got := names([]core.Attachment{doc("", "a.txt"), doc("", "A.txt"), doc("", "a-2.txt"), doc("", "x/a.txt"), {Kind: "photo"}, {Kind: "photo"}})
	if diff := cmp.Diff([]string{"a.txt", "A-2.txt", "a-2-2.txt", "a-3.txt", "photo.jpg", "photo-2.jpg"}, got); diff != "" {
		t.Error(diff)
	}
}

// Two files of one album with the same name are two files, and nothing that stands in the way is written through.
func TestAlbumAndTraps(t *testing.T) {
	w := newWorld(t, platform{"r1": bytesOf("one"), "r2": bytesOf("two")})
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.dir, "inbox", "A1")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Symlink(outside, filepath.Join(dir, "a.txt"))); err != nil {
		t.Fatal(err)
	}
	w.run(t.Context(), "both", doc("r1", "a.txt"), doc("r2", "a.txt"))
	w.has(0, "one")
	w.has(1, "two")
	if b, err := os.ReadFile(outside); err != nil || string(b) != "precious" {
		t.Errorf("written through a link: %q, %v", b, err)
	}
	w = newWorld(t, platform{"r1": bytesOf("one")})
	if err := os.Symlink(t.TempDir(), filepath.Join(w.dir, "inbox")); err != nil {
		t.Fatal(err)
	}
	if o := w.run(t.Context(), "", doc("r1", "a.txt")); o.Reason != core.ReasonMedia {
		t.Errorf("a folder that leads out of the workspace is used: %+v", o)
	}
}

// A stop during a fetch reaches the turn at once; nothing is called missing, and nothing half written stays.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		w := newWorld(t, platform{"r1": func(ctx context.Context, _ int) (io.ReadCloser, error) {
			r, pw := io.Pipe()
			context.AfterFunc(ctx, func() { pw.CloseWithError(ctx.Err()) })
			go pw.Write([]byte("half")) // ends with the pipe
			return r, nil
		}, "r2": bytesOf("never")})
		begin := time.Now()
		time.AfterFunc(5*time.Second, stop)
		w.run(ctx, "", doc("r1", "a.txt"), doc("r2", "b.txt"))
		if d := time.Since(begin); d != 5*time.Second {
			t.Errorf("stopped after %v", d)
		}
		if !w.next.ran || w.next.said().APIText != "" || w.from.attempts["r2"] != 0 || len(w.left()) != 0 {
			t.Errorf("the turn: %v, told %q; attempts %v; left %v", w.next.ran, w.next.said().APIText, w.from.attempts, w.left())
		}
	})
}

// After a crash the same message is fetched again, to the same names, over what the dead process left.
func TestAgainAfterACrash(t *testing.T) {
	w := newWorld(t, platform{"r1": bytesOf("one"), "r2": bytesOf("two")})
	dir := filepath.Join(w.dir, "inbox", "A1")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "a.txt"), []byte("half of something longer"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.run(t.Context(), "x", doc("r1", "a.txt"), doc("r2", "a.txt"))
		w.has(0, "one")
		w.has(1, "two")
	}
	if diff := cmp.Diff([]string{"a-2.txt", "a.txt"}, w.left()); diff != "" {
		t.Error(diff)
	}
	n := w.from.attempts["r1"]
	in := turn.Input{Claim: new(core.Claim)}
	in.Claim.Admission.Resume = true
	in.Claim.Admission.Submission.Attachments = []core.Attachment{doc("r1", "a.txt")}
	if w.r.Run(t.Context(), in, func(core.EventBody) {}); w.from.attempts["r1"] != n {
		t.Error("a continuation, whose transcript names the files, fetches them again")
	}
}

func TestNothingToFetch(t *testing.T) {
	w := newWorld(t, nil)
	if w.run(t.Context(), ""); !w.next.ran {
		t.Error("an input without files does not run")
	}
	done := doc("r", "kept")
	done.Path = filepath.Join(w.dir, "kept")
	if w.run(t.Context(), "", done); w.next.said().Attachments[0].Path != done.Path || len(w.from.attempts) != 0 {
		t.Errorf("what is there already: %+v", w.next.said().Attachments)
	}
}

// A disk of ours that cannot be written to is no reason to ask the platform again.
func TestNoPlace(t *testing.T) {
	w := newWorld(t, platform{"r": bytesOf("x")})
	w.r.o.Workspace = filepath.Join(w.dir, "not there")
	if o := w.run(t.Context(), "", doc("r", "a")); o.Reason != core.ReasonMedia || w.from.attempts["r"] != 1 {
		t.Errorf("%+v after %d attempts", o, w.from.attempts["r"])
	}
}
