package store

import (
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"bellhop/core"
)

// dialect is all that differs between databases. Everything above it is written in the SQL that SQLite and PostgreSQL
// share (ON CONFLICT, RETURNING, partial indexes, WITH RECURSIVE), with ? for arguments and {words} for the rest:
//
//	{next}  the order number of a new admission
//	{lock}  end of a SELECT whose rows the transaction is going to change
type dialect struct {
	migrations goose.Dialect
	folder     string // of the migrations
	bind       int    // sqlx's placeholder style
	words      *strings.Replacer

	open func(o Options) (writer, reader *sqlx.DB, err error)

	// classify maps a driver error. NoSpace, Corrupt and Unavailable are faults of the database: they fail the whole batch.
	// Conflict is a constraint, NotFound a foreign key, Busy the lock of another process, anything else Internal.
	classify func(error) core.Kind

	setup         []string // for the writing connection, once the schema is there
	begin         string   // starts a write transaction, taking the write lock at once
	synced        string   // outside a transaction: commits survive power loss from now on
	unsynced      string   // outside a transaction: commits survive a crash of the process only
	rest, goodbye string   // housekeeping when idle and before closing; may be empty
}

// sql turns a query of this package into one of the database.
func (d *dialect) sql(q string) string { return sqlx.Rebind(d.bind, d.words.Replace(q)) }
