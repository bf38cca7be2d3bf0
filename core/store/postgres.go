package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"bellhop/core"
)

// tallyShards is over how many rows of the tally the handles of one database spread.
const tallyShards = 16

// postgresDialect is PostgreSQL 15 or newer through pgx. Several nodes write to it. A transaction first locks the
// conversations that it is going to change, in the order of their ids, so that for one conversation the operations of all
// nodes follow each other as they do within one, and two batches never wait for each other. What could not be foreseen
// PostgreSQL finds out, and the batch is run again.
func postgresDialect() *dialect {
	return &dialect{
		migrations: goose.DialectPostgres,
		folder:     "postgres",
		bind:       sqlx.DOLLAR,
		words:      strings.NewReplacer("{next}", "nextval('admissions_order')", "{lock}", " FOR UPDATE", "{skip}", " FOR UPDATE SKIP LOCKED"),
		open:       openPostgres,
		classify:   classifyPostgres,
		alive:      alivePostgres,
		args:       plainTexts,
		// A node that is frozen in the middle of a transaction must not hold up the others.
		setup: []string{"SET idle_in_transaction_session_timeout = '2s'"},
		begin: "BEGIN",
		// The server may crash while nodes go on: what they act on must have survived, so nothing is committed unsynced.
		synced:   "SET synchronous_commit = on",
		unsynced: "SET synchronous_commit = on",
		relaxed:  "SET synchronous_commit = off",
		clock:    "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
		hold: `SELECT 1 FROM conversations WHERE id = ? OR id = (SELECT conversation FROM admissions WHERE id = ?)
			FOR UPDATE`,
		holds: `SELECT 1 FROM conversations WHERE id = ANY(?) OR id IN (SELECT conversation FROM keys WHERE key = ANY(?))
			ORDER BY id FOR UPDATE`,
		mark:   "SELECT CAST(pg_current_xact_id() AS TEXT)",
		fate:   "SELECT COALESCE(pg_xact_status(CAST(CAST(? AS TEXT) AS xid8)), 'aborted')",
		notify: "SELECT pg_notify('bellhop:' || current_schema(), ?)",
		listen: listenPostgres,
		shard:  tallyShard + strconv.Itoa(rand.IntN(tallyShards)),
		stale:  postgresReaders(),
		tears:  true,
	}
}

// listenPostgres listens on the channel of the schema. LISTEN takes a name, no expression.
const listenPostgres = `DO $$ BEGIN EXECUTE format('LISTEN %I', 'bellhop:' || current_schema()); END $$`

// openPostgres opens a pool to write with, of which the committer holds one connection, and one to read with.
func openPostgres(o Options) (writer, reader *sqlx.DB, err error) {
	if writer, err = sqlx.Open("pgx", o.DSN); err != nil {
		return nil, nil, err
	}
	writer.SetMaxOpenConns(2)
	if reader, err = sqlx.Open("pgx", o.DSN); err != nil {
		return nil, nil, errors.Join(err, writer.Close())
	}
	n := postgresReaders()
	reader.SetMaxOpenConns(n)
	reader.SetMaxIdleConns(n)
	return writer, reader, nil
}

// postgresReaders is how many connections read.
func postgresReaders() int { return max(4, min(2*runtime.GOMAXPROCS(0), 16)) }

// plainTexts takes out of texts what PostgreSQL cannot store in one: NUL, and bytes that are not UTF-8.
func plainTexts(args []any) []any {
	for n, a := range args {
		if s, ok := a.(string); ok && (strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s)) {
			args[n] = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
		}
	}
	return args
}

// alivePostgres looks at the state of the connection itself: errors of a lost one come in many shapes.
func alivePostgres(conn *sql.Conn) bool {
	open := false
	err := conn.Raw(func(c any) error {
		p, ok := c.(*stdlib.Conn)
		if open = ok && !p.Conn().IsClosed(); !open {
			return driver.ErrBadConn
		}
		return nil
	})
	return err == nil && open
}

// classifyPostgres goes by SQLSTATE: https://www.postgresql.org/docs/15/errcodes-appendix.html
func classifyPostgres(err error) core.Kind {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		var own *core.Error
		if errors.As(err, &own) || err == nil {
			return core.KindOf(err)
		}
		return core.Unavailable // the network, or the server is not there
	}
	switch e.Code {
	case "53100":
		return core.NoSpace
	case "XX001", "XX002":
		return core.Corrupt
	case "40001", "40P01", "55P03": // serialization, deadlock, lock not available
		return core.Busy
	case "23503":
		return core.NotFound
	case "23505", "23514":
		return core.Conflict
	}
	switch e.Code[:2] {
	case "08", "28", "3D", "53", "57", "58": // connection, authorization, no such database, resources, shut down, system
		return core.Unavailable
	}
	return core.Internal
}
