package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bellhop/config"
	"bellhop/core"
	"bellhop/core/store"
)

const databaseFile = "bellhop.db"

func databasePath(c config.Config) string {
	if c.Store.DSN != "" {
		return c.Store.DSN.Reveal()
	}
	return filepath.Join(c.Data, databaseFile)
}

// openStore opens the store for a process with that instance id; empty: it serves nobody.
func openStore(ctx context.Context, c config.Config, instance string) (*store.Store, error) {
	return store.Open(ctx, store.Options{Driver: c.Store.Driver, DSN: databasePath(c), Sync: c.Store.Sync, Node: instance})
}

// nodes reports whether other processes may serve the same store.
func nodes(c config.Config) bool { return c.Store.Driver == "postgres" }

// withStore runs fn on the store of an existing data folder, beside a running gateway or without one.
func (a *app) withStore(ctx context.Context, fn func(core.Store) error) (err error) {
	c, err := a.load()
	if err != nil {
		return err
	}
	if _, err := os.Stat(databasePath(c)); !nodes(c) && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no database at %s yet; bellhop serve makes it", databasePath(c))
	}
	s, err := openStore(ctx, c, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return fn(s)
}
