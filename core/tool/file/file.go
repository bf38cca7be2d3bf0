package file

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bellhop/core"
	"bellhop/core/tool"
)

// Options configure the tools. Zero values mean their defaults.
type Options struct {
	MaxRead   int // bytes of one read, 48 KiB
	MaxLines  int // lines of one read, 2000
	MaxWrite  int // bytes of a written or edited file, 8 MiB
	MaxFound  int // hits of one search, 200
	MaxListed int // entries of one list, 500
}

// New returns the tools read_file, write_file, edit_file, list_files and search_files.
func New(o Options) []tool.Tool {
	for _, d := range []struct {
		v         *int
		otherwise int
	}{{&o.MaxRead, 48 << 10}, {&o.MaxLines, 2000}, {&o.MaxWrite, 8 << 20}, {&o.MaxFound, 200}, {&o.MaxListed, 500}} {
		if *d.v <= 0 {
			*d.v = d.otherwise
		}
	}
	return []tool.Tool{newRead(o), newList(o), newSearch(o), newWrite(o), newEdit(o)}
}

// operation is one tool: what tells them apart is the arguments and the work.
type operation[A any] struct {
	spec  tool.Spec
	path  func(A) string // the path it is about; "" is the workspace
	check func(A) error  // of the arguments beyond their shape; nil: nothing more
	text  func(A) string // for people, what it writes; nil: it only reads
	do    func(ctx context.Context, at *place, a A) (tool.Result, error)
}

func (o operation[A]) Spec() tool.Spec { return o.spec }

// parse decodes arguments strictly: a model that invents a field should hear of it.
func (o operation[A]) parse(raw json.RawMessage) (a A, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, fmt.Errorf("arguments: %w", err)
	}
	if o.check != nil {
		err = o.check(a)
	}
	return a, err
}

// Assess decides by the path alone.
func (o operation[A]) Assess(_ context.Context, env tool.Env, raw json.RawMessage) (tool.Risk, error) {
	a, err := o.parse(raw)
	if err != nil {
		return tool.Risk{}, err
	}
	path := o.path(a)
	writes := o.spec.Effect != core.ReadOnly
	r := tool.Risk{Verdict: tool.Allow, Summary: o.spec.Verb + ": " + tool.Line(shown(path), 200)}
	rel, spill, ok := locate(env, path)
	switch {
	case !ok || spill && writes:
		r.Verdict, r.Why = tool.Forbid, "leaves the workspace"
	case writes && (ofGit(rel) || ofGit(behind(env.Workspace, rel))):
		r.Verdict, r.Why, r.Key = tool.Ask, "changes git's own files, which can make it run programs", o.spec.Name+":.git"
		r.Once, r.Detail = true, path+"\n\n"+o.text(a)
	}
	return r, nil
}

// Call opens the folder the path lies in and does the work there.
func (o operation[A]) Call(ctx context.Context, env tool.Env, raw json.RawMessage) (tool.Result, error) {
	a, err := o.parse(raw)
	if err != nil {
		return tool.Result{}, err
	}
	rel, spill, ok := locate(env, o.path(a))
	if !ok {
		return tool.Result{}, fmt.Errorf("%s is outside the workspace", shown(o.path(a)))
	}
	dir := env.Workspace
	if spill {
		dir = env.Spill
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the workspace cannot be opened: %w", err)
	}
	defer root.Close() // nothing was written through it
	return o.do(ctx, &place{root: root, rel: rel, callID: env.CallID}, a)
}

// place is an opened folder and the path in it that a call is about.
type place struct {
	root   *os.Root
	rel    string
	callID string
}

// locate turns a path of a call into one relative to the workspace, or to the spill folder.
func locate(env tool.Env, path string) (rel string, spill, ok bool) {
	if path == "" {
		return ".", false, true
	}
	if !filepath.IsAbs(path) {
		rel = filepath.Clean(path)
		return rel, false, filepath.IsLocal(rel)
	}
	for i, dir := range []string{env.Workspace, env.Spill} {
		if dir == "" {
			continue
		}
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel, i == 1, true
		}
	}
	return "", false, false
}

// ofGit reports whether a path lies in a folder that belongs to git, or is the file that points to one.
func ofGit(rel string) bool {
	return slices.Contains(strings.Split(strings.ToLower(filepath.ToSlash(rel)), "/"), ".git")
}

// behind returns the place of a path behind the links on the way to it, as far as they lead somewhere.
func behind(workspace, rel string) string {
	for dir, rest := filepath.Join(workspace, rel), ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return strings.TrimPrefix(filepath.Join(real, rest), workspace)
		}
		if dir == filepath.Dir(dir) {
			return rel
		}
	}
}

// shown names a path for people.
func shown(path string) string {
	if path == "" {
		return "the workspace"
	}
	return path
}

// object builds the JSON Schema of an object with the given properties.
func object(required []string, properties string) json.RawMessage {
	names, err := json.Marshal(required)
	if err != nil { // strings always marshal
		panic(err)
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","required":%s,"additionalProperties":false,"properties":{%s}}`, names, properties))
}
