package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/tool"
)

// Options configure the tool. Zero values mean their defaults.
type Options struct {
	Timeout    time.Duration // of one command unless the call asks for another, 120 s
	MaxTimeout time.Duration // most a call may ask for, 400 s
	MaxOutput  int           // bytes of output the model sees, 32 KiB
	MaxSpill   int64         // bytes of output kept in the spill file, 16 MiB
	Env        []string      // names of environment variables to pass on beside the built-in list
	Supervised bool          // the program's main function calls Supervise, so that it can be started as a supervisor
	Secret     []string      // absolute paths that must not be named, but for workspace and spill in them: data folder, keys
}

// New returns the tool "shell".
func New(o Options) tool.Tool {
	if o.Timeout <= 0 {
		o.Timeout = 120 * time.Second
	}
	if o.MaxTimeout <= 0 {
		o.MaxTimeout = 400 * time.Second
	}
	o.Timeout = min(o.Timeout, o.MaxTimeout)
	return &shell{o}
}

type shell struct{ o Options }

// args are the tool's arguments.
type args struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds
}

const schema = `{"type":"object","required":["command"],"additionalProperties":false,"properties":{` +
	`"command":{"type":"string","description":"What to run, as one would type it into bash. It starts in the workspace."},` +
	`"timeout":{"type":"integer","minimum":1,"description":"Seconds after which it is killed."}}}`

func (s *shell) Spec() tool.Spec {
	return tool.Spec{
		Name: "shell",
		About: fmt.Sprintf("Runs a command line with bash in the workspace and returns its output and exit code. Standard input "+
			"is empty. It is killed after %.0f s unless you ask for more (up to %.0f); processes it leaves in the background are "+
			"killed when it ends. Commands that only read inside the workspace run at once; a person may be asked about others.",
			s.o.Timeout.Seconds(), s.o.MaxTimeout.Seconds()),
		Schema:  json.RawMessage(schema),
		Effect:  core.Once,
		Timeout: s.o.MaxTimeout + 5*time.Second,
		Admin:   true,
		Verb:    "Running a command",
	}
}

func parse(raw json.RawMessage) (a args, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, fmt.Errorf("arguments: %w", err)
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return a, errors.New("command is empty")
	case strings.ContainsRune(a.Command, 0):
		return a, errors.New("command contains a NUL character")
	case a.Timeout < 0:
		return a, errors.New("timeout is negative")
	}
	return a, nil
}

// Assess judges the command line.
func (s *shell) Assess(_ context.Context, env tool.Env, raw json.RawMessage) (tool.Risk, error) {
	a, err := parse(raw)
	if err != nil {
		return tool.Risk{}, err
	}
	home, _ := os.UserHomeDir() // "" when there is none: then nothing is inside it
	o := judge(a.Command, place{workspace: env.Workspace, spill: env.Spill, secret: s.o.Secret, home: home,
		gateway: []int{os.Getpid(), os.Getppid()}})
	r := tool.Risk{Verdict: o.verdict, Why: o.why, Key: o.key, Kinds: o.kinds, Plain: o.plain, Once: o.reach == once,
		Summary: tool.Line(a.Command, 200), Detail: a.Command}
	if o.key != "" && r.Once { // whoever remembers it nevertheless, remembers nothing that comes again
		r.Key += ":" + env.CallID
	}
	if o.verdict == tool.Allow {
		r.Effect = core.ReadOnly
	}
	return r, nil
}

// Call runs the command line. A command that fails is a failed result, not an error.
func (s *shell) Call(ctx context.Context, env tool.Env, raw json.RawMessage) (tool.Result, error) {
	a, err := parse(raw)
	if err != nil {
		return tool.Result{}, err
	}
	limit := s.o.Timeout
	if a.Timeout > 0 {
		limit = min(time.Duration(a.Timeout)*time.Second, s.o.MaxTimeout)
	}
	out := tool.NewSpool(tool.SpillPath(env), s.o.MaxOutput, s.o.MaxSpill)
	end, err := run(ctx, process{line: a.Command, dir: env.Workspace, env: s.environ(env), out: out, limit: limit,
		progress: env.Progress, supervised: s.o.Supervised})
	kept := out.Close()
	if err != nil {
		return tool.Result{Text: kept.Text}, err
	}
	res := tool.Result{Text: kept.Text, Path: kept.Path, Failed: end.code != 0 || end.why != ""}
	if res.Summary = end.String(); kept.Text == "" {
		res.Text = "[no output]"
	}
	if !strings.HasSuffix(res.Text, "\n") {
		res.Text += "\n"
	}
	res.Text += "[" + end.what() + "]" // no time in it: the same command gives the same text
	return res, nil
}

// passed are the variables that a command gets; everything else may be a secret.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ",
	"TMPDIR", "GOPATH", "GOCACHE", "GOMODCACHE", "GOROOT", "JAVA_HOME", "NVM_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// environ builds the environment of a command. Git reads no repository around the workspace and none that pretends to be
// one, and runs no program that a repository's configuration names while it only looks.
func (s *shell) environ(env tool.Env) []string {
	out := []string{"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=safe.bareRepository", "GIT_CONFIG_VALUE_1=explicit",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(follow(env.Workspace)),
		"DEBIAN_FRONTEND=noninteractive", "PWD=" + env.Workspace, marker + "=" + env.CallID}
	for _, list := range [][]string{passed, s.o.Env} {
		for _, name := range list {
			if v, ok := os.LookupEnv(name); ok {
				out = append(out, name+"="+v)
			}
		}
	}
	return out
}
