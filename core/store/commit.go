package store

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"bellhop/core"
)

// commit runs a batch that begins with j.
func (w *committer) commit(j *job) {
	w.batch = append(w.batch[:0], j)
	err := w.broken()
	if err == nil {
		err = w.begin()
	}
	if err == nil {
		w.take()
		err = w.apply()
	}
	for _, j := range w.batch {
		if err != nil {
			j.err = err
		}
		j.done <- j.err // buffered: nobody may be there any more
	}
	clear(w.batch[:cap(w.batch)])
	w.rest.Reset(idleRest)
}

// begin opens the transaction, waiting for another process's lock with a growing, uneven pause. It gathers what queues
// meanwhile and gives up when nobody waits any more.
func (w *committer) begin() error {
	deadline := time.Now().Add(w.wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 32*time.Millisecond) {
		w.gather()
		err := w.settings()
		if err == nil {
			_, err = w.exec(w.s.d.begin)
		}
		if err == nil {
			return nil
		}
		if w.s.d.classify(err) != core.Busy || time.Now().After(deadline) || !w.awaited() {
			err = w.s.fail("begin", err)
			w.note(err)
			return err
		}
		time.Sleep(pause/2 + rand.N(pause))
	}
}

// gather adds what has queued, without waiting.
func (w *committer) gather() {
	for len(w.batch) < batchMax {
		select {
		case j, ok := <-w.queue:
			if !ok {
				return
			}
			w.batch = append(w.batch, j)
		default:
			return
		}
	}
}

// settings makes the coming commit as durable as the strictest of its operations asks.
func (w *committer) settings() error {
	full := false
	for _, j := range w.batch {
		full = full || bool(j.sync)
	}
	if full == w.full {
		return nil
	}
	q := w.s.d.unsynced
	if full {
		q = w.s.d.synced
	}
	_, err := w.conn.ExecContext(w.ctx, q) // not prepared: SQLite acts on it while compiling
	if err == nil {
		w.full = full
	}
	return err
}

func (w *committer) awaited() bool {
	for _, j := range w.batch {
		if !j.taken.Load() && j.ctx.Err() == nil {
			return true
		}
	}
	return false
}

// take drops the jobs that were given up; the others can be given up no more.
func (w *committer) take() {
	kept := w.batch[:0]
	for _, j := range w.batch {
		if j.taken.CompareAndSwap(false, true) {
			kept = append(kept, j)
		}
	}
	w.batch = kept
}

// apply runs the batch and commits. An error is of the whole batch: nothing of it was stored.
func (w *committer) apply() error {
	t := &tx{w: w, shared: len(w.batch) > 1}
	if w.pass(t); t.spoilt {
		t = &tx{w: w, shared: true, careful: true}
		if t.fault = t.steps("ROLLBACK", w.s.d.begin); t.fault == nil {
			w.pass(t)
		}
	}
	if t.fault == nil {
		t.flush()
	}
	if t.fault == nil {
		_, t.fault = w.exec("COMMIT")
	}
	if t.fault == nil {
		for _, g := range t.everyone {
			w.s.memory.grow(g)
		}
		return nil
	}
	_, _ = w.exec("ROLLBACK") // may be over already: some faults end the transaction themselves
	err := w.s.fail("commit", t.fault)
	w.note(err)
	return err
}

// pass runs the operations of the batch, until one ends the transaction.
func (w *committer) pass(t *tx) {
	for _, j := range w.batch {
		if j.err = t.do(j.run); t.fault != nil || t.spoilt {
			return
		}
	}
}

// note remembers a damaged database: from here on nothing is written and nothing is checkpointed.
func (w *committer) note(err error) {
	var e *core.Error
	if errors.As(err, &e) && e.Kind == core.Corrupt && w.fault.CompareAndSwap(nil, e) {
		w.s.log.Error("the database is damaged: nothing is written any more, its files are kept", "err", err)
	}
}

// exec runs a statement that was prepared on its first use.
func (w *committer) exec(q string, args ...any) (sql.Result, error) {
	st, err := w.stmt(q)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(w.ctx, args...)
}

func (w *committer) stmt(q string) (*sql.Stmt, error) {
	if st := w.stmts[q]; st != nil {
		return st, nil
	}
	st, err := w.conn.PrepareContext(w.ctx, w.s.d.sql(q))
	if err != nil {
		return nil, err
	}
	w.stmts[q] = st
	return st, nil
}
