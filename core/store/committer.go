package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
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
	ctx    context.Context
	sync   durability
	run    func(*tx) error
	places []string    // the conversations that it changes, by id or key, as far as they are known
	taken  atomic.Bool // by the committer, or given up by the caller
	err    error
	done   chan error
}

// committer owns the one writing connection. Whoever has the turn takes what has queued, runs it in one transaction and
// answers after the commit: a caller that finds nobody at it, which saves two changes of goroutine, else the committer's own
// goroutine.
type committer struct {
	s    *Store
	ctx  context.Context
	wait time.Duration
	rest *time.Timer // without work before housekeeping

	turn    chan struct{} // holds one value while somebody commits; guards what follows
	conn    *sql.Conn
	stmts   map[string]*sql.Stmt
	batch   []*job
	setting string    // how durable the connection commits, as it was told
	now     time.Time // of the transaction, by the store's clock
	name    string    // of the transaction, where its fate can be asked for
	gone    bool      // the connection was lost
	undone  bool      // by the loss of the connection: the transaction certainly did not happen

	mu     sync.RWMutex // guards closed against senders
	closed bool
	queue  chan *job
	end    chan struct{}
	fault  atomic.Pointer[core.Error] // the database is damaged: nothing is written any more
}

func newCommitter(ctx context.Context, s *Store, wait time.Duration) (*committer, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if wait <= 0 {
		wait = lockWait
	}
	rest := time.NewTimer(idleRest)
	rest.Stop() // nothing was written yet
	return &committer{s: s, ctx: ctx, conn: conn, stmts: map[string]*sql.Stmt{}, wait: wait, setting: s.d.synced, rest: rest, turn: make(chan struct{}, 1),
		queue: make(chan *job, batchMax), end: make(chan struct{}), batch: make([]*job, 0, batchMax)}, nil
}

// connect returns a connection to write on, which commits synced.
func (s *Store) connect(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.writer.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range append(slices.Clone(s.d.setup), s.d.synced) {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// write runs fn in a transaction and returns after its commit. fn runs on the goroutine of whoever commits, perhaps together
// with others in one commit; its error undoes fn alone. fn may run twice, when another's error undid the first time: whatever
// it leaves outside of the transaction it sets, it adds nothing. A caller whose ctx ends before fn began gives it up.
func (s *Store) write(ctx context.Context, op string, d durability, fn func(*tx) error, places ...string) error {
	err := s.w.do(&job{ctx: ctx, sync: d, run: fn, places: places, done: make(chan error, 1)})
	var p *panicked
	if errors.As(err, &p) {
		panic(p.value)
	}
	return s.fail(op, err)
}

func (w *committer) do(j *job) error {
	if mine, err := w.send(j); mine || err != nil {
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

// send queues a job. mine: nobody was at it, so it was done here and now, and err is its own.
func (w *committer) send(j *job) (mine bool, err error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return false, core.Errorf("write", core.Unavailable, "the store is closed")
	}
	if err := w.broken(); err != nil {
		return false, err
	}
	if len(w.queue) == 0 {
		select {
		case w.turn <- struct{}{}:
			w.commit(j)
			<-w.turn
			return true, j.ended()
		default:
		}
	}
	select {
	case w.queue <- j:
		return false, nil
	case <-j.ctx.Done():
		return false, j.ctx.Err()
	}
}

// ended is what became of a job that its caller carried out: one that never began because the caller gave up is the caller's
// own end.
func (j *job) ended() error {
	err := <-j.done
	if err != nil && !j.taken.Load() && j.ctx.Err() != nil {
		return j.ctx.Err()
	}
	return err
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
	if w.broken() == nil && w.s.d.goodbye != "" && !w.gone {
		w.housekeep(w.s.d.goodbye)
	}
	return errors.Join(err, w.conn.Close())
}

// run is the committer's goroutine.
func (w *committer) run() {
	defer close(w.end)
	defer w.rest.Stop()
	for {
		select {
		case j, ok := <-w.queue:
			if !ok {
				return
			}
			w.turn <- struct{}{}
			w.commit(j)
			<-w.turn
		case <-w.rest.C:
			w.turn <- struct{}{}
			if w.broken() == nil && w.s.d.rest != "" && !w.gone {
				w.housekeep(w.s.d.rest)
			}
			<-w.turn
		}
	}
}

func (w *committer) housekeep(q string) {
	if _, err := w.conn.ExecContext(w.ctx, q); err != nil {
		w.note(w.s.fail("housekeeping", err))
		w.s.log.Warn("housekeeping of the store failed", "err", err)
	}
}
