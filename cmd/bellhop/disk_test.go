package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"bellhop/core/provider/providertest"
)

// smallDisk puts the data folder on a file system of its own.
func (r *rig) smallDisk(size string) string {
	r.t.Helper()
	data := filepath.Join(r.dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size="+size); err != nil {
		r.t.Skipf("a small file system cannot be mounted here (%v): the full disk is tested on the store alone", err)
	}
	r.t.Cleanup(func() {
		if err := syscall.Unmount(data, syscall.MNT_DETACH); err != nil {
			r.t.Error(err)
		}
	})
	return data
}

// fill takes all space that is left; the returned function gives it back.
func fill(t *testing.T, dir string) func() {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// C177: (a) what cannot be stored is not acknowledged, and comes when there is space again; nobody restarts anything.
func TestFullDiskRefusesInput(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	data := r.smallDisk("6m")
	g := r.start()
	r.chat.Say(r.owner, "ping")
	r.until("an answer", func() bool { return r.says("PONG") == 1 })
	free := fill(t, data)
	full := strings.Repeat("word ", 800)
	for range 60 { // the log may have room for some
		r.chat.Say(r.owner, "ping "+full)
	}
	const shown = `bellhop_problems{id="store"} 1`
	r.until("the owner can see it, and the platform keeps the message", func() bool {
		return r.tg.Waiting() > 0 && strings.Contains(g.get("metrics"), shown) && strings.Contains(g.get("readyz"), "store")
	})
	free()
	r.until("everything is taken", func() bool { return r.tg.Waiting() == 0 })
	r.until("what was stored is answered", func() bool { return strings.Contains(r.must("verify"), "queued 0 + started 0 + unknown 0") })
	before := r.says("PONG")
	r.chat.Say(r.owner, "ping last")
	r.until("it goes on", func() bool { return r.says("PONG") > before })
	r.until("the problem is over", func() bool { return !strings.Contains(g.get("metrics"), shown) })
	g.stop()
	if out := r.must("verify"); !strings.Contains(out, "ok") {
		t.Errorf("verify: %s", out)
	}
}

// C177: (b) a call that cannot be recorded is not run, and the person is told.
func TestFullDiskStopsBeforeTheEffect(t *testing.T) {
	t.Parallel()
	var release func()
	asked := make(chan struct{})
	filled := make(chan struct{})
	effect := filepath.Join(t.TempDir(), "effect")
	r := newRig(t, func(q *providertest.Request) providertest.Reply {
		switch {
		case strings.Contains(q.Last(), "ping"):
			return providertest.Reply{providertest.Text("PONG")}
		case len(q.Results()) > 0:
			return providertest.Reply{providertest.Text("END")}
		}
		close(asked)
		return providertest.Reply{providertest.Until(filled),
			providertest.Call("call_1", "shell", fmt.Sprintf(`{"command":"echo x >> %s # %s"}`, effect, strings.Repeat("y", 300_000)))}
	})
	data := r.smallDisk("6m")
	r.reconfigure("access: {", "approvals: {mode: off}\naccess: {")
	g := r.start()
	r.chat.Say(r.owner, "work")
	<-asked
	release = fill(t, data)
	close(filled)
	r.until("the turn has failed", func() bool { return strings.Contains(g.log.String(), "full") })
	if _, err := os.Stat(effect); err == nil {
		t.Error("the tool ran although its call could not be recorded")
	}
	release()
	r.until("the person is told", func() bool { return r.says("disk full") > 0 })
	r.chat.Say(r.owner, "ping")
	r.until("it goes on", func() bool { return r.says("PONG") > 0 })
	g.stop()
	if out := r.must("verify"); !strings.Contains(out, "ok") {
		t.Errorf("verify: %s", out)
	}
}

// TestLockedDatabase: another program holds the write lock; what comes meanwhile waits and is answered.
func TestLockedDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	g := r.start()
	r.chat.Say(r.owner, "ping 1")
	r.until("an answer", func() bool { return r.says("PONG") == 1 })
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(r.dir, "data", databaseFile)+"?_txlock=immediate&_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		r.chat.Say(r.owner, fmt.Sprint("ping ", i+2))
	}
	r.until("the first of them is handed over", func() bool { return r.tg.Delivered(1002) > 0 }) // the others wait behind it
	if n := r.says("PONG"); n != 1 {
		t.Errorf("%d answers while nothing could be stored", n)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	r.until("all are answered", func() bool {
		return strings.Contains(r.must("verify"), "accepted 6 = terminal 6") && r.says("PONG") == 6
	})
	g.stop()
	if out := r.must("verify"); !strings.Contains(out, "accepted 6 = terminal 6") {
		t.Errorf("verify: %s", out)
	}
}

// TestNewerDatabase: a database of a newer program is left alone.
func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t, pong)
	r.start().stop()
	db, err := sql.Open("sqlite3", filepath.Join(r.dir, "data", databaseFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r.refused(t, "newer")
}
