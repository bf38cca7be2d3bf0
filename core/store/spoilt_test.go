package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Between the two passes of a spoilt batch another process may get the lock; those who share the batch with the one that
// spoilt it wait for it then, and are not hurt.
func TestSpoiltBatchBesideAnotherProcess(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "bellhop.db")
	s, err := Open(t.Context(), Options{DSN: dsn, Sync: "normal"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other, err := sql.Open("sqlite3", "file:"+dsn+"?_busy_timeout=0&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ctx, stop := context.WithCancel(t.Context())
	var locker sync.WaitGroup
	locker.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			tx, err := other.Begin()
			if err != nil {
				continue
			}
			<-tick.C
			_ = tx.Rollback() // it wrote nothing
			<-tick.C
		}
	})
	write := func(fail error) error {
		return s.write(t.Context(), "write", unsynced, func(t *tx) error {
			if _, err := t.exec(`INSERT INTO probe (id, at) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET at = 2`); err != nil {
				return err
			}
			return fail
		})
	}
	mine := errors.New("mine alone")
	for range 100 {
		s.w.turn <- struct{}{} // so that both queue
		var batch sync.WaitGroup
		batch.Go(func() {
			if err := write(mine); !errors.Is(err, mine) {
				t.Error("the one that spoilt it:", err)
			}
		})
		batch.Go(func() {
			if err := write(nil); err != nil {
				t.Error("one that did nothing wrong:", err)
			}
		})
		<-s.w.turn
		batch.Wait()
	}
	stop()
	locker.Wait()
}
