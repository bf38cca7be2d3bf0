package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"bellhop/core"
)

const (
	// mostTries is how often a batch is run that another handle's transactions are in the way of.
	mostTries = 8
	// The longest pauses between two looks at a lock, and at a server that cannot be reached.
	lockPause, reconnectPause = 32 * time.Millisecond, 250 * time.Millisecond
)

// commit runs a batch that begins with j. What another handle of the database stands in the way of is tried again.
func (w *committer) commit(j *job) {
	w.batch = append(w.batch[:0], j)
	err := w.broken()
	if err == nil {
		err = w.begin(w.gather, w.awaited)
	}
	if err == nil {
		w.take()
		err = w.carryOut()
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

// carryOut applies the batch, in a transaction that has begun.
func (w *committer) carryOut() error {
	for n := 0; ; n++ {
		w.undone = false
		err := w.apply()
		if err == nil || w.s.d.classify(err) != core.Busy && !w.undone || n == mostTries {
			return err
		}
		if err := w.begin(func() {}, func() bool { return true }); err != nil { // what was taken is not given up
			return err
		}
	}
}

// begin opens the transaction, waiting for another process's lock, or for a database that cannot be reached, with a growing,
// uneven pause. It gathers what queues meanwhile and gives up when nobody is awaited any more.
func (w *committer) begin(gather func(), awaited func() bool) error {
	deadline, pause := time.Now().Add(w.wait), pauses(lockPause)
	for {
		gather()
		err := w.open()
		if err == nil {
			return nil
		}
		if w.lost(err); w.s.d.classify(err) != core.Busy && !w.gone || time.Now().After(deadline) || !awaited() {
			err = w.s.fail("begin", err)
			w.note(err)
			return err
		}
		time.Sleep(pause.NextBackOff())
	}
}

// pauses grow from a millisecond to the longest, unevenly.
func pauses(longest time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: time.Millisecond, Multiplier: 2, MaxInterval: longest, RandomizationFactor: 0.5}
}

// open is one try to begin.
func (w *committer) open() error {
	err := w.reconnect()
	if err == nil {
		err = w.settings()
	}
	if err == nil {
		_, err = w.exec(w.s.d.begin)
	}
	if err == nil {
		err = w.ready()
	}
	return err
}

// ready makes a transaction that has just begun ready for the batch: its time, its name, and the conversations that it is
// known to change, which other handles now wait for.
func (w *committer) ready() error {
	d := w.s.d
	w.now = w.s.now()
	if d.mark == "" {
		return nil
	}
	var now int64
	if err := w.ask(d.mark, []any{&now, &w.name}); err != nil {
		return err
	}
	if w.s.asksTime() {
		w.now = at(now)
	}
	var places []string
	for _, j := range w.batch {
		places = append(places, j.places...)
	}
	if len(places) == 0 {
		return nil
	}
	_, err := w.exec(d.holds, places, places)
	return err
}

// ask reads one row outside of any operation.
func (w *committer) ask(q string, dest []any, args ...any) error {
	st, err := w.stmt(q)
	if err != nil {
		return err
	}
	return st.QueryRowContext(w.ctx, args...).Scan(dest...)
}

// lost looks at an error of the connection. What the store remembers may not be what is stored, if the server has died.
func (w *committer) lost(err error) {
	if err != nil && w.s.d.alive != nil && !w.gone && !w.s.d.alive(w.conn) {
		w.gone = true
		w.s.memory.clear()
	}
}

// reconnect replaces a connection that was lost.
func (w *committer) reconnect() error {
	if !w.gone {
		return nil
	}
	for _, st := range w.stmts {
		_ = st.Close() // of a connection that is no more
	}
	clear(w.stmts)
	_ = w.conn.Close()
	conn, err := w.s.connect(w.ctx)
	if err == nil {
		w.conn, w.gone, w.setting = conn, false, w.s.d.synced
	}
	return err
}

// fate finds out what became of a commit whose answer was lost with the connection; undone tells that it did not happen.
func (w *committer) fate(fault error) error {
	deadline, pause := time.Now().Add(w.wait), pauses(reconnectPause)
	for w.name != "" {
		var fate string
		err := w.reconnect()
		if err == nil {
			err = w.ask(w.s.d.fate, []any{&fate}, w.name)
			w.lost(err)
		}
		switch {
		case fate == "committed":
			return nil
		case err == nil && fate != "in progress":
			w.undone = true
			return fault
		case time.Now().After(deadline):
			return fault
		}
		time.Sleep(pause.NextBackOff())
	}
	return fault
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
	q := w.s.d.unsynced
	if full {
		q = w.s.d.synced
	}
	if q == w.setting {
		return nil
	}
	_, err := w.conn.ExecContext(w.ctx, q) // not prepared: SQLite acts on it while compiling
	if err == nil {
		w.setting = q
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
	t := &tx{w: w, now: w.now, shared: len(w.batch) > 1}
	if w.pass(t); t.spoilt {
		t = &tx{w: w, now: w.now, shared: true, careful: true}
		if t.fault = t.steps("ROLLBACK", w.s.d.begin); t.fault == nil {
			t.fault = w.ready()
		}
		if t.fault == nil {
			w.pass(t)
		}
	}
	if t.fault == nil {
		t.flush()
	}
	committing := t.fault == nil
	if committing {
		if _, t.fault = w.exec("COMMIT"); t.fault != nil {
			if w.lost(t.fault); w.gone {
				t.fault = w.fate(t.fault)
			}
		}
	}
	if t.fault == nil {
		for _, g := range t.everyone {
			w.s.memory.grow(g)
		}
		return nil
	}
	if !committing {
		w.lost(t.fault)
		w.undone = w.gone
	}
	if !w.gone {
		_, _ = w.exec("ROLLBACK") // may be over already: some faults end the transaction themselves
	}
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
	return st.ExecContext(w.ctx, w.s.d.args(args)...)
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
