// Package migration holds the schema of the store as goose migrations that only go up, the same for every database, whose
// {words} a dialect fills in. A migration that was released never changes what it does: the next one corrects it. It has no
// code.
package migration

import "embed"

// Files are the migrations.
//
//go:embed *.sql
var Files embed.FS
