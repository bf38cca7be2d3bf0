package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"bellhop/core"
)

// Options say which database is opened and how.
type Options struct {
	Driver string // "sqlite", the default, or "postgres"
	DSN    string // SQLite: path of the database file; its folder is made when missing. PostgreSQL: a URL, or key=value
	// Sync is "full", the default, or "normal": then the last transactions may be lost on power loss, never by a crash.
	Sync string
	Node string           // instance of the process, noted as the owner of deliveries; may be empty where there is one
	Log  *slog.Logger     // nil: silent
	Now  func() time.Time // the store's clock; nil: the process's with SQLite, the server's with PostgreSQL
	// LockWait is how long a write waits for the write lock of another process before it is Unavailable; 0: 30 s.
	LockWait time.Duration
}

// Store is core.Store on SQL. It is safe for concurrent use.
type Store struct {
	d      *dialect
	log    *slog.Logger
	now    func() time.Time
	node   string
	writer *sqlx.DB
	reader *sqlx.DB
	w      *committer
	memory *memory

	mu    sync.Mutex
	stmts map[string]*sqlx.Stmt // of the readers, by query

	closing sync.Once
	closed  error
}

var _ core.Store = (*Store)(nil)

// Open opens the database, making or migrating it as needed, and starts the committer, which Close joins. Newer: it was
// written by a newer program. Corrupt, NoSpace, Unavailable: as they say.
func Open(ctx context.Context, o Options) (*Store, error) {
	const op = "open store"
	dialects := map[string]func() *dialect{"": sqliteDialect, "sqlite": sqliteDialect, "postgres": postgresDialect}
	if dialects[o.Driver] == nil {
		return nil, core.Errorf(op, core.Invalid, "no driver %q: use sqlite or postgres", o.Driver)
	}
	if o.Sync != "" && o.Sync != "full" && o.Sync != "normal" {
		return nil, core.Errorf(op, core.Invalid, "sync is full or normal, not %q", o.Sync)
	}
	d := dialects[o.Driver]()
	if o.Sync == "normal" {
		d.synced, d.unsynced = d.relaxed, d.relaxed
	}
	s := &Store{d: d, log: o.Log, now: o.Now, node: o.Node, memory: newMemory(), stmts: map[string]*sqlx.Stmt{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	} else {
		d.clock = ""
	}
	var err error
	if s.writer, s.reader, err = d.open(o); err != nil {
		return nil, core.E(op, kindOr(d.classify(err), core.Unavailable), err)
	}
	if err := s.start(ctx, o); err != nil {
		return nil, errors.Join(err, s.reader.Close(), s.writer.Close())
	}
	return s, nil
}

func (s *Store) start(ctx context.Context, o Options) error {
	if err := s.migrate(ctx); err != nil {
		return err
	}
	w, err := newCommitter(context.WithoutCancel(ctx), s, o.LockWait)
	if err != nil {
		return s.fail("open store", err)
	}
	s.w = w
	go w.run() // joined by Close: see doc.go
	return nil
}

// Close refuses new writes, waits for the accepted ones and closes the database. Idempotent. A damaged database is closed
// without a checkpoint, so that its files stay as they are.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = s.shut() })
	return s.closed
}

func (s *Store) shut() error {
	err := s.w.stop()
	if s.w.broken() != nil {
		// The last connection to go would copy the log into the database. A reading connection cannot, so it goes last.
		var n int
		_ = s.reader.Get(&n, "SELECT COUNT(*) FROM probe") // makes sure that there is one
		return errors.Join(err, s.writer.Close(), s.reader.Close())
	}
	return errors.Join(err, s.reader.Close(), s.writer.Close())
}

// Check writes a probe row and reads it back.
func (s *Store) Check(ctx context.Context) error {
	const op = "check store"
	at := s.now().UnixNano()
	err := s.write(ctx, op, unsynced, func(t *tx) error {
		_, err := t.exec(`INSERT INTO probe (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at`, at)
		return err
	})
	if err != nil {
		return err
	}
	var got int64
	found, err := s.read(ctx, op).row(`SELECT at FROM probe WHERE id = 1`).scan(&got)
	if err == nil && !found {
		return core.Errorf(op, core.Corrupt, "the probe row is not there")
	}
	return err
}

// asksTime reports whether the database's clock decides.
func (s *Store) asksTime() bool { return s.d.clock != "" }

// Cursor returns how far an adapter has read.
func (s *Store) Cursor(ctx context.Context, name string) (string, error) {
	var v string
	_, err := s.read(ctx, "read cursor").row(`SELECT value FROM cursors WHERE name = ?`, name).scan(&v)
	return v, err
}

// fail gives an error of the driver its Kind. Errors that have one pass.
func (s *Store) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	var e *core.Error
	if errors.As(err, &e) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return core.E(op, core.Unavailable, err)
	}
	k := s.d.classify(err)
	if k == core.Busy { // the lock of another process; core.Busy means a busy conversation
		k = core.Unavailable
	}
	return core.E(op, k, err)
}

func kindOr(k, otherwise core.Kind) core.Kind {
	if k == core.Internal {
		return otherwise
	}
	return k
}
