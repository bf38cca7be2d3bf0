package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bellhop/core"
)

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

// bothWays runs a test with and without a supervisor.
func bothWays(t *testing.T, fn func(t *testing.T, o Options)) {
	t.Run("plain", func(t *testing.T) { fn(t, Options{}) })
	t.Run("supervised", func(t *testing.T) { fn(t, Options{Supervised: true}) })
}

// strays leave a process behind in one way or another, and write its number to a file.
var strays = map[string]string{
	"background":       `sleep 600 & echo $! > pid; echo started`,
	"holds the pipe":   `(sleep 600 & echo $! > pid) ; echo started`,
	"own session":      `setsid sh -c 'echo $$ > pid; exec sleep 600' & while ! test -s pid; do :; done`,
	"double fork":      `(setsid sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 &) ; while ! test -s pid; do :; done`,
	"ignores the term": `sh -c 'trap "" TERM HUP; echo $$ > pid; while :; do sleep 1; done' & while ! test -s pid; do :; done`,
}

// daemons drop all by which a process could be told from others of the user: session, group, parent, environment, pipes.
var daemons = map[string]string{
	"no environment": `setsid env -i sh -c 'echo $$ > pid; exec sleep 600' & while ! test -s pid; do :; done`,
	"daemon": `(setsid env -i sh -c '(setsid sh -c "echo \$\$ > pid; exec sleep 600" &) ; exit' >/dev/null 2>&1 </dev/null &)
while ! test -s pid; do :; done`,
	"forks on": `cat > on.sh <<'X'
echo $$ > pid.new; mv pid.new pid
test $1 -lt 300 && { setsid env -i sh on.sh $(($1 + 1)) & exit; }
sleep 600
X
setsid env -i sh on.sh 0 & while ! test -s pid; do :; done`,
	"kills its parent": `setsid env -i sh -c 'echo $$ > pid; trap "" TERM; kill -9 '$$'; sleep 600' & sleep 600`,
}

func TestNothingIsLeftBehind(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		lines := map[string]string{}
		for name, line := range strays {
			lines[name] = line
		}
		for name, line := range daemons {
			if o.Supervised {
				lines[name] = line
			}
		}
		for name, line := range lines {
			t.Run(name, func(t *testing.T) {
				env := testEnv(t)
				begun := time.Now()
				if _, err := call(t, o, t.Context(), env, line, 0); err != nil {
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
	})
}

// A supervisor that is killed by what it watches is no way out for anything that still has its mark.
func TestSupervisorIsKilled(t *testing.T) {
	env := testEnv(t)
	res, err := call(t, Options{Supervised: true}, t.Context(), env, `sleep 600 & echo $! > pid; kill -9 $PPID; sleep 600`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Failed || alive(t, filepath.Join(env.Workspace, "pid")) {
		t.Errorf("%+v", res)
	}
}

// Signals that a command sends to its group reach nobody else, and it starts without any that are ignored.
func TestSignals(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		for line, want := range map[string]string{
			`trap 'echo ended; exit 4' TERM; kill 0`: "ended\n[exit code 4]",
			`kill -9 0`:                              "[exit code 137]",
			`sh -c 'kill -TERM $$'; echo $?`:         "143\n[exit code 0]",
			`kill -PIPE $$`:                          "[exit code 141]",
		} {
			res, err := call(t, o, t.Context(), testEnv(t), line, 0)
			if err != nil || !strings.Contains(res.Text, want) {
				t.Errorf("%s: %q %v, want %q", line, res.Text, err, want)
			}
		}
	})
}

func TestTimeout(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		env := testEnv(t)
		begun := time.Now()
		res, err := call(t, o, t.Context(), env, `echo $$ > pid; echo before; trap "" TERM; sleep 600; sleep 600`, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !res.Failed || !strings.Contains(res.Text, "before\n[killed: it took more than 1s") {
			t.Errorf("got %q", res.Text)
		}
		if took := time.Since(begun); took > 4*time.Second || alive(t, filepath.Join(env.Workspace, "pid")) {
			t.Errorf("took %s", took)
		}
	})
}

func TestInterruptKillsAll(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		lines := []string{`echo partial; sh -c 'echo $$ > pid; exec sleep 600'`}
		if o.Supervised {
			lines = append(lines, `echo partial; setsid env -i sh -c 'trap "" TERM; echo $$ > pid; while :; do sleep 1; done' & sleep 600`)
		}
		for _, line := range lines {
			interrupt(t, o, line)
		}
	})
}

// interrupt runs a line until it has written its number, and stops it.
func interrupt(t *testing.T, o Options, line string) {
	t.Helper()
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
	res, err := call(t, o, ctx, env, line, 0)
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

// A gateway that is killed takes its commands with it: whoever starts after it must not meet them.
func TestCommandsEndWithTheGateway(t *testing.T) {
	if dir := os.Getenv("SHELL_TEST_WORKSPACE"); dir != "" { // this is the gateway
		env := testEnv(t)
		env.Workspace = dir
		_, err := call(t, Options{Supervised: true}, t.Context(), env, `setsid env -i sh -c 'echo $$ > pid; exec sleep 600' & sleep 600`, 0)
		t.Fatalf("it ended by itself: %v", err)
	}
	dir := t.TempDir()
	gateway := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	gateway.Env = append(os.Environ(), "SHELL_TEST_WORKSPACE="+dir, "TMPDIR="+t.TempDir())
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pid")
	wait := func(what string, ok func() bool) {
		for late := time.Now().Add(10 * time.Second); !ok(); {
			if time.Now().After(late) {
				t.Errorf("never: %s", what)
				return
			}
		}
	}
	wait("the command runs", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && len(b) > 1
	})
	if err := gateway.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = gateway.Wait() // killed
	wait("the command is gone", func() bool { return !alive(t, file) })
}
