package store

import (
	"context"
	"log/slog"
	"time"

	"bellhop/core"
)

// Options say which database is opened and how.
type Options struct {
	Driver string           // "sqlite", the default
	DSN    string           // path of the database file
	Sync   string           // "full", the default, or "normal": may lose the last transactions on power loss
	Log    *slog.Logger     // nil: silent
	Now    func() time.Time // nil: time.Now
	// LockWait is how long a write waits for another process's write lock before it is Unavailable; 0: 30 s.
	LockWait time.Duration
}

// Store is core.Store on SQL.
type Store struct{ core.Store }

// Open opens the database, making or migrating it as needed. Newer: it belongs to a newer program.
func Open(ctx context.Context, o Options) (*Store, error) {
	return nil, core.Errorf("open store", core.Unavailable, "not there yet")
}
