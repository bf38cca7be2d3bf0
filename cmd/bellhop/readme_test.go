package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fenced   = regexp.MustCompile("(?s)```sh\n(.*?)```")
	inlined  = regexp.MustCompile("`([^`\n]+)`")
	linkedTo = regexp.MustCompile(`\]\(([^)#:]+)\)`)
)

// TestDocsTellTheTruth holds the pages that people read first against the program: what they link to is there, each make
// target and each command that they show exists.
func TestDocsTellTheTruth(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "docs/kill-matrix.md"} {
		b, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, m := range linkedTo.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
		var shown []string
		for _, m := range fenced.FindAllStringSubmatch(text, -1) {
			shown = append(shown, strings.Split(strings.TrimSpace(m[1]), "\n")...)
		}
		for _, m := range inlined.FindAllStringSubmatch(text, -1) {
			shown = append(shown, m[1])
		}
		for _, line := range shown {
			checkShown(t, root, page, line)
		}
	}
}

// checkShown looks at one line of shell.
func checkShown(t *testing.T, root, page, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, "#")
	words := slices.DeleteFunc(strings.Fields(line), func(w string) bool { return strings.Contains(w, "=") })
	if len(words) < 2 {
		return
	}
	switch words[0] {
	case "make":
		c := exec.Command("make", "-n", words[1])
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s shows %q: %v\n%s", page, line, err, out)
		}
	case "bellhop", "./bellhop":
		a := &app{out: io.Discard, err: io.Discard}
		cmd, rest, err := a.root().Find(words[1:])
		if err != nil || cmd == cmd.Root() && !strings.HasPrefix(words[1], "-") {
			t.Errorf("%s shows %q: there is no such command (%v)", page, line, err)
			return
		}
		if cmd.Args != nil && cmd != cmd.Root() {
			if err := cmd.ValidateArgs(slices.DeleteFunc(rest, func(w string) bool { return strings.HasPrefix(w, "-") })); err != nil {
				t.Errorf("%s shows %q: %v", page, line, err)
			}
		}
	}
}

// TestReadmeListsTheCommands: the row of the README that lists the commands lists all of them.
func TestReadmeListsTheCommands(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	i := strings.Index(string(b), "| `bellhop --help` |")
	if i < 0 {
		t.Fatal("the README does not list the commands")
	}
	row, _, _ := strings.Cut(string(b)[i:], "\n")
	var listed []string
	for _, m := range inlined.FindAllStringSubmatch(row, -1) {
		listed = append(listed, m[1])
	}
	for _, c := range (&app{out: io.Discard, err: io.Discard}).root().Commands() {
		if name := c.Name(); name != "help" && name != "version" && name != "completion" && !slices.Contains(listed, name) {
			t.Errorf("the README does not name %s", name)
		}
	}
	for _, name := range listed[1:] {
		if c, _, err := (&app{out: io.Discard, err: io.Discard}).root().Find([]string{name}); err != nil || c.Name() != name {
			t.Errorf("the README names %s, which is not there", name)
		}
	}
}
