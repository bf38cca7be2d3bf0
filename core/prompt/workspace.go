package prompt

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unicode"
)

const (
	maxEntries    = 60 // of the workspace that are listed
	workspaceHead = "<workspace>\n"
	workspaceTail = "\n</workspace>"
)

// workspace describes the folder the agent works in. The block of the segment before, when it is about the same folder, is
// kept: a folder that changes must not change what the model was told.
func (b *Builder) workspace(previous string) string {
	if b.o.Workspace == "" {
		return ""
	}
	head := workspaceHead + "folder: " + quoted(b.o.Workspace) + "\n"
	if _, rest, ok := strings.Cut(previous, head); ok {
		if block, _, ok := strings.Cut(rest, workspaceTail); ok {
			return head + block + workspaceTail
		}
	}
	return head + "system: " + runtime.GOOS + "\ncontents: " + b.contents() + workspaceTail
}

func (b *Builder) contents() string {
	root, err := os.OpenRoot(b.o.Workspace)
	if err != nil {
		return "(not there yet)"
	}
	defer root.Close()
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil || len(list) == 0 {
		return "(empty)"
	}
	names := make([]string, 0, min(len(list), maxEntries)+1)
	for i, e := range list {
		if i == maxEntries {
			names = append(names, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		name := quoted(e.Name())
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// quoted returns a path as it is, or quoted when it holds what could be taken for something else.
func quoted(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == '<' || r == '"' }) {
		return strconv.Quote(path)
	}
	return path
}

// projectFiles returns the blocks of the project files, each with its name.
func (b *Builder) projectFiles() []string {
	if b.o.Workspace == "" {
		return nil
	}
	root, err := os.OpenRoot(b.o.Workspace) // no link leads out of it
	if err != nil {
		return nil
	}
	defer root.Close()
	var out []string
	for _, name := range b.o.Files {
		text, size, ok := readSome(root, name, b.o.MaxFile)
		if !ok || strings.TrimSpace(text) == "" {
			continue
		}
		if int64(len(text)) < size {
			text += fmt.Sprintf("\n[the first %d of %d bytes of this file]", len(text), size)
		}
		out = append(out, fmt.Sprintf("<file name=%q>\n%s\n</file>", name, strings.TrimSpace(text)))
	}
	return out
}

// readSome reads at most limit bytes of a regular file, ending between two characters.
func readSome(root *os.Root, name string, limit int) (text string, size int64, ok bool) {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return "", 0, false
	}
	f, err := root.Open(name)
	if err != nil {
		return "", 0, false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, int64(limit)))
	if err != nil {
		return "", 0, false
	}
	if int64(len(raw)) < info.Size() {
		raw = wholeRunes(raw)
	}
	return string(raw), info.Size(), true
}
