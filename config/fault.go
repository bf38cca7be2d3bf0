package config

import (
	"fmt"
	"strings"

	"bellhop/core"
)

// Fault is one thing that is wrong, and where. Line and Col are 0 when it is not in the file.
type Fault struct {
	File      string
	Line, Col int
	Text      string
}

func (f Fault) String() string {
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Col, f.Text)
	case f.File != "":
		return f.File + ": " + f.Text
	}
	return f.Text
}

// Faults is everything that is wrong, as one error of Kind core.Invalid.
type Faults []Fault

func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the error its Kind.
func (fs Faults) Unwrap() error { return core.E("read configuration", core.Invalid, nil) }

// distance is the number of single-character edits between two short words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			next := min(row[j]+1, row[j-1]+1)
			if a[i-1] == b[j-1] {
				next = min(next, diag)
			} else {
				next = min(next, diag+1)
			}
			diag, row[j] = row[j], next
		}
	}
	return row[len(b)]
}
