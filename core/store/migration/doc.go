// Package migration holds the schema of the store, one folder a dialect, as goose migrations that only go up. A
// migration that was released never changes: the next one corrects it. It has no code.
package migration

import "embed"

// Files are the migrations of every dialect.
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS
