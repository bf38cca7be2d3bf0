// The design, kept by tests: who may import whom, a doc.go in every package, no
// platform names in the centre, no loose ends.
package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of go.mod, seen from this test.
const root = "../.."

// imports says for each package which of ours it may import. An import no line allows, and a package no line mentions,
// fail. A trailing /* stands for all children.
const imports = `
core                         -
core/crash                   -
core/lease                   core
core/provider                core
core/provider/openai         core core/provider
core/provider/practice       core core/provider
core/provider/providertest   core core/provider
core/prompt                  core core/provider
core/tool                    core
core/tool/shell              core core/tool
core/tool/file               core core/tool
core/turn                    core core/provider core/prompt core/tool core/crash
core/store                   core core/crash core/store/migration
core/store/migration         -
core/store/storetest         core
core/store/pgtest            -
core/readback                core core/crash
stream                       core stream/markup
stream/markup                -
adapters                     -
adapters/media               -
adapters/adaptertest         adapters
adapters/telegram            adapters adapters/media stream/markup
adapters/telegram/telegramtest  -
gateway                      core core/crash adapters stream stream/markup gateway/admission gateway/command gateway/ask gateway/session gateway/deliver
gateway/session              core
gateway/node                 core
gateway/admission            core core/crash gateway/session
gateway/dispatch             core core/crash core/lease core/turn core/readback stream gateway/session
gateway/deliver              core core/crash adapters stream stream/markup
gateway/ask                  core core/crash
gateway/command              core gateway/admission gateway/ask gateway/session stream stream/markup
gateway/rpc                  core gateway/admission gateway/ask gateway/command gateway/session stream stream/markup gateway/rpc/jsonrpc gateway/rpc/proof
gateway/rpc/jsonrpc          -
gateway/rpc/proof            -
gateway/rpc/rpctest          core gateway/admission gateway/ask gateway/command gateway/rpc gateway/session stream stream/markup
gateway/rpc/client           gateway/rpc/jsonrpc gateway/rpc/proof
gateway/web                  core gateway/rpc
gateway/problem              core
gateway/attach               core core/prompt core/turn adapters
config                       core adapters/telegram
cmd/bellhop                  *
cmd/simulator                core/provider/providertest adapters/telegram/telegramtest
`

func rules(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(imports) {
		if f := strings.Fields(line); len(f) > 0 {
			out[f[0]] = f[1:]
		}
	}
	return out
}

// packages lists the folders that hold Go files, with their non-test files.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			rel, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			dir := filepath.ToSlash(rel)
			out[dir] = append(out[dir], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestImports(t *testing.T) {
	rules := rules(t)
	for dir, files := range packages(t) {
		allowed, ok := rules[dir]
		if !ok {
			t.Errorf("package %s is not mentioned in the import policy", dir)
			continue
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, im := range f.Imports {
				ours, is := strings.CutPrefix(strings.Trim(im.Path.Value, `"`), "bellhop/")
				if is && !slices.Contains(allowed, ours) && !slices.Contains(allowed, "*") {
					t.Errorf("%s imports %s; the policy does not allow it", file, ours)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for dir := range packages(t) {
		b, err := os.ReadFile(filepath.Join(root, dir, "doc.go"))
		if err != nil {
			t.Errorf("%s has no doc.go", dir)
			continue
		}
		if len(b) < 200 {
			t.Errorf("%s/doc.go says too little", dir)
		}
	}
}

// TestCentreNamesNoPlatform keeps platform names out of strings and identifiers of the centre.
func TestCentreNamesNoPlatform(t *testing.T) {
	name := regexp.MustCompile(`(?i)"(telegram|discord|slack|whatsapp|matrix|signal)"`)
	for dir, files := range packages(t) {
		top, _, _ := strings.Cut(dir, "/")
		if !slices.Contains([]string{"core", "stream", "gateway"}, top) || dir == "stream/markup" {
			continue
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if m := name.Find(b); m != nil {
				t.Errorf("%s names the platform %s", file, m)
			}
		}
	}
}

// TestNoLooseEnds keeps promises out of the code: what is not there is an error or an issue, not a comment.
func TestNoLooseEnds(t *testing.T) {
	loose := regexp.MustCompile(`\b(TODO|FIXME|XXX)\b|not implemented`)
	background := regexp.MustCompile(`context\.(Background|TODO)\(\)`)
	for dir, files := range packages(t) {
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if m := loose.Find(b); m != nil {
				t.Errorf("%s has a loose end: %s", file, m)
			}
			if background.Match(b) && !strings.HasPrefix(dir, "cmd/") && !strings.HasSuffix(dir, "test") {
				t.Errorf("%s makes a context of its own; lifetimes come from the caller", file)
			}
		}
	}
}
