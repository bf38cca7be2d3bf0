//go:build crashtest

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const matrixHead = `# What happens when the process dies

Written by the test that does it: SIGKILL at the point (or SIGTERM, while a person is asked), restart on the same data
folder, then what a person sees, in a chat and at a client of the JSON-RPC door (the browser, the terminal). See
` + "`cmd/bellhop/crash_test.go`" + `; ` + "`make crash`" + ` runs it.
Every row is run on SQLite and on PostgreSQL. At the door nothing is ever marked: a client asks again under its request id and catches up by number.

| dies | door | with a tool | afterwards | effects of the tool |
|---|---|---|---|---|
`

const stopHead = `
The same while a turn is being stopped, by ` + "`/stop`" + ` or by its button (` + "`cmd/bellhop/crash_stop_test.go`" + `): the turn ends, the person is
told, the next message is answered.

| dies | the turn | goes on in between |
|---|---|---|
`

// TestKillMatrixIsPublished keeps docs/kill-matrix.md equal to the table that is tested; UPDATE=1 writes it.
func TestKillMatrixIsPublished(t *testing.T) {
	var b strings.Builder
	b.WriteString(matrixHead)
	for _, w := range matrix {
		tool, effects := "no", "–"
		if w.tool {
			tool, effects = "yes", fmt.Sprint(w.effects)
		}
		fmt.Fprintf(&b, "| %s | chat | %s | %s | %s |\n", w.point, tool, w.want, effects)
		if !w.chat {
			fmt.Fprintf(&b, "| %s | rpc | %s | %s | %s |\n", w.point, tool, w.atDoor(), effects)
		}
	}
	b.WriteString(stopHead)
	for _, s := range stops {
		point, _, _ := strings.Cut(s.point, ":")
		model := "no"
		if s.again > 0 {
			model = "perhaps, until the stop is delivered again"
		}
		fmt.Fprintf(&b, "| %s | stopped | %s |\n", point, model)
	}
	file := filepath.Join("..", "..", "docs", "kill-matrix.md")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
		t.Errorf("docs/kill-matrix.md is not what is tested (%v); run with UPDATE=1", err)
	}
}
