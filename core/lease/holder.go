package lease

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"bellhop/core"
)

// Self describes this process. instance is random and unique per process. The facts are read from /proc, see proc(5):
// start time is field 22 of stat, the namespace is the link ns/pid, the boot id is sys/kernel/random/boot_id.
func Self(instance string) (core.Holder, error) {
	const op = "describe this process"
	start, _, err := stat(os.Getpid())
	if err != nil {
		return core.Holder{}, core.E(op, core.Internal, err)
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return core.Holder{}, core.E(op, core.Internal, err)
	}
	host, err := host()
	if err != nil {
		return core.Holder{}, core.E(op, core.Internal, err)
	}
	return core.Holder{Host: host, PID: os.Getpid(), Namespace: ns, StartTime: start, Instance: instance}, nil
}

// Alive reports whether h still lives, as far as this process can prove the contrary: it is on this host and was started
// before the last boot, or its process is gone, is a zombie, or has another start time (the number was used again). A
// holder on another host or in another pid namespace counts as alive.
func Alive(h core.Holder) bool {
	here, err := host()
	if err != nil {
		return true
	}
	name, boot := splitHost(h.Host)
	hereName, hereBoot := splitHost(here)
	if name != hereName {
		return true
	}
	if boot != hereBoot {
		return false
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil || ns != h.Namespace {
		return true
	}
	return running(h)
}

// Alone returns an Alive for a process that holds an exclusive lock on everything the store consists of, as serve does on
// its data folder: a holder that cannot be seen from here, for example of an earlier container, is gone too.
func Alone(self core.Holder) func(core.Holder) bool {
	return func(h core.Holder) bool {
		if h.Instance == self.Instance {
			return true
		}
		return h.Host == self.Host && h.Namespace == self.Namespace && running(h)
	}
}

// running looks for h in this pid namespace.
func running(h core.Holder) bool {
	if errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) {
		return false
	}
	start, state, err := stat(h.PID)
	if err != nil {
		// Gone meanwhile, or hidden from us (hidepid): only the first is proof.
		return !errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
	}
	return start == h.StartTime && state != 'Z' && state != 'X'
}

// stat returns the start time of a process in clock ticks since boot, and its state.
func stat(pid int) (start int64, state byte, err error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	return parseStat(raw)
}

// parseStat skips the command name, which is in parentheses and may hold anything, parentheses too.
func parseStat(raw []byte) (start int64, state byte, err error) {
	const startField = 22 - 3 // counted from the state, which is field 3
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) <= startField || len(fields[0]) != 1 {
		return 0, 0, fmt.Errorf("stat has %d fields", len(fields))
	}
	start, err = strconv.ParseInt(string(fields[startField]), 10, 64)
	return start, fields[0][0], err
}

// host is the host's name and, after the last slash, its boot id.
func host() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return name + "/" + strings.TrimSpace(string(boot)), nil
}

func splitHost(h string) (name, boot string) {
	n := strings.LastIndexByte(h, '/')
	if n < 0 {
		return h, ""
	}
	return h[:n], h[n+1:]
}
