package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"bellhop/core"
	"bellhop/core/tool"
)

type readArgs struct {
	Path string `json:"path"`
	From int    `json:"from"`  // first line, from 1
	Max  int    `json:"lines"` // how many
}

func newRead(o Options) tool.Tool {
	return operation[readArgs]{
		spec: tool.Spec{
			Name: "read_file", Verb: "Reading a file", Effect: core.ReadOnly, Parallel: true,
			About: fmt.Sprintf("Reads a text file of the workspace, at most %d lines or %d bytes at a time.", o.MaxLines, o.MaxRead),
			Schema: object([]string{"path"}, `"path":{"type":"string","description":"Relative to the workspace."},`+
				`"from":{"type":"integer","minimum":1,"description":"First line, counted from 1."},`+
				`"lines":{"type":"integer","minimum":1,"description":"How many lines."}`),
		},
		path: func(a readArgs) string { return a.Path },
		check: func(a readArgs) error {
			if a.Path == "" || a.From < 0 || a.Max < 0 {
				return errors.New("path is missing, or from or lines is negative")
			}
			return nil
		},
		do: func(_ context.Context, at *place, a readArgs) (tool.Result, error) { return read(o, at, a) },
	}
}

// read returns lines of a file, with a note of what else there is.
func read(o Options, at *place, a readArgs) (tool.Result, error) {
	if info, err := at.root.Stat(at.rel); err != nil {
		return tool.Result{}, err
	} else if !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return tool.Result{}, fmt.Errorf("%s is not a file", a.Path)
	}
	f, err := at.root.Open(at.rel)
	if err != nil {
		return tool.Result{}, err
	}
	defer f.Close() // only read
	r := bufio.NewReaderSize(f, 64<<10)
	if start, _ := r.Peek(8000); binary(start) {
		return tool.Result{}, fmt.Errorf("%s is not text", a.Path)
	}
	from, most := max(a.From, 1), o.MaxLines
	if a.Max > 0 {
		most = min(a.Max, o.MaxLines)
	}
	text, last, more, err := lines(r, from, most, o.MaxRead)
	switch {
	case err != nil:
		return tool.Result{}, err
	case last < from && from > 1:
		return tool.Result{}, fmt.Errorf("%s has only %d lines", a.Path, last)
	case last < from:
		return tool.Result{Text: "[the file is empty]", Summary: "empty"}, nil
	case from > 1 || more:
		text = strings.TrimSuffix(text, "\n") + fmt.Sprintf("\n[lines %d to %d", from, last)
		if more {
			text += "; there is more: go on with from " + fmt.Sprint(last+1)
		}
		text += "]"
	}
	return tool.Result{Text: text, Summary: fmt.Sprintf("%d lines", last-from+1)}, nil
}

// lines reads lines from..from+most-1, at most size bytes. last is the number of the last line it saw, more whether the
// file goes on behind it.
func lines(r *bufio.Reader, from, most, size int) (text string, last int, more bool, err error) {
	var b strings.Builder
	for n := 1; ; n++ {
		line, err := line(r, size)
		if line == "" && errors.Is(err, io.EOF) {
			return b.String(), n - 1, false, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", 0, false, err
		}
		if n < from {
			continue
		}
		if n >= from+most || b.Len() > 0 && b.Len()+len(line) > size {
			return b.String(), n - 1, true, nil
		}
		b.WriteString(line)
	}
}

// line reads one line in bounded memory; what is beyond max bytes of it is left out with a note.
func line(r *bufio.Reader, max int) (string, error) {
	var b []byte
	over := 0
	for {
		part, err := r.ReadSlice('\n')
		if room := max - len(b); len(part) <= room {
			b = append(b, part...)
		} else {
			b = append(b, part[:room]...)
			over += len(part) - room
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if over > 0 {
			return tool.Repair(tool.Shorten(string(b), len(b)-utf8.UTFMax)) + fmt.Sprintf(" [about %d bytes of this line left out]\n", over), err
		}
		return tool.Repair(string(b)), err
	}
}

// binary reports whether the beginning of a file is not text.
func binary(start []byte) bool {
	if bytes.IndexByte(start, 0) >= 0 {
		return true
	}
	bad := 0
	for i := 0; i < len(start); {
		r, n := utf8.DecodeRune(start[i:])
		if r == utf8.RuneError && n == 1 && len(start)-i >= utf8.UTFMax {
			bad++
		}
		i += n
	}
	return bad*10 > len(start)
}
