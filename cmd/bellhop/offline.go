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

// databaseName is how people are told of the database: an address of PostgreSQL may hold a password.
func databaseName(c config.Config) string {
	if nodes(c) {
		return "the database of store.dsn"
	}
	return databasePath(c)
}

// openStore opens the store for a process with that instance id; empty: it serves nobody.
func openStore(ctx context.Context, c config.Config, instance string) (*store.Store, error) {
	s, err := store.Open(ctx, store.Options{Driver: c.Store.Driver, DSN: databasePath(c), Sync: c.Store.Sync, Node: instance})
	if err != nil && nodes(c) && core.Is(err, core.Unavailable) {
		err = core.E("open store", core.Unavailable, fmt.Errorf("the database of store.dsn cannot be used; what was accepted is safe in it: %w", err))
	}
	return s, err
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
		return fmt.Errorf("there is no database at %s yet; bellhop serve makes it", databaseName(c))
	}
	s, err := openStore(ctx, c, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return fn(s)
}
