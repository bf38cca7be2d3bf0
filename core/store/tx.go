package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"bellhop/core"
)

// tx is the committer's transaction as one operation sees it. Operations that share a transaction nearly always succeed, and
// a savepoint for each costs a copy of every page that it touches. So they run without at first; when one fails that has
// written, the transaction is undone and all of them run once more, each behind a savepoint that undoes it alone.
type tx struct {
	w       *committer
	now     time.Time // by the store's clock
	shared  bool
	careful bool  // the second time: with savepoints
	spoilt  bool  // an operation failed whose writes cannot be undone alone
	wrote   bool  // the running operation has written
	torn    bool  // a statement failed, and the database takes no other before something is undone
	fault   error // of the database: the whole transaction is lost

	own, all       map[string]int64 // tallies of the running operation, of the transaction
	mine, everyone []growth         // the same of transcripts
}

// panicked carries a panic of an operation to its caller's goroutine.
type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// do runs one operation; on an error its writes are undone.
func (t *tx) do(run func(*tx) error) error {
	t.wrote, t.torn = false, false
	clear(t.own)
	t.mine = t.mine[:0]
	if t.careful && t.w.s.d.tears { // a failed read needs to be undone too
		if err := t.mark(); err != nil {
			return err
		}
	}
	err := guard(t, run)
	if t.fault != nil {
		return t.fault
	}
	undo := t.wrote || t.torn
	switch {
	case err == nil:
		t.keep()
		if t.wrote && t.careful {
			_, t.fault = t.w.exec("RELEASE op")
		}
	case undo && t.careful:
		t.fault = t.steps("ROLLBACK TO op", "RELEASE op")
	case undo && t.shared:
		t.spoilt = true
	case undo:
		t.fault = t.steps("ROLLBACK", t.w.s.d.begin)
	}
	return err
}

func (t *tx) steps(qs ...string) error {
	for _, q := range qs {
		if _, err := t.w.exec(q); err != nil {
			return err
		}
	}
	return nil
}

