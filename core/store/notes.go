package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"bellhop/core"
)

// Notes go through LISTEN and NOTIFY on a channel named after the schema, since one server may keep several gateways. A
// payload may have 8000 bytes: https://www.postgresql.org/docs/15/sql-notify.html

// Tell implements core.Notes.
func (s *Store) Tell(ctx context.Context, n core.Note) error {
	if s.d.notify == "" {
		return nil
	}
	payload, err := json.Marshal(n)
	if err != nil {
		return core.E("tell", core.Invalid, err)
	}
	r := s.read(ctx, "tell")
	rows, err := r.rows(s.d.notify, string(payload))
	if err != nil {
		return err
	}
	return r.note(errors.Join(rows.Close(), rows.Err()))
}

// Listen implements core.Notes. It keeps one connection.
func (s *Store) Listen(ctx context.Context, fn func(core.Note)) error {
	if s.d.listen == "" {
		<-ctx.Done()
		return nil
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 20*time.Millisecond, 5*time.Second
	for {
		began := time.Now()
		err := s.hear(ctx, fn)
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(began) > pause.MaxInterval {
			pause.Reset()
		}
		s.log.Warn("the other nodes are not heard; trying again", "err", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// hear listens on one connection until it fails.
func (s *Store) hear(ctx context.Context, fn func(core.Note)) error {
	conn, err := s.reader.DB.Conn(ctx)
	if err != nil {
		return s.fail("listen", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, s.d.listen); err != nil {
		return s.fail("listen", err)
	}
	fn(core.Note{Kind: core.NoteMissed})
	for {
		var payload string
		err := conn.Raw(func(c any) error {
			n, err := c.(*stdlib.Conn).Conn().WaitForNotification(ctx)
			if err == nil {
				payload = n.Payload
			}
			return err
		})
		if err != nil {
			return s.fail("listen", err)
		}
		var n core.Note
		if err := json.Unmarshal([]byte(payload), &n); err != nil {
			s.log.Warn("a note that cannot be read", "err", err)
			continue
		}
		fn(n)
	}
}
