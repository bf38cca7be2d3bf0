package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"bellhop/core"
	"bellhop/core/tool"
)

type listArgs struct {
	Path string `json:"path"`
	Deep bool   `json:"deep"`
}

func newList(o Options) tool.Tool {
	return operation[listArgs]{
		spec: tool.Spec{
			Name: "list_files", Verb: "Looking through files", Effect: core.ReadOnly, Parallel: true,
			About: fmt.Sprintf("Lists a folder of the workspace, folders with a slash, files with their size; at most %d entries.", o.MaxListed),
			Schema: object([]string{}, `"path":{"type":"string","description":"Relative to the workspace; empty is the workspace."},`+
				`"deep":{"type":"boolean","description":"Also what lies in its folders."}`),
		},
		path: func(a listArgs) string { return a.Path },
		do:   func(ctx context.Context, at *place, a listArgs) (tool.Result, error) { return list(ctx, o, at, a) },
	}
}

var errEnough = errors.New("enough")

func list(ctx context.Context, o Options, at *place, a listArgs) (tool.Result, error) {
	var b strings.Builder
	n, more := 0, false
	err := at.walk(ctx, func(p string, d fs.DirEntry) error {
		if n == o.MaxListed {
			more = true
			return errEnough
		}
		n++
		b.WriteString(p)
		if info, err := d.Info(); d.IsDir() {
			b.WriteString("/\n")
		} else if err == nil {
			fmt.Fprintf(&b, "\t%d\n", info.Size())
		} else {
			b.WriteString("\n") // it went away meanwhile
		}
		if d.IsDir() && (!a.Deep || d.Name() == ".git") {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return tool.Result{}, err
	}
	if n == 0 {
		b.WriteString("[the folder is empty]")
	}
	if more {
		fmt.Fprintf(&b, "[only the first %d entries]", n)
	}
	return tool.Result{Text: b.String(), Summary: fmt.Sprintf("%d entries", n)}, nil
}

// walk visits what lies below the place in order, without the place itself. Paths are relative to the workspace. A
// folder that cannot be read is passed over, unless it is the place itself.
func (p *place) walk(ctx context.Context, visit func(path string, d fs.DirEntry) error) error {
	start := path.Clean(strings.ReplaceAll(p.rel, "\\", "/"))
	err := fs.WalkDir(p.root.FS(), start, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name == start && (err != nil || d.IsDir()):
			return err
		case err != nil:
			return nil
		}
		return visit(name, d)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

type searchArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Files   string `json:"files"`
}

func newSearch(o Options) tool.Tool {
	return operation[searchArgs]{
		spec: tool.Spec{
			Name: "search_files", Verb: "Searching files", Effect: core.ReadOnly, Parallel: true,
			About: fmt.Sprintf("Searches text files of the workspace for a regular expression (RE2) and returns path:line: text, "+
				"at most %d hits. Folders named .git and node_modules are passed over.", o.MaxFound),
			Schema: object([]string{"pattern"}, `"pattern":{"type":"string","description":"A regular expression; (?i) ignores case."},`+
				`"path":{"type":"string","description":"A folder or file to search in, relative to the workspace."},`+
				`"files":{"type":"string","description":"Only files whose name matches, for example *.go"}`),
		},
		path: func(a searchArgs) string { return a.Path },
		check: func(a searchArgs) error {
			if a.Pattern == "" {
				return errors.New("pattern is missing")
			}
			if _, err := path.Match(a.Files, ""); err != nil {
				return fmt.Errorf("files: %w", err)
			}
			_, err := regexp.Compile(a.Pattern)
			return err
		},
		do: func(ctx context.Context, at *place, a searchArgs) (tool.Result, error) { return search(ctx, o, at, a) },
	}
}

const (
	maxSearched = 4 << 20 // bytes of one file; a larger one is passed over
	maxHitLine  = 300     // bytes of a line that is shown
)

// finding is a search under way.
type finding struct {
	re            *regexp.Regexp
	out           strings.Builder
	hits, most    int
	files, passed int
}

func search(ctx context.Context, o Options, at *place, a searchArgs) (tool.Result, error) {
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return tool.Result{}, err
	}
	f := &finding{re: re, most: o.MaxFound}
	err = at.walk(ctx, func(name string, d fs.DirEntry) error {
		switch {
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if ok, _ := path.Match(a.Files, d.Name()); a.Files != "" && !ok { // the pattern was checked
			return nil
		}
		return f.file(ctx, at.root.FS(), name)
	})
	if err != nil {
		return tool.Result{}, err
	}
	if f.hits == 0 {
		fmt.Fprintf(&f.out, "[nothing found in %d files]", f.files)
	}
	if f.hits == f.most {
		fmt.Fprintf(&f.out, "[only the first %d hits]\n", f.hits)
	}
	if f.passed > 0 {
		fmt.Fprintf(&f.out, "[%d files were too large or not text]", f.passed)
	}
	return tool.Result{Text: f.out.String(), Summary: fmt.Sprintf("%d hits", f.hits)}, nil
}

// file searches one file. One that cannot be read is passed over.
func (f *finding) file(ctx context.Context, fsys fs.FS, name string) error {
	in, err := fsys.Open(name)
	if err != nil {
		f.passed++
		return nil
	}
	defer in.Close() // only read
	f.files++
	r := bufio.NewReaderSize(io.LimitReader(in, maxSearched), 64<<10)
	info, err := in.Stat()
	if start, _ := r.Peek(8000); err != nil || info.Size() > maxSearched || binary(start) {
		f.passed++
		return nil
	}
	for n := 1; ; n++ {
		text, err := line(r, 64<<10)
		if text == "" || err != nil && !errors.Is(err, io.EOF) {
			return nil
		}
		if text = strings.TrimRight(text, "\r\n"); f.re.MatchString(text) {
			fmt.Fprintf(&f.out, "%s:%d: %s\n", name, n, tool.Shorten(text, maxHitLine))
			if f.hits++; f.hits == f.most {
				return errEnough
			}
		}
		if n%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
