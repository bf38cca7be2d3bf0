// Package migration holds the schema, one folder a dialect, as goose migrations.
package migration

import "embed"

// Files are the migrations of every dialect.
//
//go:embed sqlite/*.sql
var Files embed.FS
