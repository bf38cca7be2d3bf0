package shell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervisorName is what a supervisor is called, as its first argument.
const supervisorName = "bellhop-supervisor"

const (
	leashFD    = 3                // of the supervisor: the end of a pipe that closes when the command is to end
	clearTime  = time.Second      // most for what was killed to be gone
	clearPause = time.Millisecond // between two looks at it
	notStarted = 126              // exit code, as that of a shell that cannot run its command
)

// supervise makes cmd run below a supervisor: this program once more. The command ends when the leash that is returned
// closes, also because this process died; theirs is to be closed once cmd was started.
func supervise(cmd *exec.Cmd) (leash, theirs *os.File, err error) {
	theirs, leash, err = os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd.Args = append([]string{supervisorName, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/proc/self/exe" // also when the file was replaced
	cmd.ExtraFiles = []*os.File{theirs}
	return leash, theirs, nil
}

// Supervise is the supervisor's whole life, when the program was started as one; is tells whether it was. A main function
// that offers the tool with Options.Supervised calls it first, and ends with code.
func Supervise(args []string) (code int, is bool) {
	if len(args) < 2 || args[0] != supervisorName {
		return 0, false
	}
	code, err := superviseCommand(args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "could not start:", err)
	}
	return code, true
}

// superviseCommand runs a command and returns its exit code once nothing that it started is left. Whatever a descendant
// does, it stays one: who loses its parent becomes a child of the supervisor.
func superviseCommand(argv []string) (int, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return notStarted, err
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // the leash alone ends it
	syscall.CloseOnExec(leashFD)
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return notStarted, err
	}
	go heel(os.NewFile(leashFD, "leash"))
	var status syscall.WaitStatus
	for {
		one, err := syscall.Wait4(-1, &status, 0, nil)
		if one == pid {
			break
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return notStarted, err
		}
	}
	clearAll()
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// heel ends the command when the leash closes: politely first.
func heel(leash *os.File) {
	_, _ = leash.Read(make([]byte, 1)) // nothing is ever written to it
	signalAll(syscall.SIGTERM)
	time.Sleep(polite)
	for { // until the supervisor, which waits for the command, ends
		signalAll(syscall.SIGKILL)
		time.Sleep(clearPause)
	}
}

// clearAll kills what is left and reaps it. Only what belongs to another user, or hangs in the kernel, can outlast it.
func clearAll() {
	for late := time.Now().Add(clearTime); time.Now().Before(late); time.Sleep(clearPause) {
		for {
			one, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if errors.Is(err, syscall.ECHILD) {
				return // no children, so no descendants
			}
			if one <= 0 && !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		signalAll(syscall.SIGKILL)
	}
}

// signalAll signals every descendant of this process.
func signalAll(s syscall.Signal) {
	children := map[int][]int{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return
	}
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			st := stat(dir)
			children[st.parent] = append(children[st.parent], pid)
		}
	}
	for next := children[os.Getpid()]; len(next) > 0; {
		pid := next[0]
		next = append(next[1:], children[pid]...)
		_ = syscall.Kill(pid, s) // gone already: fine
	}
}
