package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"bellhop/core"
	"bellhop/core/tool"
)

const maxDiff = 16 << 10 // bytes of a diff for people

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func newWrite(o Options) tool.Tool {
	return operation[writeArgs]{
		spec: tool.Spec{
			Name: "write_file", Verb: "Writing a file", Effect: core.Idempotent,
			About: "Writes a whole file of the workspace, making it and its folders or replacing what is there.",
			Schema: object([]string{"path", "content"}, `"path":{"type":"string","description":"Relative to the workspace."},`+
				`"content":{"type":"string","description":"The whole new content."}`),
		},
		path: func(a writeArgs) string { return a.Path },
		text: func(a writeArgs) string { return a.Content },
		check: func(a writeArgs) error {
			if a.Path == "" {
				return errors.New("path is missing")
			}
			return fits(o, a.Content)
		},
		do: func(_ context.Context, at *place, a writeArgs) (tool.Result, error) {
			old, err := at.text(o)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return tool.Result{}, err
			}
			return at.replace(a.Path, old, a.Content, err != nil)
		},
	}
}

type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all"`
}

func newEdit(o Options) tool.Tool {
	return operation[editArgs]{
		spec: tool.Spec{
			Name: "edit_file", Verb: "Editing a file", Effect: core.Idempotent,
			About: "Replaces text in a file of the workspace. The old text must occur exactly once, unless all is true.",
			Schema: object([]string{"path", "old", "new"}, `"path":{"type":"string","description":"Relative to the workspace."},`+
				`"old":{"type":"string","description":"Text as it stands in the file, with enough around it to be unique."},`+
				`"new":{"type":"string","description":"What stands there instead."},`+
				`"all":{"type":"boolean","description":"Replace every occurrence."}`),
		},
		path: func(a editArgs) string { return a.Path },
		text: func(a editArgs) string { return a.Old + "\n\nbecomes\n\n" + a.New },
		check: func(a editArgs) error {
			switch {
			case a.Path == "":
				return errors.New("path is missing")
			case a.Old == "":
				return errors.New("old is empty; write_file makes a file")
			case a.Old == a.New:
				return errors.New("old and new are the same")
			}
			return nil
		},
		do: func(_ context.Context, at *place, a editArgs) (tool.Result, error) { return edit(o, at, a) },
	}
}

func edit(o Options, at *place, a editArgs) (tool.Result, error) {
	old, err := at.text(o)
	if err != nil {
		return tool.Result{}, err
	}
	switch n := strings.Count(old, a.Old); {
	case n == 0:
		return tool.Result{}, fmt.Errorf("the old text does not occur in %s; read it again, every blank counts", a.Path)
	case n > 1 && !a.All:
		return tool.Result{}, fmt.Errorf("the old text occurs %d times in %s; name more of what stands around it, or set all", n, a.Path)
	}
	text := strings.ReplaceAll(old, a.Old, a.New)
	if err := fits(o, text); err != nil {
		return tool.Result{}, err
	}
	return at.replace(a.Path, old, text, false)
}

func fits(o Options, text string) error {
	if len(text) > o.MaxWrite {
		return fmt.Errorf("the content has %d bytes; at most %d can be written", len(text), o.MaxWrite)
	}
	return nil
}

// text reads the whole file, which must be a regular one of bounded size.
func (p *place) text(o Options) (string, error) {
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", p.rel)
	}
	if info.Size() > int64(o.MaxWrite) {
		return "", fmt.Errorf("%s has %d bytes; at most %d can be changed here", p.rel, info.Size(), o.MaxWrite)
	}
	b, err := p.root.ReadFile(p.rel)
	return string(b), err
}

// replace puts the file in place in one step, so that nobody ever sees half of it, and reports the difference.
func (p *place) replace(name, old, text string, fresh bool) (tool.Result, error) {
	if !fresh && old == text {
		return tool.Result{Text: name + " already is as wanted.", Summary: "unchanged"}, nil
	}
	mode := os.FileMode(0o644)
	target := p.rel
	if info, err := p.root.Stat(p.rel); err == nil {
		mode = info.Mode().Perm()
		if link, err := p.root.Readlink(p.rel); err == nil { // keep the link, change what it points to
			target = filepath.Join(filepath.Dir(p.rel), link)
		}
	} else if err := p.root.MkdirAll(filepath.Dir(p.rel), 0o755); err != nil {
		return tool.Result{}, err
	}
	beside := filepath.Join(filepath.Dir(target), ".bellhop-"+filepath.Base(tool.SpillPath(tool.Env{CallID: p.callID})))
	if err := p.root.WriteFile(beside, []byte(text), mode); err != nil {
		return tool.Result{}, errors.Join(err, p.drop(beside))
	}
	if err := errors.Join(p.root.Chmod(beside, mode), p.root.Rename(beside, target)); err != nil {
		return tool.Result{}, errors.Join(err, p.drop(beside))
	}
	return written(name, old, text, fresh), nil
}

// drop removes a file that was half written, if it is there.
func (p *place) drop(name string) error {
	if err := p.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func written(name, old, text string, fresh bool) tool.Result {
	from := "a/" + name
	if fresh {
		from = "/dev/null"
	}
	diff := ""
	if !binary([]byte(old[:min(len(old), 8000)])) {
		diff = udiff.Unified(from, "b/"+name, old, text)
	}
	plus, minus := changed(diff)
	res := tool.Result{Summary: fmt.Sprintf("%s: +%d -%d lines", name, plus, minus), Diff: tool.Shorten(diff, maxDiff)}
	res.Text = fmt.Sprintf("Wrote %s: %d bytes, %d lines added, %d removed.", name, len(text), plus, minus)
	return res
}

func changed(diff string) (plus, minus int) {
	for l := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
		case strings.HasPrefix(l, "+"):
			plus++
		case strings.HasPrefix(l, "-"):
			minus++
		}
	}
	return plus, minus
}
