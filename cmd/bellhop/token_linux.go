package main

import (
	"errors"
	"io"
	"net"
	"syscall"

	"bellhop/core"
)

// lockName holds a name on this machine until it is closed or the process dies. The name is an abstract socket: it needs
// no folder, so that private temporary folders and other users' rights do not matter, and it leaves nothing behind.
// Locked: another process holds it; the error names its pid.
func lockName(name string) (io.Closer, error) {
	l, err := net.Listen("unix", "@"+name)
	if err == nil {
		return l, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, core.Errorf("lock name", core.Locked, "process %d", nameHolder(name))
	}
	return nil, core.E("lock name", core.Unavailable, err)
}

// nameHolder asks the kernel who listens on a held name; 0 when it does not tell.
func nameHolder(name string) (pid int32) {
	c, err := net.Dial("unix", "@"+name)
	if err != nil {
		return 0
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	err = raw.Control(func(fd uintptr) {
		if cred, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = cred.Pid
		}
	})
	if err != nil {
		return 0
	}
	return pid
}
