package attach

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"bellhop/core"

	"github.com/oklog/ulid/v2"
)

// Prune deletes the files of admissions that are over, as over tells, and returns of how many. What else is in the folder
// was put there by somebody else and stays. Errors: Unavailable, and those of over.
func Prune(ctx context.Context, workspace string, over func(context.Context, core.AdmissionID) (bool, error)) (n int, err error) {
	const op = "prune files"
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return 0, core.E(op, core.Unavailable, err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, core.E(op, core.Unavailable, err)
	}
	for _, e := range entries {
		if _, err := ulid.ParseStrict(e.Name()); err != nil || !e.IsDir() {
			continue
		}
		gone, err := over(ctx, core.AdmissionID(e.Name()))
		if err != nil {
			return n, err
		}
		if !gone {
			continue
		}
		if err := root.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
			return n, core.E(op, core.Unavailable, err)
		}
		n++
	}
	return n, nil
}
