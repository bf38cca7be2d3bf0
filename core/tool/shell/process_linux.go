package shell

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// await returns a channel that closes when the command has exited, and what reaps it then. Between the two it is a
// zombie, whose number nobody else can get.
func await(cmd *exec.Cmd) (gone <-chan struct{}, reap func() error) {
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		for {
			err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return exited, cmd.Wait
}

// sweep kills what left the group: processes of its session, and those that inherited its marker. The leader, which is
// not reaped yet, tells since when there can be any.
func (g group) sweep() {
	g.since = stat(filepath.Join("/proc", strconv.Itoa(g.pid))).started
	mark := ""
	if i := slices.IndexFunc(g.id, func(v string) bool { return strings.HasPrefix(v, marker+"=") }); i >= 0 {
		mark = g.id[i]
	}
	for range sweeps { // a process may fork or begin another program while we look, and takes a moment to die
		if !g.killStrays(mark) {
			return
		}
		time.Sleep(sweepPause)
	}
}

const (
	sweeps     = 50
	sweepPause = 2 * time.Millisecond
)

// killStrays goes once through the process table. It reports whether it found any, or one that it could not tell.
func (g group) killStrays(mark string) (again bool) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		ours, unsure := g.owns(dir, mark)
		if again = again || unsure; ours && syscall.Kill(pid, syscall.SIGKILL) == nil {
			again = true
		}
	}
	return again
}

// status is what the process table tells of a process; the zero value, of one that is gone.
type status struct {
	parent, session int
	started         uint64 // in ticks
	alive           bool   // and no zombie
}

// stat reads the status of the process in dir.
func stat(dir string) (s status) {
	b, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return s
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // from the third field of proc(5) on: state, ppid, pgrp, session …
	if len(f) < 20 {
		return s
	}
	s.parent, _ = strconv.Atoi(string(f[1])) // the kernel writes numbers
	s.session, _ = strconv.Atoi(string(f[3]))
	s.started, _ = strconv.ParseUint(string(f[19]), 10, 64)
	s.alive = string(f[0]) != "Z"
	return s
}

// owns reports whether the process in dir belongs to the command. unsure: it is just beginning a program, and for that
// moment has no environment.
func (g group) owns(dir, mark string) (ours, unsure bool) {
	st := stat(dir)
	if !st.alive || st.started < g.since || mark == "" {
		return false, false
	}
	if st.session == g.pid {
		return true, false
	}
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return false, false
	}
	ours = slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return string(v) == mark })
	return ours, len(env) == 0
}
