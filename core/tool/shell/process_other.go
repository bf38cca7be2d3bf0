//go:build unix && !linux

package shell

import "os/exec"

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
