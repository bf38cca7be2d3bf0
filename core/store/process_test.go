package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"bellhop/core"
	"bellhop/core/store"
)

// children are what this test binary does when it is started again as another process. Their output is one word a line.
var children = map[string]func(){"writer": childWriter, "inserter": childInserter, "locker": childLocker}

// child starts this binary as another process.
func child(t *testing.T, name, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_CHILD="+name, "STORE_PATH="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // stays open as long as we live
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

func childStore() *store.Store {
	s, err := store.Open(context.Background(), store.Options{DSN: os.Getenv("STORE_PATH")})
	if err != nil {
		panic(err)
	}
	return s
}

// childWriter runs turns as fast as it can, until it is killed, and names each row that was acknowledged: a for an
// admission, s for a settled one.
func childWriter() {
	s := childStore()
	var wg sync.WaitGroup
	for chat := range 4 {
		wg.Go(func() {
			ctx := context.Background()
			for n := 0; ; n++ {
				a, err := admit(ctx, s, entry(chat, os.Getpid()*1000+n))
				if err != nil {
					panic(err)
				}
				fmt.Println("a", a.ID)
				l, err := s.Acquire(ctx, a.Conversation, "t", core.Holder{PID: os.Getpid()}, time.Minute, func(h core.Holder) bool { return h.PID == os.Getpid() })
				if err != nil {
					panic(err)
				}
				c, err := s.ClaimNext(ctx, l.Fence, nil)
				if core.Is(err, core.Busy) { // left behind by the process before
					if err := s.Release(ctx, l.Fence); err != nil {
						panic(err)
					}
					continue
				}
				if err != nil {
					panic(err)
				}
				_, err = s.Settle(ctx, l.Fence, c.Admission.ID, core.Settlement{Outcome: core.Outcome{Result: core.Completed},
					Tail: []core.Message{{Role: core.RoleAssistant, Content: "done", Admission: c.Admission.ID}}})
				if err != nil {
					panic(err)
				}
				fmt.Println("s", c.Admission.ID)
			}
		})
	}
	wg.Wait()
}

// What was acknowledged survives SIGKILL, whenever it comes.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bellhop.db")
	acked := map[string]core.Status{}
	for round := range 4 {
		cmd, out := child(t, "writer", path)
		for n := 0; out.Scan(); n++ {
			what, id, ok := strings.Cut(out.Text(), " ")
			if !ok || len(id) != 26 {
				continue // cut off by the kill
			}
			acked[id] = core.Terminal
			if what == "a" {
				acked[id] = core.Queued
			}
			if n == 150+37*round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()
		check(t, path, acked)
	}
}

func check(t *testing.T, path string, acked map[string]core.Status) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for id, status := range acked {
		a, err := s.Admission(t.Context(), core.AdmissionID(id))
		if err != nil {
			t.Fatal(err)
		}
		if status != core.Terminal {
			continue
		}
		said, err := s.Said(t.Context(), a.ID)
		if err != nil || a.Status != core.Terminal || len(said) != 1 {
			t.Fatalf("%s is %s with %d messages: %v", id, a.Status, len(said), err)
		}
	}
	census, err := s.Census(t.Context())
	if err != nil || !census.Balanced() || census.Accepted < int64(len(acked)) {
		t.Fatalf("%+v, %d acknowledged: %v", census, len(acked), err)
	}
	if again, err := s.Recount(t.Context()); err != nil || again.Terminal != census.Terminal || again.Accepted != census.Accepted {
		t.Fatalf("counters say %+v, rows say %+v: %v", census, again, err)
	}
	db := sqlx.MustOpen("sqlite3", path)
	defer db.Close()
	var verdict string
	if err := db.Get(&verdict, "PRAGMA integrity_check"); err != nil || verdict != "ok" {
		t.Fatal(verdict, err)
	}
}

// childInserter admits rows and prints how long each took.
func childInserter() {
	s := childStore()
	for n := range 40 {
		start := time.Now()
		if _, err := admit(context.Background(), s, entry(os.Getpid(), n)); err != nil {
			panic(err)
		}
		fmt.Println(time.Since(start))
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
}

// C166: seven processes and a long reader on one database. The machine may be busy with something else, so that the time of
// one round says little; a convoy of writers that back off in step is slow in each.
func TestManyProcesses(t *testing.T) {
	var best time.Duration
	for range 3 {
		p99 := manyProcesses(t)
		if p99 <= time.Second {
			return
		}
		if best == 0 || p99 < best {
			best = p99
		}
	}
	t.Errorf("p99 of an insert is %v at best", best)
}

// manyProcesses is one round; it returns the time within which 99 of 100 inserts were done.
func manyProcesses(t *testing.T) time.Duration {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bellhop.db")
	s := open(t, store.Options{DSN: path})
	reader := sqlx.MustOpen("sqlite3", path)
	defer reader.Close()
	long := reader.MustBegin()
	var n int
	if err := long.Get(&n, `SELECT COUNT(*) FROM admissions`); err != nil {
		t.Fatal(err)
	}
	var outs []*bufio.Scanner
	for range 7 {
		_, out := child(t, "inserter", path)
		outs = append(outs, out)
	}
	var took []time.Duration
	for _, out := range outs {
		for out.Scan() {
			d, err := time.ParseDuration(out.Text())
			if err != nil {
				t.Fatal(err)
			}
			took = append(took, d)
		}
	}
	if err := long.Rollback(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(took)
	if len(took) != 280 {
		t.Fatalf("%d rows acknowledged", len(took))
	}
	if c, err := s.Census(t.Context()); err != nil || c.Queued != 280 {
		t.Fatalf("%+v %v", c, err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() > 64<<20 {
		t.Fatal(info.Size(), err)
	}
	return took[len(took)*99/100]
}

func childLocker() {
	l, err := store.LockFolder(os.Getenv("STORE_PATH"))
	if err != nil {
		panic(err)
	}
	defer l.Close()
	fmt.Println("locked")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

// C184: the lock is of a live process, not of a file.
func TestLockFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cmd, out := child(t, "locker", dir)
	if !out.Scan() || out.Text() != "locked" {
		t.Fatal("the other process did not get the lock")
	}
	_, err := store.LockFolder(dir)
	want(t, err, core.Locked)
	if !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
		t.Fatalf("%v does not name process %d", err, cmd.Process.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	l, err := store.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.LockFolder(dir) // a second one in the same process
	want(t, err, core.Locked)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = store.LockFolder(dir); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
