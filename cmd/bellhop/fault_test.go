package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bellhop/core/provider/providertest"
)

// refusal is how long an instance that may not run may take to say so; the machine that tests may be busy.
const refusal = 5 * time.Second

// refused starts serve and asserts that it ends at once with the configuration code and one line that holds every word,
// and that the platform was not asked for anything.
func (r *rig) refused(t *testing.T, words ...string) {
	t.Helper()
	before := len(r.tg.Calls("getUpdates")) + len(r.tg.Calls(""))
	begun := time.Now()
	code, out := r.exits(t, r.launch(), refusal)
	if took := time.Since(begun); code != exitConfig {
		t.Errorf("exit code %d after %s, want %d:\n%s", code, took, exitConfig, out)
	}
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("the message lacks %q:\n%s", w, out)
		}
	}
	if n := strings.Count(strings.TrimSpace(out), "\n"); n != 0 {
		t.Errorf("it takes %d lines to say it:\n%s", n+1, out)
	}
	if n := len(r.tg.Calls("getUpdates")) + len(r.tg.Calls("")); n != before {
		t.Errorf("the platform was called %d times", n-before)
	}
}

func pong(*providertest.Request) providertest.Reply {
	return providertest.Reply{providertest.Text("PONG")}
}

// C183, C184: the folder has one owner, whose pid is named; a lock that a killed process left is none.
func TestSecondInstance(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	g := r.start()
	r.tg.Cut() // the first one polls again later; nothing of it may be taken for the second one's
	other := &rig{t: t, dir: r.dir, config: r.config, tg: r.tg, model: r.model}
	code, out := r.exits(t, other.launch(), refusal)
	if code != exitConfig || !strings.Contains(out, "already served by process") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	g.kill()
	g = r.start()
	r.chat.Say(r.owner, "ping")
	r.until("an answer after kill -9", func() bool { return r.says("PONG") > 0 })
	g.stop()
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r.reconfigure("listen: 127.0.0.1:0", "listen: "+l.Addr().String())
	r.refused(t, "address in use "+l.Addr().String())
}

func TestTokenInUse(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	g := r.start()
	r.until("the first one has begun", func() bool {
		return len(r.tg.Calls("getUpdates")) > 0 && len(r.tg.Calls("getMe")) > 0 && len(r.tg.Calls("setMyCommands")) > 0
	})
	first := len(r.tg.Calls("getMe"))
	data := filepath.Join(r.dir, "data")
	r.reconfigure("data: "+data, "data: "+data+"2")
	code, out := r.exits(t, r.launch(), refusal)
	if code != exitConfig || !strings.Contains(out, "already uses this bot token") || strings.Contains(out, r.tg.Bot().Token) {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if n := len(r.tg.Calls("getMe")); n != first {
		t.Errorf("the second one talked to the platform")
	}
	g.stop()
}

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	r.reconfigure("stream: {", "streem: {")
	r.refused(t, "bellhop.yaml:", "streem", "stream")
}

// C178: a damaged database is named, and its files stay as they are.
func TestCorruptDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	g := r.start()
	r.chat.Say(r.owner, "ping")
	r.until("an answer", func() bool { return r.says("PONG") > 0 })
	g.stop()
	file := filepath.Join(r.dir, "data", databaseFile)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < len(b); i++ { // all but the header
		b[i] ^= 0xa5
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out := r.exits(t, r.launch(), refusal)
	if code == exitOK || !strings.Contains(out, "malformed") && !strings.Contains(out, "damaged") && !strings.Contains(out, "corrupt") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(b) {
		t.Errorf("the file was changed: %v", err)
	}
}

// C180: SIGTERM ends a tool that would go on for minutes, with everything that it started.
func TestTermEndsTools(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(q *providertest.Request) providertest.Reply {
		if len(q.Results()) == 0 {
			return providertest.Reply{providertest.Call("call_1", "shell", `{"command":"echo $$ >> pids; sleep 600 & echo $! >> pids; wait"}`)}
		}
		return providertest.Reply{providertest.Text("PONG")}
	})
	r.reconfigure("access: {", "approvals: {mode: off}\nturns: {drain: 1s}\naccess: {")
	g := r.start()
	r.chat.Say(r.owner, "work")
	r.until("the tool runs", func() bool { return r.lines("pids") == 2 })
	begun := time.Now()
	g.stop()
	if took := time.Since(begun); took > 25*time.Second {
		t.Errorf("it took %s to stop", took)
	}
	b, err := os.ReadFile(r.workspace("pids"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range strings.Fields(string(b)) {
		r.until("process "+pid+" is gone", func() bool { return !alive(pid) })
	}
	if out := r.must("verify"); !strings.Contains(out, "unknown 0") {
		t.Errorf("verify after the drain:\n%s", out)
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid string) bool {
	b, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestSecondTermExitsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(*providertest.Request) providertest.Reply { return providertest.Reply{providertest.Hang()} })
	g := r.start()
	r.chat.Say(r.owner, "hello")
	r.until("the model is asked", func() bool { return r.model.Open() > 0 })
	_ = g.cmd.Process.Signal(syscall.SIGTERM)
	r.until("it stops", func() bool { return strings.Contains(g.log.String(), "stopping") })
	_ = g.cmd.Process.Signal(syscall.SIGTERM)
	if code, out := r.exits(t, g, refusal); code != exitFailed {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// C172, C175: a reload with a bad file changes nothing, and is shown until it is mended.
func TestBadReload(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	g := r.start()
	good, err := os.ReadFile(r.config)
	if err != nil {
		t.Fatal(err)
	}
	r.write(string(good) + "\nnonsense: [\n")
	_ = g.cmd.Process.Signal(syscall.SIGHUP)
	const shown = `bellhop_problems{id="reload"} 1`
	r.until("the problem is shown", func() bool { return strings.Contains(g.get("metrics"), shown) })
	r.chat.Say(r.owner, "ping")
	r.until("it goes on", func() bool { return r.says("PONG") > 0 })
	r.write(string(good))
	_ = g.cmd.Process.Signal(syscall.SIGHUP)
	r.until("the problem is over", func() bool { return !strings.Contains(g.get("metrics"), shown) })
	g.stop()
}

// C153: /stop ends a tool and a model call that would go on, and the next message is answered.
func TestStop(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reply providertest.Reply
	}{
		{"tool", providertest.Reply{providertest.Call("call_1", "shell", `{"command":"echo $$ >> pids; sleep 30"}`)}},
		{"model", providertest.Reply{providertest.Hang()}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(q *providertest.Request) providertest.Reply {
				if strings.Contains(q.Last(), "ping") {
					return providertest.Reply{providertest.Text("PONG")}
				}
				return tc.reply
			})
			r.reconfigure("access: {", "approvals: {mode: off}\naccess: {")
			g := r.start()
			r.chat.Say(r.owner, "work")
			r.until("it runs", func() bool { return r.lines("pids") == 1 || tc.name == "model" && r.model.Open() > 0 })
			r.chat.Say(r.owner, "/stop")
			r.until("the call is ended", func() bool {
				b, err := os.ReadFile(r.workspace("pids"))
				return r.model.Open() == 0 && (errors.Is(err, os.ErrNotExist) || err == nil && !alive(strings.TrimSpace(string(b))))
			})
			r.chat.Say(r.owner, "ping")
			r.until("the next message is answered", func() bool { return r.says("PONG") > 0 })
			g.stop()
			if out := r.must("verify"); !strings.Contains(out, "unknown 0") {
				t.Errorf("verify: %s", out)
			}
		})
	}
}
