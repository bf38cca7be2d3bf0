package shell

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"bellhop/core"
	"bellhop/core/tool"
)

func TestMain(m *testing.M) {
	if code, is := Supervise(os.Args); is {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

func testEnv(t *testing.T) tool.Env {
	t.Helper()
	return tool.Env{CallID: "call_" + t.Name(), Workspace: t.TempDir(), Spill: filepath.Join(t.TempDir(), "spill")}
}

func call(t *testing.T, o Options, ctx context.Context, env tool.Env, line string, timeout int) (tool.Result, error) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"command": line, "timeout": timeout})
	if err != nil {
		t.Fatal(err)
	}
	return New(o).Call(ctx, env, raw)
}

func TestOutputAndExitCode(t *testing.T) {
	for _, c := range []struct {
		line, want string
		failed     bool
	}{
		{"echo out; echo err >&2", "out\nerr\n[exit code 0", false},
		{"exit 3", "[no output]\n[exit code 3", true},
		{"printf 'no newline'", "no newline\n[exit code 0", false},
		{"cat", "[no output]\n[exit code 0", false}, // standard input is empty
		{"kill -9 $$", "[no output]\n[exit code 137", true},
		{"no-such-command-x", "not found", true},
		{`printf 'a\xff\x00b'`, "a\uFFFDb\n", false},
	} {
		res, err := call(t, Options{}, t.Context(), testEnv(t), c.line, 0)
		if err != nil {
			t.Fatalf("%s: %v", c.line, err)
		}
		if !strings.Contains(res.Text, c.want) || res.Failed != c.failed {
			t.Errorf("%s: %q failed=%v, want %q failed=%v", c.line, res.Text, res.Failed, c.want, c.failed)
		}
	}
}

func TestRunsInTheWorkspaceWithAScrubbedEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	t.Setenv("TELEGRAM_BOT_TOKEN", "1:secret")
	t.Setenv("BASH_ENV", "/tmp/x")
	t.Setenv("WANTED", "yes")
	env := testEnv(t)
	res, err := call(t, Options{Env: []string{"WANTED"}}, t.Context(), env, "pwd -P; env", 0)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(env.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(res.Text, dir+"\n") || !strings.Contains(res.Text, "WANTED=yes") {
		t.Errorf("got %s", res.Text)
	}
	for _, secret := range []string{"secret", "API_KEY", "TOKEN", "BASH_ENV"} {
		if strings.Contains(res.Text, secret) {
			t.Errorf("the environment has %s:\n%s", secret, res.Text)
		}
	}
}

// A workspace inside a bigger repository is no window into it; a repository of its own works.
func TestGitStopsAtTheWorkspace(t *testing.T) {
	outer := t.TempDir()
	env := testEnv(t)
	env.Workspace = filepath.Join(outer, "work space")
	if err := os.MkdirAll(filepath.Join(env.Workspace, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	const commit = `git -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m `
	setup := exec.Command("sh", "-c", "git init -q && "+commit+"outside && mkdir -p .git/deep/er")
	setup.Dir = outer
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	says := func(line, want string) {
		t.Helper()
		res, err := call(t, Options{}, t.Context(), env, line, 0)
		if err != nil || !strings.Contains(res.Text, want) || strings.Contains(res.Text, "outside") {
			t.Errorf("%s: %q %v, want %q", line, res.Text, err, want)
		}
	}
	for _, line := range []string{"git log", "git show", "git status", "cd sub && git log", "git rev-parse --show-toplevel"} {
		says(line, "not a git repository")
	}
	says("git init -q && "+commit+"inside && git log --oneline", "inside")
	says("cd sub && git log --oneline", "inside")

	link := filepath.Join(t.TempDir(), "link") // the ceiling is the folder, by whatever name
	if err := os.Symlink(env.Workspace, link); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(env.Workspace, ".git")); err != nil {
		t.Fatal(err)
	}
	env.Workspace = link
	says("git log", "not a git repository")
}

func TestLargeOutputIsSpilled(t *testing.T) {
	env := testEnv(t)
	res, err := call(t, Options{MaxOutput: 1000, MaxSpill: 1 << 20}, t.Context(), env, `yes 😀 | head -c 500000`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Text) > 1500 || res.Path == "" || !strings.Contains(res.Text, "500000 bytes in all") {
		t.Errorf("%d bytes, path %q: %s", len(res.Text), res.Path, res.Text)
	}
	if strings.Contains(strings.TrimSuffix(res.Text[:strings.Index(res.Text, "[500000")], "\n"), "\uFFFD") {
		t.Error("cut inside a rune")
	}
	if b, err := os.ReadFile(res.Path); err != nil || len(b) != 500000 {
		t.Errorf("spill file: %d bytes, %v", len(b), err)
	}
	res, err = call(t, Options{MaxOutput: 1000, MaxSpill: 5000}, t.Context(), env, `head -c 3000000 /dev/zero | tr '\0' x`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(res.Path); err != nil || len(b) != 5000 || !strings.Contains(res.Text, "The first 5000 are in") {
		t.Errorf("limited spill: %d bytes, %v: %s", len(b), err, res.Text)
	}
}

func TestArguments(t *testing.T) {
	sh := New(Options{})
	for raw, want := range map[string]string{
		`{}`:                            "command is empty",
		`{"command":" "}`:               "command is empty",
		`"ls"`:                          "arguments",
		`{"command":1}`:                 "arguments",
		`{"command":"ls","x":1}`:        "arguments",
		`{"command":"ls","timeout":-1}`: "negative",
		`{"command":"a\u0000b"}`:        "NUL",
	} {
		if _, err := sh.Assess(t.Context(), testEnv(t), json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", raw, err, want)
		}
	}
	r, err := sh.Assess(t.Context(), testEnv(t), json.RawMessage(`{"command":"ls -l"}`))
	if err != nil || r.Verdict != tool.Allow || r.Effect != core.ReadOnly || r.Summary != "ls -l" {
		t.Errorf("%+v %v", r, err)
	}
}

func BenchmarkCall(b *testing.B) {
	for name, o := range map[string]Options{"plain": {}, "supervised": {Supervised: true}} {
		b.Run(name, func(b *testing.B) {
			sh, env := New(o), tool.Env{CallID: "call_b", Workspace: b.TempDir(), Spill: b.TempDir()}
			for b.Loop() {
				if _, err := sh.Call(b.Context(), env, json.RawMessage(`{"command":"true"}`)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
