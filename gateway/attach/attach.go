package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
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
	if row := &in.Claim.Admission; len(row.Submission.Attachments) == 0 || row.Resume {
		return r.o.Next.Run(ctx, in, emit)
	}
	return r.fetched(ctx, in, emit)
}

// fetched runs a turn with files.
func (r *Runner) fetched(ctx context.Context, in turn.Input, emit func(core.EventBody)) (core.Outcome, []core.Message) {
	claim := *in.Claim
	in.Claim = &claim
	row := &claim.Admission
	files, missing := r.fetch(ctx, in, row)
	if ctx.Err() == nil && strings.TrimSpace(row.Submission.Text) == "" {
		if words := silent(files, missing); words != "" {
			return core.Outcome{Result: core.Failed, Reason: core.ReasonMedia, Text: words, Error: errText(missing)}, said(*row, files, missing, words)
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
	dir := filepath.Join(folder, string(row.ID))
	names := names(row.Submission.Attachments)
	for i, a := range row.Submission.Attachments {
		if a.Path != "" || sound(a.Kind) {
			files = append(files, a)
			continue
		}
		if in.Active != nil {
			in.Active("fetching a file")
		}
		got, err := r.one(ctx, row.Submission.Route.Platform, a, filepath.Join(dir, names[i]))
		if ctx.Err() != nil { // stopped: nothing is missing, nobody waits for it any more
			return files, nil
		}
		if err != nil {
			r.o.Log.Warn("a file could not be fetched: "+a.Kind, "admission", row.ID, "err", err)
			missing = append(missing, missed{a, err})
			continue
		}
		files = append(files, got)
	}
	return files, missing
}

// folder is where files go in the workspace.
const folder = "inbox"

// one fetches a file to a path in the workspace, again after what may pass.
func (r *Runner) one(ctx context.Context, platform string, a core.Attachment, path string) (core.Attachment, error) {
	from := r.o.Fetchers[platform]
	switch {
	case from == nil:
		return a, core.Errorf("fetch file", core.Unavailable, "this platform hands out no files")
	case a.Size > r.o.MaxFile:
		return a, r.tooLarge()
	}
	return backoff.Retry(ctx, func() (core.Attachment, error) {
		try, cancel := context.WithTimeout(ctx, r.o.Timeout)
		defer cancel()
		got, err := r.download(try, from, a, path)
		return got, verdict(err)
	}, backoff.WithMaxTries(r.o.Tries))
}

func (r *Runner) tooLarge() error {
	return core.Errorf("fetch file", core.Full, "larger than %d MiB", r.o.MaxFile>>20)
}

// longestWait is how long a platform may ask to wait before the next try.
const longestWait = 30 * time.Second

// verdict tells the retry what to do: faults of the platform that pass are tried again, when it wishes; others, and ours,
// are final.
func verdict(err error) error {
	var e *adapters.Error
	switch {
	case err == nil:
		return nil
	case core.KindOf(err) == core.Full, core.KindOf(err) == core.Unavailable:
		return backoff.Permanent(err)
	case errors.As(err, &e) && e.Kind == adapters.Limited && e.RetryAfter > 0:
		if e.RetryAfter > longestWait {
			return backoff.Permanent(err)
		}
		return fmt.Errorf("%w: %w", err, backoff.RetryAfter(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	switch adapters.KindOf(err) {
	case adapters.Temporary, adapters.Ambiguous, adapters.Limited:
		return err
	}
	return backoff.Permanent(err)
}

// download writes the file to path below the workspace, whole or not at all. What an attempt before left there, the same
// file of a process that died for example, is replaced.
func (r *Runner) download(ctx context.Context, from adapters.Fetcher, a core.Attachment, path string) (core.Attachment, error) {
	body, err := from.Fetch(ctx, adapters.File{Kind: a.Kind, Ref: a.Ref, Name: a.Name, MIME: a.MIME, Size: a.Size})
	if err != nil {
		return a, err
	}
	defer body.Close()
	root, err := os.OpenRoot(r.o.Workspace)
	if err != nil {
		return a, core.E("fetch file", core.Unavailable, err)
	}
	defer root.Close()
	f, err := create(root, path)
	if err != nil {
		return a, core.E("fetch file", core.Unavailable, err)
	}
	n, err := io.Copy(local{f}, io.LimitReader(body, r.o.MaxFile+1))
	if err == nil && n > r.o.MaxFile {
		err = r.tooLarge()
	}
	if err == nil && a.MIME == "" {
		a.MIME, err = sniff(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return a, errors.Join(err, root.Remove(path))
	}
	a.Name, a.Size, a.Path = filepath.Base(path), n, filepath.Join(r.o.Workspace, path)
	return a, nil
}

// create makes a new file, and the folders above it. Nothing that stands in its place is written through.
func create(root *os.Root, path string) (*os.File, error) {
	if err := root.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}

// local makes what goes wrong with our own disk final: a full disk does not get better by trying again.
type local struct{ f *os.File }

func (l local) Write(p []byte) (int, error) {
	n, err := l.f.Write(p)
	if err != nil {
		err = core.E("store file", core.Unavailable, err)
	}
	return n, err
}

func sniff(f *os.File) (string, error) {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	return http.DetectContentType(head[:n]), nil
}

func sound(kind string) bool { return slices.Contains([]string{"voice", "audio", "video_note"}, kind) }
