package attach

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"bellhop/core"

	"github.com/oklog/ulid/v2"
)

func all(context.Context, core.AdmissionID) (bool, error) { return true, nil }

// The folder may have been replaced by a link: what it leads to outside of the workspace stays.
func TestPruneStaysInTheWorkspace(t *testing.T) {
	work, other := t.TempDir(), t.TempDir()
	kept := filepath.Join(other, ulid.Make().String())
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(work, folder)); err != nil {
		t.Fatal(err)
	}
	if n, err := Prune(t.Context(), work, all); n != 0 || !core.Is(err, core.Unavailable) {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

func TestPruneStopsAtAFault(t *testing.T) {
	work := t.TempDir()
	if n, err := Prune(t.Context(), work, all); n != 0 || err != nil {
		t.Errorf("without a folder: %d, %v", n, err)
	}
	dir := filepath.Join(work, folder, ulid.Make().String())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	away := core.Errorf("look", core.Unavailable, "no")
	n, err := Prune(t.Context(), work, func(context.Context, core.AdmissionID) (bool, error) { return true, away })
	if n != 0 || !core.Is(err, core.Unavailable) {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("deleted although nobody knows whether it is over: %v", err)
	}
}
