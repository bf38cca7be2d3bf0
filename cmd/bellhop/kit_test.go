package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bellhop/adapters/telegram/telegramtest"
	"bellhop/core/provider/providertest"
	"bellhop/core/store"
	"bellhop/core/store/pgtest"
	"bellhop/core/tool/shell"
)

// TestMain lets the test binary be the gateway: tests start it again as a child, kill it and start it once more. That one
// starts it as the supervisor of its commands.
func TestMain(m *testing.M) {
	if code, is := shell.Supervise(os.Args); is {
		os.Exit(code)
	}
	if os.Getenv("BELLHOP_BE_MAIN") == "1" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	code := m.Run()
	database.stop()
	os.Exit(code)
}

// patience is how long a test waits for something that has to happen.
const patience = 20 * time.Second

// rig is a gateway's surroundings: the fake platform, the scripted model, the data folder, which outlive its processes.
type rig struct {
	t      *testing.T
	dir    string
	config string
	api    string // where the fake platform listens
	tg     *telegramtest.Server
	model  *providertest.Server
	owner  telegramtest.Person
	chat   *telegramtest.Chat
	store  store.Options
}

// storeKind is a kind of store that a test runs on; dsn makes a database, empty: the file in the data folder.
type storeKind struct {
	name string
	dsn  func(t *testing.T) string
}

var storeKinds = []storeKind{
	{"sqlite", func(*testing.T) string { return "" }},
	{"postgres", func(t *testing.T) string { return database.get(t).Database(t) }},
}

// database is the PostgreSQL of all tests here, started when the first needs it.
var database lazyDatabase

type lazyDatabase struct {
	once   sync.Once
	server *pgtest.Server
	err    error
}

func (l *lazyDatabase) get(t *testing.T) *pgtest.Server {
	t.Helper()
	l.once.Do(func() { l.server, l.err = pgtest.Start() })
	if errors.Is(l.err, pgtest.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(l.err)
	}
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.server
}

func (l *lazyDatabase) stop() {
	if l.server != nil {
		_ = l.server.Stop()
	}
}

// on makes the rig's gateway keep its store elsewhere.
func (r *rig) on(k storeKind) *rig {
	r.t.Helper()
	if dsn := k.dsn(r.t); dsn != "" {
		r.store = store.Options{Driver: k.name, DSN: dsn}
		text, err := os.ReadFile(r.config)
		if err != nil {
			r.t.Fatal(err)
		}
		r.write(string(text) + fmt.Sprintf("store: {driver: %s, dsn: %q}\n", k.name, dsn))
	}
	return r
}

// ownBot is a bot with a token of its own: on one machine only one gateway may use a token.
func ownBot() telegramtest.Bot {
	b := telegramtest.DefaultBot
	b.Token = fmt.Sprintf("%d:AAFake%s", b.ID, rand.Text())
	return b
}

// newRig makes surroundings in a folder of their own.
func newRig(t *testing.T, rule providertest.Rule) *rig {
	t.Helper()
	return newRigIn(t, t.TempDir(), rule)
}

// newRigIn makes surroundings in dir whose model answers by rule. The owner is an admin and may talk.
func newRigIn(t *testing.T, dir string, rule providertest.Rule) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, store: store.Options{DSN: filepath.Join(dir, "data", databaseFile)}, tg: telegramtest.New(telegramtest.Options{Bot: ownBot()}), model: providertest.New(rule)}
	api := httptest.NewServer(r.tg)
	t.Cleanup(api.Close)
	r.api = api.URL
	modelURL, stop, err := r.model.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	r.owner = r.tg.Person("Ann")
	r.chat = r.tg.DM(r.owner)
	r.config = filepath.Join(r.dir, "bellhop.yaml")
	r.write(fmt.Sprintf(`
data: %s/data
listen: 127.0.0.1:0
log: {level: debug}
access: {allow: ["telegram:%d"], admins: ["telegram:%[2]d"]}
model: {provider: m, name: scripted}
providers: {m: {kind: openai, base_url: %q, api_key: sk-planted-model-key}}
stream: {edit_interval: 50ms}
platforms:
  telegram: {token: %q, api_url: %q, limits: off}
`, r.dir, r.owner.ID, modelURL, r.tg.Bot().Token, api.URL))
	t.Cleanup(func() {
		for _, v := range r.tg.Violations() {
			t.Errorf("the platform was asked for something it does not have: %s", v)
		}
		for _, p := range r.model.Problems() {
			t.Errorf("the model refused a request: %s", p)
		}
	})
	return r
}

func (r *rig) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.config, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) workspace(name string) string { return filepath.Join(r.dir, "data", "workspace", name) }

// lines counts the lines of a file in the workspace: the side effects that really happened.
func (r *rig) lines(name string) int {
	b, err := os.ReadFile(r.workspace(name))
	if err != nil {
		return 0
	}
	return bytes.Count(b, []byte("\n"))
}

