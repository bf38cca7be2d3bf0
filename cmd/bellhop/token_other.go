//go:build !linux

package main

import (
	"io"
	"os"
	"path/filepath"

	"bellhop/core/store"
)

// lockName holds a name on this machine until it is closed or the process dies, by a lock file among the temporary files.
func lockName(name string) (io.Closer, error) {
	return store.LockFolder(filepath.Join(os.TempDir(), name))
}
