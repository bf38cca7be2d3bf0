package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"bellhop/core"
	"bellhop/core/store"
)

// C177: a full disk refuses, and the store recovers by itself when there is space again.
func TestFullDisk(t *testing.T) {
	s := open(t, store.Options{})
	tn := &turn{s: s, tb: t}
	c := tn.admit(t.Context(), entry(1, 1))
	tn.open(t.Context(), c, "t")
	pages, err := store.Ask(s, "PRAGMA page_count")
	if err != nil {
		t.Fatal(err)
	}
	limit := func(n int64) {
		t.Helper()
		if got, err := store.Ask(s, fmt.Sprint("PRAGMA max_page_count = ", n)); err != nil || got != n {
			t.Fatal(got, err)
		}
	}
	limit(pages)
	big := entry(1, 2)
	big.Submission.Text = string(bytes.Repeat([]byte("x"), 1<<20))
	_, err = admit(t.Context(), s, big)
	want(t, err, core.NoSpace)
	if v, err := s.Cursor(t.Context(), "chat"); v != "1" || err != nil {
		t.Fatalf("the cursor moved to %q %v", v, err)
	}
	_, err = s.Append(t.Context(), tn.lease.Fence, core.Batch{Sync: true,
		Messages: []core.Message{{Role: core.RoleAssistant, Content: big.Submission.Text}},
		Calls:    []core.Call{{ID: "c", Admission: tn.claim.Admission.ID, State: core.CallStarted}}})
	want(t, err, core.NoSpace)
	if calls, err := s.Calls(t.Context(), tn.claim.Admission.ID); len(calls) != 0 || err != nil {
		t.Fatal("a call is on record that was refused: ", calls, err)
	}
	limit(1 << 30)
	if _, err = admit(t.Context(), s, big); err != nil {
		t.Fatal(err)
	}
	tn.settle(t.Context())
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// C178: the first sign of damage ends all writing, and nothing touches the files any more.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bellhop.db")
	s, err := store.Open(t.Context(), store.Options{DSN: path})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if _, err := admit(t.Context(), s, entry(i, i)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := store.Ask(s, `SELECT rootpage FROM sqlite_master WHERE name = 'requests'`)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, path, root)

	s, err = store.Open(t.Context(), store.Options{DSN: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetFact(t.Context(), "a", "b"); err != nil { // the log has something that a checkpoint would move
		t.Fatal(err)
	}
	_, err = admit(t.Context(), s, entry(1, 999))
	want(t, err, core.Corrupt)
	want(t, s.SetFact(t.Context(), "a", "c"), core.Corrupt)
	want(t, s.Check(t.Context()), core.Corrupt)
	before, log := read(t, path), read(t, path+"-wal")
	if len(log) == 0 {
		t.Fatal("there is no log")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, read(t, path)) || !bytes.Equal(log, read(t, path+"-wal")) {
		t.Fatal("closing changed the files")
	}
}

// damage fills a page with rubbish.
func damage(t *testing.T, path string, page int64) {
	t.Helper()
	const size = 4096
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xab}, size), (page-1)*size); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
