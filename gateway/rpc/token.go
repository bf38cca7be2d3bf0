package rpc

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bellhop/core"
)

// TokenFile returns the token in a file of the data folder, and makes both when there is none. Only the user that runs the
// gateway may read it: a file that others can read is Denied.
func TokenFile(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeToken(path)
	}
	if err != nil {
		return "", core.E("read token", core.Unavailable, err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", core.Errorf("read token", core.Denied, "%s can be read by others; chmod 600 it, or delete it to get a new one", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", core.E("read token", core.Unavailable, err)
	}
	if token := strings.TrimSpace(string(data)); token != "" {
		return token, nil
	}
	return "", core.Errorf("read token", core.Corrupt, "%s is empty; delete it to get a new one", path)
}

// makeToken writes a fresh token beside the file and links it there: of two processes one wins, and both read its token.
func makeToken(path string) (string, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".token-*") // mode 0600
	if err != nil {
		return "", core.E("make token", core.Unavailable, err)
	}
	defer os.Remove(tmp.Name())
	token := rand.Text()
	_, err = tmp.WriteString(token + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return "", core.E("make token", core.Unavailable, err)
	}
	switch err := os.Link(tmp.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return TokenFile(path)
	case err != nil:
		return "", core.E("make token", core.Unavailable, err)
	}
	return token, nil
}
