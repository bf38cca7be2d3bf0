package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"bellhop/core/tool"
)

// marker names the variable by which processes of a call are found again after they left its group.
const marker = "BELLHOP_CALL"

const (
	polite = 200 * time.Millisecond // between the wish to end and the kill
	mercy  = 200 * time.Millisecond // for a supervisor to kill all, after that
	pipes  = 500 * time.Millisecond // for output to arrive after the last process of the group is gone
	glance = 2 * time.Second        // between two looks at the output for people
)

// process is a command line about to run.
type process struct {
	line       string
	dir        string
	env        []string
	out        *tool.Spool
	limit      time.Duration
	progress   func(string)
	supervised bool
}

// end is how a command ended.
type end struct {
	code int    // exit code, 128 + signal when it was killed
	why  string // set when we ended it
	took time.Duration
}

// what says how it ended, without the time it took.
func (e end) what() string {
	if e.why != "" {
		return e.why
	}
	return fmt.Sprintf("exit code %d", e.code)
}

func (e end) String() string {
	return fmt.Sprintf("%s, %s", e.what(), e.took.Round(100*time.Millisecond))
}

// run starts the command in a session of its own and waits for it. When it ends, its limit passes or ctx ends, nothing of
// it is left. The error is that it could not start, or the cause of ctx.
func run(ctx context.Context, p process) (end, error) {
	begun := time.Now()
	if err := ctx.Err(); err != nil {
		return end{}, context.Cause(ctx)
	}
	cmd := exec.Command(interpreter(), "-c", p.line)
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.Stdout, cmd.Stderr = p.out, p.out // the same value, so one pipe and one order
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = pipes
	leash, err := p.start(cmd)
	if err != nil {
		return end{}, fmt.Errorf("could not start: %w", err)
	}
	defer leash.Close()
	g := group{pid: cmd.Process.Pid, id: p.env, leash: leash}
	gone, reap := await(cmd)
	why := p.watch(ctx, g, gone)
	g.clear() // before the leader is reaped, so that its number is nobody else's
	g.sweep() // and before its pipe is waited for, which strays may hold
	err = reap()
	e := end{code: code(cmd.ProcessState), why: why, took: time.Since(begun)}
	if ctx.Err() != nil {
		return e, fmt.Errorf("killed: %w", context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return e, fmt.Errorf("its output could not be read: %w", err)
	}
	return e, nil
}

// start starts the command, below a supervisor when there is to be one; the leash is that one's, nil without.
func (p process) start(cmd *exec.Cmd) (leash *os.File, err error) {
	if !p.supervised {
		return nil, cmd.Start()
	}
	leash, theirs, err := supervise(cmd)
	if err == nil {
		err = cmd.Start()
	}
	_ = theirs.Close() // it has its own now
	if err != nil {
		_ = leash.Close() // nobody holds the other end
		return nil, err
	}
	return leash, nil
}

// watch waits until the leader has exited, and makes it exit when its time or ctx ends. It says why it had to.
func (p process) watch(ctx context.Context, g group, gone <-chan struct{}) (why string) {
	limit := time.NewTimer(p.limit)
	defer limit.Stop()
	look := time.NewTicker(glance)
	defer look.Stop()
	shown := ""
	for {
		select {
		case <-gone:
			return ""
		case <-ctx.Done():
			g.end(gone)
			return "interrupted"
		case <-limit.C:
			g.end(gone)
			return fmt.Sprintf("killed: it took more than %s", p.limit)
		case <-look.C:
			if last := tool.Shorten(p.out.Last(), 200); p.progress != nil && last != shown {
				shown = last
				p.progress(last)
			}
		}
	}
}

// group is the processes of a command.
type group struct {
	pid   int      // of the leader; also the number of its session and group
	id    []string // environment, which carries the marker
	since uint64   // start of the leader, where the system tells
	leash *os.File // of the leader, when that is a supervisor
}

// end asks the group to end, and kills it when it has not after a moment.
func (g group) end(gone <-chan struct{}) {
	wait := polite
	if g.leash != nil {
		_ = g.leash.Close() // a pipe that nothing was written to
		wait += mercy
	} else {
		_ = syscall.Kill(-g.pid, syscall.SIGTERM) // gone already: fine
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-gone:
	case <-t.C:
		_ = syscall.Kill(-g.pid, syscall.SIGKILL)
		<-gone
	}
}

// clear kills what is left of the group.
func (g group) clear() { _ = syscall.Kill(-g.pid, syscall.SIGKILL) }

// code returns the exit code as a shell would.
func code(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// interpreter returns bash where there is one.
func interpreter() string {
	if path, err := exec.LookPath("bash"); err == nil {
		return path
	}
	return "/bin/sh"
}
