package deliver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/stream"
)

// mediaHash begins the Hash of a part that is a file; its number among the row's files follows. captionHash and a number
// follow that in the parts of a caption that stands below its file.
const (
	mediaHash   = "media:"
	captionHash = ":caption:"
)

// media sends the files of the row that are not there yet, below its text.
func (w *writer) media(ctx context.Context) error {
	for n, f := range w.d.Media {
		if err := w.captioned(ctx, mediaHash+strconv.Itoa(n), f); err != nil {
			return err
		}
	}
	return nil
}

// captioned sends a file, and a caption that is too long to stand with it in messages of its own below it.
func (w *writer) captioned(ctx context.Context, hash string, f core.Media) error {
	i, caption := w.place(hash), f.Caption
	if w.apart(i, caption) {
		f.Caption = ""
	}
	if w.d.Parts[i].Ref == "" {
		err := w.file(ctx, i, f)
		if kindOf(err) == adapters.TooLong && f.Caption != "" { // the platform counts otherwise
			w.place(hash + captionHash + "0")
			f.Caption = ""
			err = w.file(ctx, i, f)
		}
		if err != nil {
			return err
		}
	}
	if !w.apart(i, caption) {
		return nil
	}
	for n, text := range w.below(caption) {
		i := w.place(hash + captionHash + strconv.Itoa(n))
		if w.d.Parts[i].Ref != "" {
			continue
		}
		if w.again(i) {
			text = repeated + text
		}
		if err := w.keeping(ctx, i, text); err != nil {
			return err
		}
	}
	return nil
}

// apart reports whether a caption does not stand with its file i: it is too long, or the platform said so.
func (w *writer) apart(i int, caption string) bool {
	hash := w.d.Parts[i].Hash + captionHash + "0"
	if slices.ContainsFunc(w.d.Parts, func(p core.Part) bool { return p.Hash == hash }) {
		return true
	}
	most := w.c.limits.Caption
	if w.again(i) {
		most -= w.c.adapter.Size(repeated)
	}
	return caption != "" && w.c.limits.Caption > 0 && w.c.adapter.Size(caption) > most
}

// below cuts a caption into messages, each with room for the mark of a repeat.
func (w *writer) below(caption string) []string {
	if w.max == 0 {
		return []string{caption}
	}
	return stream.Split(caption, w.max-w.c.adapter.Size(repeated), w.c.adapter.Size)
}

// place returns the place among the parts of the one with a hash, and makes it when it is new.
func (w *writer) place(hash string) int {
	for i, p := range w.d.Parts {
		if p.Hash == hash {
			return i
		}
	}
	w.d.Parts = append(w.d.Parts, core.Part{Hash: hash})
	return len(w.d.Parts) - 1
}

// keeping makes message i, whose hash goes on to be its name.
func (w *writer) keeping(ctx context.Context, i int, text string) error {
	hash := w.d.Parts[i].Hash
	err := w.create(ctx, i, stream.View{Text: text, Final: true})
	w.d.Parts[i].Hash = hash
	return err
}

// file sends one file. What cannot be sent is said in a line instead.
func (w *writer) file(ctx context.Context, i int, f core.Media) error {
	body, err := openIn(w.m.cfg.Files, f.Path)
	if err != nil {
		w.c.log.Warn("a file of an answer cannot be sent", "delivery", w.d.ID, "err", err)
		return w.instead(ctx, i, f, "it could not be read")
	}
	defer body.Close()
	if w.c.caps.Uploader == nil {
		return w.instead(ctx, i, f, "files cannot be sent here")
	}
	if err := w.early(i); err != nil {
		return err
	}
	if err := w.c.wait(ctx, w.to, w.p, patience); err != nil {
		return err
	}
	u := adapters.Upload{Kind: f.Kind, Name: nameOf(f), Caption: f.Caption, Body: body}
	if w.again(i) {
		u.Caption = repeated + u.Caption
	}
	if err := w.mark(ctx, i); err != nil {
		return err
	}
	crash.Point(crash.BeforeSend)
	ref, err := w.c.uploadNow(ctx, w.to, u)
	switch k := kindOf(err); k {
	case none:
		crash.Point(crash.AfterSend)
		w.d.Parts[i].Ref, w.d.Parts[i].Lost = string(ref), time.Time{}
		return nil
	case adapters.Misuse, adapters.Unsupported, adapters.TooLong:
		w.unsent(i, "", err)
		if k == adapters.TooLong && f.Caption != "" {
			return err
		}
		return w.instead(ctx, i, f, "the platform did not take it")
	}
	w.unsent(i, "", err)
	return err
}

// instead says in a message of its own that a file could not be sent.
func (w *writer) instead(ctx context.Context, i int, f core.Media, why string) error {
	text := fmt.Sprintf("📎 `%s` – %s.", nameOf(f), why)
	if f.Caption != "" {
		text = f.Caption + "\n\n" + text
	}
	return w.keeping(ctx, i, text)
}

func nameOf(f core.Media) string {
	if f.Name != "" {
		return f.Name
	}
	return filepath.Base(f.Path)
}

var errOutside = errors.New("the file is outside the folders that may be sent from")

// openIn opens a regular file that lies in one of the folders, also after its links are followed.
func openIn(folders []string, path string) (*os.File, error) {
	for _, dir := range folders {
		rel, err := filepath.Rel(dir, path)
		if !filepath.IsAbs(path) {
			rel, err = filepath.Clean(path), nil
		}
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue
		}
		f, err := os.OpenInRoot(dir, rel)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("not a regular file")
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	return nil, errOutside
}
