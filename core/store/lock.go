package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"bellhop/core"
)

// Lock is the exclusive right to serve one data folder. The kernel frees it when the process dies, however it dies.
type Lock struct {
	file *os.File
	once sync.Once
}

// LockFolder takes the lock of a data folder, which it makes (mode 0700) when it is missing. Locked: another process
// serves the folder; the error names its pid. A lock file that a dead process left behind is no obstacle.
func LockFolder(path string) (*Lock, error) {
	const op = "lock data folder"
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, core.E(op, core.Unavailable, err)
	}
	f, err := os.OpenFile(filepath.Join(path, "bellhop.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, core.E(op, core.Unavailable, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		if err = sign(f); err == nil {
			return &Lock{file: f}, nil
		}
	}
	holder := signature(f)
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, core.Errorf(op, core.Locked, "%s is already served by process %s", path, holder)
	}
	return nil, core.E(op, core.Unavailable, err)
}

// Close gives the folder back. Idempotent. The file stays: removing it could hand the lock to two processes.
func (l *Lock) Close() error {
	var err error
	l.once.Do(func() { err = l.file.Close() })
	return err
}

func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

func signature(f *os.File) string {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid := strings.TrimSpace(string(b))
	if err != nil || pid == "" {
		return "unknown"
	}
	return pid
}
