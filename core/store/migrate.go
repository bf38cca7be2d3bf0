package store

import (
	"context"
	"io/fs"
	"strings"

	"github.com/pressly/goose/v3"

	"bellhop/core"
	"bellhop/core/store/migration"
)

// migrate brings the schema up to this program's. A schema from the future is left alone: it is core.Newer.
func (s *Store) migrate(ctx context.Context) error {
	const op = "migrate store"
	p, err := goose.NewProvider(s.d.migrations, s.writer.DB, translated{migration.Files, s.d.words})
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

// translated are files in which the words are those of a database.
type translated struct {
	fs.FS
	words *strings.Replacer
}

// Open opens a file to be read to its end; what Stat says of its size is not so.
func (t translated) Open(name string) (fs.File, error) {
	f, err := t.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return f, err
	}
	text, err := fs.ReadFile(t.FS, name)
	return &translation{f, strings.NewReader(t.words.Replace(string(text)))}, err
}

// translation is such a file.
type translation struct {
	fs.File
	text *strings.Reader
}

func (t *translation) Read(p []byte) (int, error) { return t.text.Read(p) }
