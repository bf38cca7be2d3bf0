package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bellhop/core"
	"bellhop/core/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

// alive reports whether the process whose id a command wrote to a file still runs.
func alive(t *testing.T, file string) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ") && syscall.Kill(pid, 0) == nil
}

func TestNothingIsLeftBehind(t *testing.T) {
	for name, line := range map[string]string{
		"background":       `sleep 600 & echo $! > pid; echo started`,
		"holds the pipe":   `(sleep 600 & echo $! > pid) ; echo started`,
		"own session":      `setsid sh -c 'echo $$ > pid; exec sleep 600' & while ! test -s pid; do :; done`,
		"double fork":      `(setsid sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 &) ; while ! test -s pid; do :; done`,
		"ignores the term": `sh -c 'trap "" TERM HUP; echo $$ > pid; while :; do sleep 1; done' & while ! test -s pid; do :; done`,
	} {
		t.Run(name, func(t *testing.T) {
			env := testEnv(t)
			begun := time.Now()
			if _, err := call(t, Options{}, t.Context(), env, line, 0); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
			if alive(t, filepath.Join(env.Workspace, "pid")) {
				t.Error("a process lives on")
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	env := testEnv(t)
	begun := time.Now()
	res, err := call(t, Options{}, t.Context(), env, `echo $$ > pid; echo before; trap "" TERM; sleep 600; sleep 600`, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Failed || !strings.Contains(res.Text, "before\n[killed: it took more than 1s") {
		t.Errorf("got %q", res.Text)
	}
	if took := time.Since(begun); took > 4*time.Second || alive(t, filepath.Join(env.Workspace, "pid")) {
		t.Errorf("took %s", took)
	}
}

func TestInterruptKillsTheGroup(t *testing.T) {
	env := testEnv(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	begun := make(chan time.Time, 1)
	go func() {
		for ctx.Err() == nil {
			if b, err := os.ReadFile(filepath.Join(env.Workspace, "pid")); err == nil && len(b) > 1 {
				begun <- time.Now()
				cancel(&core.Interrupt{Reason: core.ReasonStopped})
			}
		}
	}()
	res, err := call(t, Options{}, ctx, env, `echo partial; sh -c 'echo $$ > pid; exec sleep 600'`, 0)
	var stop *core.Interrupt
	if !errors.As(err, &stop) {
		t.Fatalf("error %v, result %q", err, res.Text)
	}
	if took := time.Since(<-begun); took > time.Second {
		t.Errorf("ended %s after the interrupt", took)
	}
	if !strings.Contains(res.Text, "partial") || alive(t, filepath.Join(env.Workspace, "pid")) {
		t.Errorf("result %q", res.Text)
	}
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
	sh, env := New(Options{}), tool.Env{CallID: "call_b", Workspace: b.TempDir(), Spill: b.TempDir()}
	for b.Loop() {
		if _, err := sh.Call(b.Context(), env, json.RawMessage(`{"command":"true"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
