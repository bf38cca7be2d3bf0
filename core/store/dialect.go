package store

import (
	"database/sql"
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
//	{skip}  the same, without rows that another transaction is changing
//
// and in the migrations:
//
//	{int} {real} {bytes}  types of numbers (64 bits) and of bytes
//	{serial}              type of a key that counts by itself
//	{exact}               after a type: compared byte by byte
//	{tight} {roomy}       after a table: kept in the tree of its key; with room in its pages
//	{sequence}            what {next} needs
type dialect struct {
	migrations goose.Dialect
	bind       int // sqlx's placeholder style
	words      *strings.Replacer

	open func(o Options) (writer, reader *sqlx.DB, err error)

	// classify maps a driver error. NoSpace, Corrupt and Unavailable are faults of the database: they fail the whole batch.
	// Conflict is a constraint, NotFound a foreign key, Busy the lock of another process, anything else Internal.
	classify func(error) core.Kind

	// alive reports whether the writing connection can go on after an error; nil: always.
	alive func(*sql.Conn) bool
	// args prepares the arguments of a statement in place.
	args func([]any) []any

	setup         []string // for the writing connection, once the schema is there
	begin         string   // starts a write transaction, taking the write lock at once
	synced        string   // outside a transaction: commits survive power loss from now on
	unsynced      string   // outside a transaction: commits survive a crash of the process only
	relaxed       string   // the same, for both, when the configuration asks for it
	rest, goodbye string   // housekeeping when idle and before closing; may be empty

	// What a database needs that others write to from elsewhere, over a network. Empty in one that serves one host.
	clock  string // SELECT of the time in unix ms
	hold   string // locks the conversation ?, or that of the admission ?, for the transaction
	holds  string // locks the conversations with an id or a key in the list ?, in an order all agree on
	mark   string // SELECT of the time, as clock, and of a name for the transaction that is under way
	fate   string // SELECT of what became of the transaction with the name ?: committed, aborted, in progress
	notify string // SELECT that sends the text ? to all who listen
	listen string // to what is sent
	shard  string // end of the names of this handle's counters: others write theirs at the same time
	stale  int    // connections for reading that may be of a server that has been restarted
	tears  bool   // a failed statement ends all but ROLLBACK
}

// sql turns a query of this package into one of the database.
func (d *dialect) sql(q string) string { return sqlx.Rebind(d.bind, d.words.Replace(q)) }