// command returns a run of the program with the rig's configuration.
func (r *rig) command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	c := exec.Command(self, append(args, "--config", r.config)...)
	c.Env = append(os.Environ(), "BELLHOP_BE_MAIN=1", "HOME="+r.dir, "TMPDIR="+r.dir, "GORACE=halt_on_error=1",
		"TELEGRAM="+r.api, "TOKEN="+r.tg.Bot().Token)
	return c
}

// must runs a command that has to succeed and returns its output.
func (r *rig) must(args ...string) string {
	r.t.Helper()
	out, err := r.command(args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("bellhop %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// process is one running gateway.
type process struct {
	r    *rig
	cmd  *exec.Cmd
	url  string
	died chan struct{}
	log  *tail
}

// start runs serve and waits for its ready line; env are further KEY=VALUE pairs.
func (r *rig) start(env ...string) *process {
	r.t.Helper()
	g := r.launch(env...)
	g.ready()
	return g
}

// ready waits for the ready line.
func (g *process) ready() {
	g.r.t.Helper()
	select {
	case g.url = <-g.log.ready:
	case <-g.died:
		g.r.t.Fatalf("the gateway ended before it was ready:\n%s", g.log)
	case <-time.After(patience):
		g.r.t.Fatalf("no ready line:\n%s", g.log)
	}
}

// launch runs serve without waiting for anything.
func (r *rig) launch(env ...string) *process {
	r.t.Helper()
	g := &process{r: r, cmd: r.command("serve"), died: make(chan struct{}), log: newTail()}
	g.cmd.Env = append(g.cmd.Env, env...)
	g.cmd.Stdout, g.cmd.Stderr = g.log, g.log
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := g.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		_ = g.cmd.Wait() // how it ended is read from ProcessState
		close(g.died)
	}()
	r.t.Cleanup(func() {
		g.kill()
		if r.t.Failed() {
			r.t.Logf("log of the gateway:\n%s", g.log)
		}
	})
	return g
}

// kill is SIGKILL to the process alone.
func (g *process) kill() {
	_ = g.cmd.Process.Kill() // gone already is as good
	<-g.died
}

// stop is SIGTERM; the gateway has to drain and end by itself with code 0.
func (g *process) stop() {
	g.r.t.Helper()
	_ = g.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-g.died:
	case <-time.After(40 * time.Second):
		g.r.t.Fatalf("SIGTERM did not end it:\n%s", g.log)
	}
	if code := g.cmd.ProcessState.ExitCode(); code != exitOK {
		g.r.t.Errorf("exit code %d after SIGTERM:\n%s", code, g.log)
	}
}

// dies waits for the process to be killed by its own crash point.
func (g *process) dies() {
	g.r.t.Helper()
	select {
	case <-g.died:
	case <-time.After(patience):
		g.r.t.Fatalf("the kill point was not reached:\n%s", g.log)
	}
	if ws, ok := g.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		g.r.t.Fatalf("it ended otherwise than by SIGKILL: %v\n%s", g.cmd.ProcessState, g.log)
	}
}

// until waits for cond, which is looked at again whenever the fake platform changes, and now and then.
func (r *rig) until(what string, cond func() bool) {
	r.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		changed := r.tg.Changed()
		if cond() {
			return
		}
		select {
		case <-changed:
		case <-look.C:
		case <-deadline.C:
			r.t.Fatalf("never: %s\n%s", what, r.screen())
		}
	}
}

// screen is what the owner sees.
func (r *rig) screen() string {
	var b strings.Builder
	for _, m := range r.chat.Visible() {
		fmt.Fprintf(&b, "  [%d own=%v] %q", m.ID, m.Own, m.Text)
		for _, row := range m.Buttons {
			for _, x := range row {
				fmt.Fprintf(&b, " <%s|%s>", x.Text, x.Data)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// says counts the bot's visible messages that hold text.
func (r *rig) says(text string) int {
	n := 0
	for _, m := range r.chat.Visible() {
		if m.Own && strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}

// press presses the first visible button whose data begins and ends so, and reports whether there was one.
func (r *rig) press(prefix, suffix string) bool {
	for _, m := range r.chat.Visible() {
		for _, row := range m.Buttons {
			for _, b := range row {
				if strings.HasPrefix(b.Data, prefix) && strings.HasSuffix(b.Data, suffix) {
					r.chat.Press(r.owner, m.ID, b.Data)
					return true
				}
			}
		}
	}
	return false
}

// tail keeps a process's output and finds its ready line.
type tail struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan string
	said  bool
}

func newTail() *tail { return &tail{ready: make(chan string, 1)} }

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if !l.said {
		sc := bufio.NewScanner(bytes.NewReader(l.text.Bytes()))
		for sc.Scan() {
			if i := strings.Index(sc.Text(), "http://"); i >= 0 && strings.Contains(sc.Text(), "ready") {
				l.said = true
				l.ready <- strings.Fields(sc.Text()[i:])[0]
				break
			}
		}
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.text.String()
	if n := len(s) - 20000; n > 0 {
		s = "…" + s[n:]
	}
	return s
}
