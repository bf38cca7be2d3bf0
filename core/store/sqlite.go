package store

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"
	"github.com/pressly/goose/v3"

	"bellhop/core"
)

// sqliteDialect is SQLite through mattn's driver.
func sqliteDialect() *dialect {
	return &dialect{
		migrations: goose.DialectSQLite3,
		bind:       sqlx.QUESTION,
		words: strings.NewReplacer("{next}", "(SELECT COALESCE(MAX(n), 0) + 1 FROM admissions)", "{lock}", "", "{skip}", "",
			"{int}", "INTEGER", "{real}", "REAL", "{bytes}", "BLOB", "{serial}", "INTEGER", "{exact}", "", "{tight}", " WITHOUT ROWID",
			"{roomy}", "", "{sequence}", ""),
		open:     openSQLite,
		classify: classifySQLite,
		args:     func(args []any) []any { return args },
		setup:    []string{"PRAGMA busy_timeout = 0", "PRAGMA temp_store = MEMORY", "PRAGMA journal_size_limit = 67108864", "PRAGMA wal_autocheckpoint = 4000"},
		begin:    "BEGIN IMMEDIATE",
		synced:   "PRAGMA synchronous = FULL",
		unsynced: "PRAGMA synchronous = NORMAL",
		relaxed:  "PRAGMA synchronous = NORMAL",
		rest:     "PRAGMA wal_checkpoint(PASSIVE)",
		goodbye:  "PRAGMA optimize",
	}
}

// openSQLite opens one writing connection and a small pool of reading ones. The readers' caches are small on purpose: the
// page cache of the kernel is behind them. The writer's holds what a flood leaves in the queue, and takes memory as it fills.
func openSQLite(o Options) (writer, reader *sqlx.DB, err error) {
	keepFreedMemory()
	if err := touch(o.DSN); err != nil {
		return nil, nil, err
	}
	// The driver's own busy wait cannot be interrupted, so it is short and the committer waits in Go.
	writer, err = sqlx.Open("sqlite3", sqliteURI(o.DSN, url.Values{
		"_journal_mode": {"WAL"}, "_foreign_keys": {"1"}, "_busy_timeout": {"2000"}, "_txlock": {"immediate"},
		"_cache_size": {"-8000"}, "_mutex": {"no"}, // database/sql gives a connection to one goroutine at a time
	}))
	if err != nil {
		return nil, nil, err
	}
	writer.SetMaxOpenConns(1)
	reader, err = sqlx.Open("sqlite3", sqliteURI(o.DSN, url.Values{
		"mode": {"ro"}, "_query_only": {"1"}, "_busy_timeout": {"2000"}, "_cache_size": {"-1000"}, "_mutex": {"no"},
	}))
	if err != nil {
		return nil, nil, errors.Join(err, writer.Close())
	}
	n := max(2, min(2*runtime.GOMAXPROCS(0), 8))
	reader.SetMaxOpenConns(n)
	reader.SetMaxIdleConns(n)
	return writer, reader, nil
}

// sqliteURI builds a DSN from a path, whatever characters it has.
func sqliteURI(path string, v url.Values) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + v.Encode()
}

// touch makes the file private before SQLite would make it readable for everybody; the files beside it take its mode.
func touch(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func classifySQLite(err error) core.Kind {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return core.Internal
	}
	switch e.Code {
	case sqlite3.ErrFull:
		return core.NoSpace
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return core.Corrupt
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return core.Busy
	case sqlite3.ErrConstraint:
		if e.ExtendedCode == sqlite3.ErrConstraintForeignKey {
			return core.NotFound
		}
		return core.Conflict
	case sqlite3.ErrIoErr, sqlite3.ErrCantOpen, sqlite3.ErrReadonly, sqlite3.ErrNomem, sqlite3.ErrPerm, sqlite3.ErrAuth,
		sqlite3.ErrProtocol, sqlite3.ErrInterrupt, sqlite3.ErrNoLFS:
		return core.Unavailable
	}
	return core.Internal
}
