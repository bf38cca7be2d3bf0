package store

import (
	"context"
	"io/fs"

	"github.com/pressly/goose/v3"

	"bellhop/core"
	"bellhop/core/store/migration"
)

// migrate brings the schema up to this program's. A schema from the future is left alone: it is core.Newer.
func (s *Store) migrate(ctx context.Context) error {
	const op = "migrate store"
	files, err := fs.Sub(migration.Files, s.d.folder)
	if err != nil {
		return core.E(op, core.Internal, err)
	}
	p, err := goose.NewProvider(s.d.migrations, s.writer.DB, files)
	if err != nil {
		return s.fail(op, err)
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return s.fail(op, err)
	}
	if have > want {
		return core.Errorf(op, core.Newer,
			"the database has schema %d and this program knows %d: it was used by a newer bellhop; run that version, or restore a backup",
			have, want)
	}
	if have == want {
		return nil
	}
	if _, err = p.Up(ctx); err != nil {
		return s.fail(op, err)
	}
	return nil
}
