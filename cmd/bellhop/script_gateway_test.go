package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"github.com/rogpeppe/go-internal/testscript"
)

var gatewayVerbs = map[string]verb{
	"config": func(s *story, _ *testscript.TestScript, args []string) error {
		return s.setConfig(strings.Join(args, " "))
	},
	"start": func(s *story, _ *testscript.TestScript, args []string) error {
		s.gateway = s.rig.start(args...)
		return nil
	},
	"terminate": func(s *story, _ *testscript.TestScript, _ []string) error {
		s.gateway.stop()
		return nil
	},
	"restart": func(s *story, _ *testscript.TestScript, args []string) error {
		s.gateway.stop()
		s.gateway = s.rig.start(args...)
		return nil
	},
	"kill-9": (*story).killHard,
	"hangup": func(s *story, _ *testscript.TestScript, _ []string) error {
		return s.gateway.cmd.Process.Signal(syscall.SIGHUP)
	},
	"code":      (*story).exitedWith,
	"appears":   (*story).appears,
	"quiet":     (*story).quiet,
	"log":       (*story).logged,
	"never-log": (*story).neverLogged,
	"rpc":       (*story).rpc,
	"get":       (*story).get,
	"post":      (*story).post,
}

// runBellhop is the verb bellhop.
func runBellhop(ts *testscript.TestScript, neg bool, args []string) {
	s := storyOf(ts)
	var in io.Reader = strings.NewReader("")
	if len(args) > 0 && strings.HasPrefix(args[0], "<") {
		in = strings.NewReader(ts.ReadFile(args[0][1:]))
		args = args[1:]
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := s.command(args...)
	c = &exec.Cmd{Path: c.Path, Args: c.Args, Env: c.Env, Stdin: in}
	c.Dir = ts.Getenv("WORK")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		ts.Fatalf("bellhop: %v", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Process.Kill() })
	err := c.Wait()
	stop()
	fmt.Fprint(ts.Stdout(), stdout.String())
	fmt.Fprint(ts.Stderr(), stderr.String())
	s.code = c.ProcessState.ExitCode()
	switch {
	case ctx.Err() != nil:
		ts.Fatalf("bellhop did not end:\n%s%s", &stdout, &stderr)
	case err != nil && !neg:
		ts.Fatalf("bellhop ended with code %d:\n%s%s", s.code, &stdout, &stderr)
	case err == nil && neg:
		ts.Fatalf("bellhop ended with code 0:\n%s%s", &stdout, &stderr)
	}
}

func (s *story) killHard(*testscript.TestScript, []string) error {
	s.gateway.kill()
	return nil
}

func (s *story) exitedWith(_ *testscript.TestScript, args []string) error {
	if err := needs(args, 1, "code N"); err != nil {
		return err
	}
	if got := strconv.Itoa(s.code); got != args[0] {
		return fmt.Errorf("the last command ended with %s", got)
	}
	return nil
}

// appears waits for a file that holds a text.
func (s *story) appears(ts *testscript.TestScript, args []string) error {
	if err := needs(args, 2, "appears FILE TEXT"); err != nil {
		return err
	}
	return s.wait(args[1]+" in "+args[0], func() bool {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && bytes.Contains(b, []byte(args[1]))
	})
}

func (s *story) logged(_ *testscript.TestScript, args []string) error {
	if err := needs(args, 1, "log REGEXP"); err != nil {
		return err
	}
	p, err := pattern(args[0])
	if err != nil {
		return err
	}
	s.look = s.gateway.log.String
	return s.wait("in the log: "+args[0], func() bool { return p.MatchString(s.gateway.log.String()) })
}

func (s *story) neverLogged(_ *testscript.TestScript, args []string) error {
	if err := needs(args, 1, "never-log REGEXP"); err != nil {
		return err
	}
	p, err := pattern(args[0])
	if err != nil {
		return err
	}
	if found := p.FindString(s.gateway.log.String()); found != "" {
		return fmt.Errorf("the log has %q", found)
	}
	return nil
}

func (s *story) address() string {
	url, _, _ := strings.Cut(s.gateway.url, "#")
	return strings.TrimSuffix(url, "/")
}

// rpc makes one call and prints its result; notifications before it are passed over.
func (s *story) rpc(ts *testscript.TestScript, args []string) error {
	if err := needs(args, 2, "rpc METHOD JSON"); err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(s.dir, "data", tokenFile))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, strings.Replace(s.address(), "http", "ws", 1)+"/rpc",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(token))}}})
	if err != nil {
		return err
	}
	defer ws.CloseNow()
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, args[0], args[1])
	if err := ws.Write(ctx, websocket.MessageText, []byte(call)); err != nil {
		return err
	}
	for {
		_, data, err := ws.Read(ctx)
		if err != nil {
			return err
		}
		var m struct{ ID json.RawMessage }
		if json.Unmarshal(data, &m) == nil && string(m.ID) == "1" {
			_, err := fmt.Fprintln(ts.Stdout(), strings.TrimSpace(string(data)))
			return err
		}
	}
}

// quiet waits until nothing runs, waits or is owed, as the metrics tell it.
func (s *story) quiet(*testscript.TestScript, []string) error {
	busy := `\n(bellhop_admissions\{state="(queued|started)"\}|bellhop_deliveries\{state="owed"\}) [1-9]`
	return s.wait("nothing runs, waits or is owed", func() bool {
		return s.request(http.MethodGet, "/metrics", nil, http.Header{}, "200", []string{busy}) != nil
	})
}

func (s *story) get(ts *testscript.TestScript, args []string) error {
	if err := needs(args, 2, "get PATH STATUS [REGEXP]"); err != nil {
		return err
	}
	return s.request(http.MethodGet, args[0], nil, http.Header{}, args[1], args[2:])
}

func (s *story) post(ts *testscript.TestScript, args []string) error {
	if err := needs(args, 3, "post PATH FILE STATUS [HEADER VALUE]"); err != nil {
		return err
	}
	h := http.Header{"Content-Type": {"application/json"}}
	if len(args) > 4 {
		h.Set(args[3], args[4])
	}
	return s.request(http.MethodPost, args[0], strings.NewReader(ts.ReadFile(args[1])), h, args[2], nil)
}

func (s *story) request(method, path string, body io.Reader, h http.Header, status string, want []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.address()+path, body)
	if err != nil {
		return err
	}
	req.Header = h
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if strconv.Itoa(resp.StatusCode) != status {
		return fmt.Errorf("%s answered %d: %s", path, resp.StatusCode, text)
	}
	for _, w := range want {
		p, err := pattern(w)
		if err != nil {
			return err
		}
		if !p.Match(text) {
			return fmt.Errorf("%s answered %s", path, text)
		}
	}
	return nil
}
