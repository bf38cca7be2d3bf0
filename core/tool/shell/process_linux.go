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
	_, g.since, _ = stat(filepath.Join("/proc", strconv.Itoa(g.pid)))
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

// stat reads the session of a process that is no zombie, and when it was started, in ticks.
func stat(dir string) (session int, started uint64, alive bool) {
	b, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, 0, false
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // from the third field of proc(5) on: state, ppid, pgrp, session …
	if len(f) < 20 {
		return 0, 0, false
	}
	session, _ = strconv.Atoi(string(f[3])) // the kernel writes numbers
	started, _ = strconv.ParseUint(string(f[19]), 10, 64)
	return session, started, string(f[0]) != "Z"
}

// owns reports whether the process in dir belongs to the command. unsure: it is just beginning a program, and for that
// moment has no environment.
func (g group) owns(dir, mark string) (ours, unsure bool) {
	session, started, alive := stat(dir)
	if !alive || started < g.since || mark == "" {
		return false, false
	}
	if session == g.pid {
		return true, false
	}
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return false, false
	}
	ours = slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return string(v) == mark })
	return ours, len(env) == 0
}
