package file

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bellhop/core"
	"bellhop/core/tool"
)

// bench is a workspace with a secret beside it.
func bench(t *testing.T) tool.Env {
	t.Helper()
	dir := t.TempDir()
	env := tool.Env{CallID: "call_1", Workspace: filepath.Join(dir, "ws"), Spill: filepath.Join(dir, "spill")}
	put(t, filepath.Join(dir, "secret.txt"), "token")
	put(t, filepath.Join(env.Spill, "big.txt"), "spilled\n")
	put(t, filepath.Join(env.Workspace, "a.txt"), "one\ntwo\nthree\n")
	put(t, filepath.Join(env.Workspace, "src/b.go"), "package b\n\nfunc One() {}\n")
	for link, to := range map[string]string{"out": "../secret.txt", "abs": filepath.Join(dir, "secret.txt"), "up": "..", "in": "a.txt"} {
		if err := os.Symlink(to, filepath.Join(env.Workspace, link)); err != nil {
			t.Fatal(err)
		}
	}
	return env
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func named(t *testing.T, o Options, name string) tool.Tool {
	t.Helper()
	tt, ok := tool.NewSet(New(o)).Lookup(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	return tt
}

func do(t *testing.T, o Options, env tool.Env, name string, args any) (tool.Result, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return named(t, o, name).Call(t.Context(), env, raw)
}

type m = map[string]any

func TestNothingLeavesTheWorkspace(t *testing.T) {
	env := bench(t)
	outside := []string{"../secret.txt", "src/../../secret.txt", filepath.Join(filepath.Dir(env.Workspace), "secret.txt"),
		"/etc/passwd", "out", "abs", "up/secret.txt", "up"}
	for _, path := range outside {
		for name, args := range map[string]m{
			"read_file":    {"path": path},
			"write_file":   {"path": path, "content": "x"},
			"edit_file":    {"path": path, "old": "token", "new": "x"},
			"list_files":   {"path": path},
			"search_files": {"path": path, "pattern": "token"},
		} {
			res, err := do(t, Options{}, env, name, args)
			if strings.Contains(res.Text, "token") || err == nil && name != "list_files" && name != "search_files" {
				t.Errorf("%s %s: %q, %v", name, path, res.Text, err)
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(env.Workspace), "secret.txt")); err != nil || string(b) != "token" {
		t.Errorf("the file outside is now %q, %v", b, err)
	}
}

func TestAssess(t *testing.T) {
	env := bench(t)
	for _, c := range []struct {
		tool, args string
		want       tool.Verdict
	}{
		{"read_file", `{"path":"a.txt"}`, tool.Allow},
		{"read_file", `{"path":"` + env.Spill + `/big.txt"}`, tool.Allow},
		{"read_file", `{"path":"../x"}`, tool.Forbid},
		{"read_file", `{"path":".git/config"}`, tool.Allow},
		{"write_file", `{"path":"a.txt","content":""}`, tool.Allow},
		{"write_file", `{"path":"` + env.Workspace + `/a.txt","content":""}`, tool.Allow},
		{"write_file", `{"path":"/etc/x","content":""}`, tool.Forbid},
		{"write_file", `{"path":"` + env.Spill + `/big.txt","content":""}`, tool.Forbid},
		{"write_file", `{"path":".git/hooks/post-commit","content":""}`, tool.Ask},
		{"edit_file", `{"path":"sub/.GIT/config","old":"a","new":"b"}`, tool.Ask},
		{"list_files", `{}`, tool.Allow},
		{"search_files", `{"pattern":"x","path":".."}`, tool.Forbid},
	} {
		r, err := named(t, Options{}, c.tool).Assess(t.Context(), env, json.RawMessage(c.args))
		if err != nil || r.Verdict != c.want {
			t.Errorf("%s %s: %s, %v; want %s", c.tool, c.args, r.Verdict, err, c.want)
		}
	}
	for _, c := range [][2]string{
		{"read_file", `{}`}, {"read_file", `{"path":1}`}, {"read_file", `[]`}, {"read_file", `{"path":"a","x":1}`},
		{"read_file", `"broken {"`}, {"write_file", `{"content":""}`}, {"edit_file", `{"path":"a","old":"","new":"b"}`},
		{"edit_file", `{"path":"a","old":"b","new":"b"}`}, {"search_files", `{"pattern":"("}`}, {"search_files", `{"pattern":"a","files":"["}`},
	} {
		if _, err := named(t, Options{}, c[0]).Assess(t.Context(), env, json.RawMessage(c[1])); err == nil {
			t.Errorf("%s accepts %s", c[0], c[1])
		}
	}
}

// An approval to change git's own files is for the content the person saw, also when a link leads there.
func TestGitsOwnFilesAreAskedAboutEachTime(t *testing.T) {
	env := bench(t)
	put(t, filepath.Join(env.Workspace, ".git/config"), "x")
	for link, to := range map[string]string{"harmless": ".git", "conf.txt": ".git/config"} {
		if err := os.Symlink(to, filepath.Join(env.Workspace, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{".git/config", ".git", "harmless/config", "harmless/hooks/new", "conf.txt"} {
		args := `{"path":"` + path + `","content":"[core] > \u003e"}`
		r, err := named(t, Options{}, "write_file").Assess(t.Context(), env, json.RawMessage(args))
		if err != nil || r.Verdict != tool.Ask || !r.Once || !strings.Contains(r.Detail, path) || !strings.Contains(r.Detail, "[core] > ") {
			t.Errorf("%s: %+v, %v", path, r, err)
		}
	}
}

func TestEffects(t *testing.T) {
	for name, want := range map[string]core.Effect{"read_file": core.ReadOnly, "list_files": core.ReadOnly,
		"search_files": core.ReadOnly, "write_file": core.Idempotent, "edit_file": core.Idempotent} {
		if spec := named(t, Options{}, name).Spec(); spec.Effect != want || !json.Valid(spec.Schema) || spec.Verb == "" {
			t.Errorf("%s: %+v", name, spec)
		}
	}
}

func TestRead(t *testing.T) {
	env := bench(t)
	put(t, filepath.Join(env.Workspace, "bin"), "a\x00b")
	put(t, filepath.Join(env.Workspace, "empty"), "")
	put(t, filepath.Join(env.Workspace, "long"), strings.Repeat("命", 5000)+"\nnext\n")
	if err := syscall.Mkfifo(filepath.Join(env.Workspace, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args      m
		want, err string
	}{
		{m{"path": "a.txt"}, "one\ntwo\nthree\n", ""},
		{m{"path": "in"}, "one\ntwo\nthree\n", ""},
		{m{"path": "a.txt", "from": 2, "lines": 1}, "two\n[lines 2 to 2; there is more: go on with from 3]", ""},
		{m{"path": "a.txt", "from": 3}, "three\n[lines 3 to 3]", ""},
		{m{"path": "a.txt", "from": 9}, "", "only 3 lines"},
		{m{"path": "empty"}, "[the file is empty]", ""},
		{m{"path": "bin"}, "", "not text"},
		{m{"path": "src"}, "", "not a file"},
		{m{"path": "pipe"}, "", "not a file"},
		{m{"path": "none"}, "", "no such file"},
		{m{"path": filepath.Join(env.Spill, "big.txt")}, "spilled\n", ""},
	} {
		res, err := do(t, Options{}, env, "read_file", c.args)
		if res.Text != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %q, %v", c.args, res.Text, err)
		}
	}
	res, err := do(t, Options{MaxRead: 1000}, env, "read_file", m{"path": "long"})
	if err != nil || strings.Contains(res.Text, "\uFFFD") || len(res.Text) > 1200 || !strings.Contains(res.Text, "left out") {
		t.Errorf("long line: %d bytes, %v: %s", len(res.Text), err, res.Text)
	}
}

func TestWriteAndEdit(t *testing.T) {
	env := bench(t)
	res, err := do(t, Options{}, env, "write_file", m{"path": "new/dir/x.txt", "content": "hello\n"})
	if err != nil || !strings.Contains(res.Diff, "+hello") || !strings.HasPrefix(res.Diff, "--- /dev/null") {
		t.Fatalf("%+v %v", res, err)
	}
	script := filepath.Join(env.Workspace, "run.sh")
	put(t, script, "echo old\necho old\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := do(t, Options{}, env, "edit_file", m{"path": "run.sh", "old": "old", "new": "new"}); err == nil || !strings.Contains(err.Error(), "2 times") {
		t.Errorf("ambiguous edit: %v", err)
	}
	res, err = do(t, Options{}, env, "edit_file", m{"path": "run.sh", "old": "old", "new": "new", "all": true})
	if err != nil || res.Summary != "run.sh: +2 -2 lines" {
		t.Errorf("%+v %v", res, err)
	}
	if info, err := os.Stat(script); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := do(t, Options{}, env, "edit_file", m{"path": "run.sh", "old": "old", "new": "new"}); err == nil {
		t.Error("the same edit took twice")
	}
	if _, err := do(t, Options{}, env, "write_file", m{"path": "in", "content": "through the link"}); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(env.Workspace, "a.txt")); err != nil || string(b) != "through the link" {
		t.Errorf("%q %v", b, err)
	}
	if _, err := do(t, Options{MaxWrite: 10}, env, "write_file", m{"path": "y", "content": strings.Repeat("x", 11)}); err == nil {
		t.Error("too large a file was written")
	}
	res, err = do(t, Options{}, env, "write_file", m{"path": "a.txt", "content": "through the link"})
	if err != nil || res.Summary != "unchanged" {
		t.Errorf("%+v %v", res, err)
	}
	left, err := filepath.Glob(filepath.Join(env.Workspace, "*", ".bellhop-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestListAndSearch(t *testing.T) {
	env := bench(t)
	put(t, filepath.Join(env.Workspace, ".git/x"), "func hidden")
	put(t, filepath.Join(env.Workspace, "bin"), "func\x00")
	for i := range 20 {
		put(t, filepath.Join(env.Workspace, "many", fmt.Sprintf("%02d.txt", i)), "hit\n")
	}
	for _, c := range []struct {
		tool string
		args m
		want string
	}{
		{"list_files", m{"path": "src"}, "src/b.go\t25\n"},
		{"list_files", m{"path": "many"}, "many/09.txt\t4\n[only the first 10 entries]"},
		{"search_files", m{"pattern": "^func"}, "src/b.go:3: func One() {}\n[1 files were too large or not text]"},
		{"search_files", m{"pattern": "hit"}, "many/09.txt:1: hit\n[only the first 10 hits]\n[1 files were too large or not text]"},
		{"search_files", m{"pattern": "hit", "files": "*.go"}, "[nothing found in 1 files]"},
		{"search_files", m{"pattern": "two", "path": "a.txt"}, "a.txt:2: two\n"},
	} {
		res, err := do(t, Options{MaxListed: 10, MaxFound: 10}, env, c.tool, c.args)
		if err != nil || !strings.HasSuffix(res.Text, c.want) {
			t.Errorf("%s %v: %q, %v", c.tool, c.args, res.Text, err)
		}
	}
	res, err := do(t, Options{}, env, "list_files", m{"deep": true})
	if err != nil || !strings.Contains(res.Text, "src/\nsrc/b.go\t25\n") || strings.Contains(res.Text, "\n.git/x") {
		t.Errorf("%q %v", res.Text, err)
	}
}
