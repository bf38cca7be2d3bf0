package attach

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/turn"
)

// Next runs the turn itself; *turn.Runner is one.
type Next interface {
	Run(ctx context.Context, in turn.Input, emit func(core.EventBody)) (core.Outcome, []core.Message)
}

// Options of a Runner.
type Options struct {
	Next      Next
	Fetchers  map[string]adapters.Fetcher // by adapter name
	Workspace string                      // absolute path; files go to its folder inbox
	MaxFile   int64                       // bytes of one file, 50 MiB
	Tries     uint                        // per file, 3
	Timeout   time.Duration               // per try, 60 s
	Log       *slog.Logger
}

// Runner fetches, then runs. Safe for concurrent use.
type Runner struct{ o Options }

// New returns a Runner.
func New(o Options) *Runner {
	o.MaxFile = cmp.Or(o.MaxFile, 50<<20)
	o.Tries = cmp.Or(o.Tries, 3)
	o.Timeout = cmp.Or(o.Timeout, 60*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Runner{o}
}

// Run implements dispatch.Runner.
func (r *Runner) Run(ctx context.Context, in turn.Input, emit func(core.EventBody)) (core.Outcome, []core.Message) {
	row := &in.Claim.Admission
	if len(row.Submission.Attachments) == 0 || row.Resume {
		return r.o.Next.Run(ctx, in, emit)
	}
	files, missing := r.fetch(ctx, in, row)
	if ctx.Err() == nil && strings.TrimSpace(row.Submission.Text) == "" {
		if words := silent(files, missing); words != "" {
			return core.Outcome{Result: core.Failed, Reason: core.ReasonMedia, Text: words, Error: errText(missing)}, nil
		}
	}
	row.Submission.Attachments = files
	if len(missing) > 0 {
		row.Submission.APIText = strings.TrimSpace(cmp.Or(row.Submission.APIText, row.Submission.Text) + "\n" + note(missing))
	}
	return r.o.Next.Run(ctx, in, emit)
}

// missed is a file that did not come.
type missed struct {
	file core.Attachment
	err  error
}

func (r *Runner) fetch(ctx context.Context, in turn.Input, row *core.Admission) (files []core.Attachment, missing []missed) {
	for _, a := range row.Submission.Attachments {
		if a.Path != "" || sound(a.Kind) {
			files = append(files, a)
			continue
		}
		if in.Active != nil {
			in.Active("fetching a file")
		}
		got, err := r.one(ctx, row, a)
		if err != nil {
			r.o.Log.Warn("a file could not be fetched", "admission", row.ID, "kind", a.Kind, "err", err)
			missing = append(missing, missed{a, err})
			continue
		}
		files = append(files, got)
	}
	return files, missing
}

// one fetches a file, again after what may pass.
func (r *Runner) one(ctx context.Context, row *core.Admission, a core.Attachment) (core.Attachment, error) {
	from := r.o.Fetchers[row.Submission.Route.Platform]
	if from == nil {
		return a, core.Errorf("fetch file", core.Unavailable, "this platform hands out no files")
	}
	return backoff.Retry(ctx, func() (core.Attachment, error) {
		try, cancel := context.WithTimeout(ctx, r.o.Timeout)
		defer cancel()
		got, err := r.download(try, from, row.ID, a)
		if k := adapters.KindOf(err); err != nil && k != adapters.Temporary && k != adapters.Ambiguous && k != adapters.Limited {
			return a, backoff.Permanent(err)
		}
		return got, err
	}, backoff.WithMaxTries(r.o.Tries))
}

func (r *Runner) download(ctx context.Context, from adapters.Fetcher, id core.AdmissionID, a core.Attachment) (core.Attachment, error) {
	body, err := from.Fetch(ctx, adapters.File{Kind: a.Kind, Ref: a.Ref, Name: a.Name, MIME: a.MIME, Size: a.Size})
	if err != nil {
		return a, err
	}
	defer body.Close()
	dir := filepath.Join(r.o.Workspace, "inbox", string(id))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return a, core.E("fetch file", core.Unavailable, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return a, core.E("fetch file", core.Unavailable, err)
	}
	defer root.Close()
	name := safeName(a)
	f, err := root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return a, core.E("fetch file", core.Unavailable, err)
	}
	n, err := io.Copy(f, io.LimitReader(body, r.o.MaxFile+1))
	if err == nil && n > r.o.MaxFile {
		err = core.Errorf("fetch file", core.Full, "larger than %d MiB", r.o.MaxFile>>20)
	}
	if err == nil && a.MIME == "" {
		a.MIME, err = sniff(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return a, errors.Join(err, root.Remove(name))
	}
	a.Name, a.Size, a.Path = name, n, filepath.Join(dir, name)
	return a, nil
}

func sniff(f *os.File) (string, error) {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	return http.DetectContentType(head[:n]), nil
}

// safeName is a file name without folders, control signs or a leading dot; a file without one is named after its kind.
func safeName(a core.Attachment) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.TrimLeft(filepath.Base(filepath.Clean("/"+a.Name)), "./"))
	if r := []rune(name); len(r) > 80 {
		name = string(r[len(r)-80:]) // the end holds the extension
	}
	if name == "" {
		name = cmp.Or(a.Kind, "file") + extension(a.MIME)
	}
	return name
}

func extension(mimeType string) string {
	if mimeType == "image/jpeg" {
		return ".jpg"
	}
	if exts, err := mime.ExtensionsByType(mimeType); err == nil && len(exts) > 0 {
		return exts[0]
	}
	return ""
}

func sound(kind string) bool { return slices.Contains([]string{"voice", "audio", "video_note"}, kind) }
