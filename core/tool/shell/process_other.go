//go:build unix && !linux

package shell

import (
	"os"
	"os/exec"
)

// await returns a channel that closes when the command has exited and was reaped, and what tells how it went.
func await(cmd *exec.Cmd) (gone <-chan struct{}, reap func() error) {
	exited := make(chan struct{})
	var err error
	go func() {
		defer close(exited)
		err = cmd.Wait()
	}()
	return exited, func() error { <-exited; return err }
}

// sweep finds nothing here: there is no process table to read.
func (g group) sweep() {}

// supervise does nothing here.
func supervise(*exec.Cmd) (leash, theirs *os.File, err error) { return nil, nil, nil }

// Supervise reports that the program was not started as a supervisor: there are none here.
func Supervise([]string) (code int, is bool) { return 0, false }
