package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"bellhop/core"
)

const (
	batchMax = 128              // operations in one commit
	idleRest = time.Second      // without work before housekeeping
	lockWait = 30 * time.Second // for another process's write lock
)

// durability says how much an operation's commit must survive.
type durability bool

const (
	unsynced durability = false // a crash of the process; the next synced commit makes it survive power loss too
	synced   durability = true  // power loss
)

// job is one operation on its way to the committer. Its caller may give it up until the committer takes it.
type job struct {
	ctx   context.Context
	sync  durability
	run   func(*tx) error
	taken atomic.Bool // by the committer, or given up by the caller
	err   error
	done  chan error
}

// committer owns the one writing connection. It takes what has queued, runs it in one transaction and answers after the
// commit.
type committer struct {
	s     *Store
	ctx   context.Context
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	wait  time.Duration

	mu     sync.RWMutex // guards closed against senders
	closed bool
	queue  chan *job
	end    chan struct{}
	fault  atomic.Pointer[core.Error] // the database is damaged: nothing is written any more

	batch []*job
	full  bool // the connection commits synced
}

func newCommitter(ctx context.Context, s *Store, wait time.Duration) (*committer, error) {
	conn, err := s.writer.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range append(s.d.setup, s.d.synced) {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	if wait <= 0 {
		wait = lockWait
	}
	return &committer{s: s, ctx: ctx, conn: conn, stmts: map[string]*sql.Stmt{}, wait: wait, full: true,
		queue: make(chan *job, batchMax), end: make(chan struct{}), batch: make([]*job, 0, batchMax)}, nil
}

// write runs fn in a transaction and returns after its commit. fn runs on the committer's goroutine, perhaps together
// with others in one commit; its error undoes fn alone. A caller whose ctx ends before fn began gives it up.
func (s *Store) write(ctx context.Context, op string, d durability, fn func(*tx) error) error {
	err := s.w.do(&job{ctx: ctx, sync: d, run: fn, done: make(chan error, 1)})
	var p *panicked
	if errors.As(err, &p) {
		panic(p.value)
	}
	return s.fail(op, err)
}

func (w *committer) do(j *job) error {
	if err := w.send(j); err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-j.ctx.Done():
		if j.taken.CompareAndSwap(false, true) {
			return j.ctx.Err()
		}
		return <-j.done
	}
}

func (w *committer) send(j *job) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return core.Errorf("write", core.Unavailable, "the store is closed")
	}
	if err := w.broken(); err != nil {
		return err
	}
	select {
	case w.queue <- j:
		return nil
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
}

// broken returns the error that ended all writing, or nil.
func (w *committer) broken() error {
	if e := w.fault.Load(); e != nil {
		return e
	}
	return nil
}

// stop refuses new jobs, waits for the accepted ones and frees the connection.
func (w *committer) stop() error {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	<-w.end
	var err error
	for _, st := range w.stmts {
		err = errors.Join(err, st.Close())
	}
	if w.broken() == nil && w.s.d.goodbye != "" {
		w.housekeep(w.s.d.goodbye)
	}
	return errors.Join(err, w.conn.Close())
}

// run is the committer's goroutine.
func (w *committer) run() {
	defer close(w.end)
	rest := time.NewTimer(idleRest)
	defer rest.Stop()
	rest.Stop() // nothing was written yet
	for {
		select {
		case j, ok := <-w.queue:
			if !ok {
				return
			}
			w.commit(j)
			rest.Reset(idleRest)
		case <-rest.C:
			if w.broken() == nil && w.s.d.rest != "" {
				w.housekeep(w.s.d.rest)
			}
		}
	}
}

func (w *committer) housekeep(q string) {
	if _, err := w.conn.ExecContext(w.ctx, q); err != nil {
		w.note(w.s.fail("housekeeping", err))
		w.s.log.Warn("housekeeping of the store failed", "err", err)
	}
}

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
	for _, j := range w.batch {
		if j.err = t.do(j.run); t.fault != nil {
			break
		}
	}
	if t.fault == nil {
		t.flush()
	}
	if t.fault == nil {
		_, t.fault = w.exec("COMMIT")
	}
	if t.fault == nil {
		return nil
	}
	_, _ = w.exec("ROLLBACK") // may be over already: some faults end the transaction themselves
	err := w.s.fail("commit", t.fault)
	w.note(err)
	return err
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