func guard(t *tx, run func(*tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{value: fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	return run(t)
}

// count changes a counter of the conservation invariant, together with the operation.
func (t *tx) count(name string, n int64) {
	if t.own == nil {
		t.own = map[string]int64{}
	}
	t.own[name] += n
}

// grew notes a change of a transcript, for when the transaction is committed.
func (t *tx) grew(g growth) { t.mine = append(t.mine, g) }

func (t *tx) keep() {
	t.everyone = append(t.everyone, t.mine...)
	for name, n := range t.own {
		if t.all == nil {
			t.all = map[string]int64{}
		}
		t.all[name] += n
	}
}

// flush writes the transaction's counters, one statement each however many operations it had.
func (t *tx) flush() {
	for name, n := range t.all {
		if t.fault == nil && n != 0 {
			_, t.fault = t.w.exec(`INSERT INTO tally (name, n) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET n = tally.n + excluded.n`, name+t.w.s.d.shard, n)
		}
	}
}

// mark comes before every write: it sets the savepoint of an operation that is to be undone alone.
func (t *tx) mark() error {
	if t.fault != nil || t.wrote {
		return t.fault
	}
	if t.careful {
		if _, err := t.w.exec("SAVEPOINT op"); err != nil {
			return t.note(err)
		}
	}
	t.wrote = true
	return nil
}

// note keeps an error that is the database's own.
func (t *tx) note(err error) error {
	if err == nil {
		return nil
	}
	switch t.w.s.d.classify(err) {
	case core.NoSpace, core.Corrupt, core.Unavailable, core.Busy:
		t.fault = err
	}
	t.torn = t.torn || t.w.s.d.tears
	return err
}

// hold makes other handles of the database that want to change the conversation, or that of the admission, wait for this
// transaction. An operation that knew its conversation beforehand has it already.
func (t *tx) hold(c core.ConversationID, id core.AdmissionID) error {
	if t.w.s.d.hold == "" {
		return nil
	}
	var n int
	_, err := t.row(t.w.s.d.hold, c, id).scan(&n)
	return err
}

// exec writes and returns how many rows it touched.
func (t *tx) exec(q string, args ...any) (int64, error) {
	if err := t.mark(); err != nil {
		return 0, err
	}
	res, err := t.w.exec(q, args...)
	if err != nil {
		return 0, t.note(err)
	}
	return res.RowsAffected()
}

// put writes and returns the row of its RETURNING clause.
func (t *tx) put(q string, args ...any) row {
	if err := t.mark(); err != nil {
		return row{err: err}
	}
	return t.row(q, args...)
}

// row reads one row.
func (t *tx) row(q string, args ...any) row {
	st, err := t.w.stmt(q)
	if err != nil {
		return row{err: t.note(err)}
	}
	return row{r: st.QueryRowContext(t.w.ctx, t.w.s.d.args(args)...), note: t.note}
}

// rows reads many.
func (t *tx) rows(q string, args ...any) (*sql.Rows, error) {
	st, err := t.w.stmt(q)
	if err != nil {
		return nil, t.note(err)
	}
	rows, err := st.QueryContext(t.w.ctx, t.w.s.d.args(args)...)
	return rows, t.note(err)
}

// querier reads: inside a transaction, or from the pool of readers.
type querier interface {
	row(q string, args ...any) row
	rows(q string, args ...any) (*sql.Rows, error)
	note(err error) error // sees every error of the driver
}

// reading reads committed rows on a reader's connection.
type reading struct {
	s   *Store
	ctx context.Context
	op  string
}

// read returns a querier for one call. Reads here are short, and the driver is twice as fast when it need not watch a
// context, so they run to their end.
func (s *Store) read(ctx context.Context, op string) reading {
	return reading{s: s, ctx: context.WithoutCancel(ctx), op: op}
}

func (r reading) row(q string, args ...any) row {
	st, err := r.stmt(q)
	if err != nil {
		return row{err: r.note(err)}
	}
	var got *sql.Row
	r.again(func() error {
		got = st.QueryRowContext(r.ctx, r.s.d.args(args)...)
		return got.Err()
	})
	return row{r: got, note: r.note}
}

// again asks once more when the connection was an old one whose server has been restarted since: there may be as many of
// them as the pool is wide.
func (r reading) again(ask func() error) {
	for range r.s.d.stale + 1 {
		if err := ask(); err == nil || r.s.d.classify(err) != core.Unavailable {
			return
		}
	}
}

// now is the time by the store's clock.
func (r reading) now() (time.Time, error) {
	if !r.s.asksTime() {
		return r.s.now(), nil
	}
	var v int64
	_, err := r.row(r.s.d.clock).scan(&v)
	return at(v), err
}

func (r reading) rows(q string, args ...any) (*sql.Rows, error) {
	st, err := r.stmt(q)
	if err != nil {
		return nil, r.note(err)
	}
	var rows *sql.Rows
	r.again(func() error {
		rows, err = st.QueryContext(r.ctx, r.s.d.args(args)...)
		return err
	})
	return rows, r.note(err)
}

func (r reading) note(err error) error {
	if err == nil {
		return nil
	}
	err = r.s.fail(r.op, err)
	r.s.w.note(err)
	return err
}

// unlocked takes the words for rows that are going to change out of a query that only reads.
var unlocked = strings.NewReplacer("{lock}", "", "{skip}", "")

func (r reading) stmt(q string) (*sql.Stmt, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.stmts[q]; st != nil {
		return st.Stmt, nil
	}
	st, err := s.reader.PreparexContext(r.ctx, s.d.sql(unlocked.Replace(q)))
	if err != nil {
		return nil, err
	}
	s.stmts[q] = st
	return st.Stmt, nil
}

// row is the result of a query for at most one row.
type row struct {
	r    *sql.Row
	err  error
	note func(error) error
}

// scan reads the row; found is false when there is none.
func (r row) scan(dest ...any) (found bool, err error) {
	if r.err != nil {
		return false, r.err
	}
	err = r.r.Scan(dest...)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	}
	return false, r.note(err)
}

// scanner is a row that can be scanned: *sql.Rows, or row through its Scan.
type scanner interface{ Scan(dest ...any) error }

// all collects the rows of a query.
func all[T any](c querier, scan func(scanner) (T, error), q string, args ...any) ([]T, error) {
	rows, err := c.rows(q, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, c.note(rows.Err())
}

// one reads the only row of a query.
func one[T any](c querier, scan func(scanner) (T, error), q string, args ...any) (v T, found bool, err error) {
	rows, err := all(c, scan, q, args...)
	if err != nil || len(rows) == 0 {
		return v, false, err
	}
	return rows[0], true, nil
}
