package store_test

import (
	"context"
	"errors"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/goleak"

	"bellhop/core"
	"bellhop/core/store"
	"bellhop/core/store/pgtest"
	"bellhop/core/store/storetest"
)

func TestMain(m *testing.M) {
	if child := children[os.Getenv("STORE_CHILD")]; child != nil {
		child()
		return
	}
	var err error
	if server, err = pgtest.Start(); err != nil && !errors.Is(err, pgtest.ErrMissing) {
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if server != nil {
			_ = server.Stop()
		}
		os.Exit(code)
	}))
}

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, store.Options{}) })
}

func TestTwoHandles(t *testing.T) {
	storetest.RunPair(t, func(t *testing.T) (core.Store, core.Store) {
		o := store.Options{DSN: filepath.Join(t.TempDir(), "bellhop.db")}
		return open(t, o), open(t, o)
	})
}

func admit(ctx context.Context, s *store.Store, e core.Entry) (core.Admission, error) {
	out, err := s.Admit(ctx, core.Intake{Entries: []core.Entry{e}, Cursor: &core.Cursor{Name: "chat", Value: string(e.Submission.RequestID)}})
	if err != nil {
		return core.Admission{}, err
	}
	return out[0].Admission, out[0].Err
}

func want(t *testing.T, err error, k core.Kind) {
	t.Helper()
	if !core.Is(err, k) {
		t.Fatalf("error %v, want kind %v", err, k)
	}
}

func TestOpenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder", "odd #1?%41.db")
	for i := range 20 {
		s, err := store.Open(t.Context(), store.Options{DSN: path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := admit(t.Context(), s, entry(1, i)); err != nil {
			t.Fatal(err)
		}
		c, err := s.Recount(t.Context())
		if err != nil || c.Queued != int64(i+1) {
			t.Fatal(c, err)
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*-wal")); len(left) != 0 {
		t.Fatal("a clean end leaves a log behind: ", left)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, o := range map[string]store.Options{
		"driver": {Driver: "oracle", DSN: filepath.Join(dir, "x.db")},
		"sync":   {Sync: "off", DSN: filepath.Join(dir, "x.db")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := store.Open(t.Context(), o)
			want(t, err, core.Invalid)
		})
	}
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 999)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(t.Context(), store.Options{DSN: text})
	want(t, err, core.Corrupt)
	_, err = store.Open(t.Context(), store.Options{DSN: dir})
	want(t, err, core.Unavailable)
}

func TestNewerSchema(t *testing.T) {
	for name, options := range map[string]func(testing.TB) store.Options{
		"sqlite":   func(testing.TB) store.Options { return store.Options{DSN: filepath.Join(t.TempDir(), "bellhop.db")} },
		"postgres": postgres,
	} {
		t.Run(name, func(t *testing.T) { newerSchema(t, options(t)) })
	}
}

// A process that runs goes on beside a newer one, which only adds to the schema; it is refused when it starts again.
func newerSchema(t *testing.T, o store.Options) {
	s := open(t, o)
	if err := store.Exec(s, `ALTER TABLE admissions ADD COLUMN later TEXT NOT NULL DEFAULT 'x'`); err != nil {
		t.Fatal(err)
	}
	tn := &turn{s: s, tb: t}
	tn.open(t.Context(), tn.admit(t.Context(), entry(1, 1)), "t")
	tn.settle(t.Context())
	if err := store.Exec(s, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, TRUE)`); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(t.Context(), o)
	want(t, err, core.Newer)
	if !strings.Contains(err.Error(), "newer bellhop") {
		t.Fatal(err)
	}
}

// Each commit is as durable as the strictest of its operations asks.
func TestSync(t *testing.T) {
	const normal, full = 1, 2
	for mode, wanted := range map[string]int64{"full": full, "normal": normal} {
		s := open(t, store.Options{Sync: mode})
		a, err := admit(t.Context(), s, entry(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := store.Ask(s, "PRAGMA synchronous"); n != wanted || err != nil {
			t.Fatalf("%s: an admission committed with synchronous %d %v", mode, n, err)
		}
		if _, err := s.Acquire(t.Context(), a.Conversation, "t", core.Holder{}, time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		if n, err := store.Ask(s, "PRAGMA synchronous"); n != normal || err != nil {
			t.Fatalf("%s: a lease committed with synchronous %d %v", mode, n, err)
		}
	}
}

// A bad operation does not fail those that share its commit.
func TestSharedCommit(t *testing.T) {
	s := open(t, store.Options{})
	tn := &turn{s: s, tb: t}
	c := tn.admit(t.Context(), entry(1, 1))
	tn.open(t.Context(), c, "t")
	inside, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := s.Edit(t.Context(), c, func(*core.Conversation) { close(inside); <-release })
		if err != nil {
			t.Error(err)
		}
	})
	<-inside // the committer is busy: what comes now shares the next commit
	for i := range 20 {
		wg.Go(func() {
			if i%2 == 0 {
				_, err := s.Append(t.Context(), tn.lease.Fence, core.Batch{Messages: []core.Message{{Role: core.RoleAssistant, Content: "bad"}},
					Consume: []core.AdmissionID{"none"}})
				if !core.Is(err, core.NotFound) {
					t.Error(err)
				}
				return
			}
			if _, err := admit(t.Context(), s, entry(2, i)); err != nil {
				t.Error(err)
			}
		})
	}
	close(release)
	wg.Wait()
	census, err := s.Census(t.Context())
	if err != nil || census.Queued != 10 || !census.Balanced() {
		t.Fatalf("%+v %v", census, err)
	}
	ms, err := s.Load(t.Context(), c)
	if err != nil || len(ms) != 1 {
		t.Fatalf("%+v %v", ms, err)
	}
}

// A caller that gives up while another process has the write lock leaves nothing behind.
func TestLockedDatabase(t *testing.T) {
	o := store.Options{DSN: filepath.Join(t.TempDir(), "bellhop.db"), LockWait: 50 * time.Millisecond}
	s := open(t, o)
	foreign := sqlx.MustOpen("sqlite3", o.DSN+"?_txlock=immediate")
	defer foreign.Close()
	tx := foreign.MustBegin()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := admit(ctx, s, entry(1, 1))
	want(t, err, core.Unavailable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	_, err = admit(t.Context(), s, entry(1, 2)) // gives up by itself
	want(t, err, core.Unavailable)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err = admit(t.Context(), s, entry(1, 3)); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Census(t.Context()); err != nil || c.Accepted != 1 {
		t.Fatalf("%+v %v", c, err)
	}
}

// C163: whatever the clocks say, there are never two holders.
func TestClocks(t *testing.T) {
	const ttl = 5 * time.Minute
	path := filepath.Join(t.TempDir(), "bellhop.db")
	ahead := open(t, store.Options{DSN: path, Now: func() time.Time { return time.Now().Add(ttl + time.Second) }})
	back := time.Duration(0)
	s := open(t, store.Options{DSN: path, Now: func() time.Time { return time.Now().Add(-back) }})
	a, err := admit(t.Context(), s, entry(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Acquire(t.Context(), a.Conversation, "t", core.Holder{PID: 1}, ttl, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := ahead.Acquire(t.Context(), a.Conversation, "u", core.Holder{PID: 2}, ttl, nil)
	if err != nil {
		t.Fatal(err)
	}
	want(t, s.Holds(t.Context(), first.Fence), core.Stale)
	if err := ahead.Holds(t.Context(), second.Fence); err != nil {
		t.Fatal(err)
	}
	back = time.Hour // the clock goes back: the lease seems to last for more than an hour
	_, err = s.Acquire(t.Context(), a.Conversation, "v", core.Holder{PID: 3}, ttl, nil)
	want(t, err, core.Busy)
	back -= ttl
	if _, err = s.Acquire(t.Context(), a.Conversation, "v", core.Holder{PID: 3}, ttl, nil); err != nil {
		t.Fatal("nobody should wait longer than the ttl: ", err)
	}
}
