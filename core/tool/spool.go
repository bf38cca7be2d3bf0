package tool

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	defaultResult = 32 << 10 // bytes of one result that a model reads
	defaultSpill  = 16 << 20 // bytes of one result that are kept in a file
)

// Spool takes output of any length in bounded memory. What is short it keeps whole; of what is long it keeps head and
// tail, and writes all of it to a file, up to a limit. Safe for concurrent use.
type Spool struct {
	path      string
	max       int   // bytes for the model
	limit     int64 // bytes for the file
	mu        sync.Mutex
	head      []byte // the first max bytes
	tail      []byte // the last bytes, once it does not
	total     int64
	file      *os.File
	filed     int64
	lost      error // why the file is missing or short of the limit
	spilling  bool
	tailSpace int
}

// Kept is what a Spool made of its output.
type Kept struct {
	Text  string // for the model, valid UTF-8; says what was left out
	Total int64  // bytes that were written
	Path  string // the file with all of it, "" when it was short or could not be kept
}

// NewSpool returns a spool that shows at most about max bytes to the model and keeps at most limit bytes in the file at
// path, which is made, with its folder, only when it is needed. Zero numbers mean defaults.
func NewSpool(path string, max int, limit int64) *Spool {
	if max <= 0 {
		max = defaultResult
	}
	if limit <= 0 {
		limit = defaultSpill
	}
	return &Spool{path: path, max: max, limit: limit, tailSpace: max / 3}
}

// Write takes more output. It never fails: the process that writes should not die of a full disk of ours.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += int64(len(p))
	rest := p
	if !s.spilling {
		n := min(len(p), s.max-len(s.head))
		s.head, rest = append(s.head, p[:n]...), p[n:]
		if len(rest) == 0 {
			return len(p), nil
		}
		s.spill()
	}
	s.keep(rest)
	if s.tail = append(s.tail, rest...); len(s.tail) > 2*s.tailSpace {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-s.tailSpace:]...)
	}
	return len(p), nil
}

// spill begins the file: the output has become too long for the model.
func (s *Spool) spill() {
	s.spilling = true
	s.tail = append(s.tail, s.head...)
	if s.lost = os.MkdirAll(filepath.Dir(s.path), 0o700); s.lost == nil {
		s.file, s.lost = os.OpenFile(s.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	}
	s.keep(s.head)
}

func (s *Spool) keep(p []byte) {
	if room := s.limit - s.filed; int64(len(p)) > room {
		p = p[:room]
	}
	if s.file == nil || len(p) == 0 {
		return
	}
	n, err := s.file.Write(p)
	if s.filed += int64(n); err != nil {
		s.lost = err
		_ = s.file.Close() // the write error is the one that is told
		s.file = nil
	}
}

// Last returns the last line so far that is not blank, for people who watch.
func (s *Spool) Last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.head
	if s.spilling {
		b = s.tail
	}
	b = bytes.TrimRight(b, " \t\r\n")
	if i := bytes.LastIndexAny(b, "\r\n"); i >= 0 {
		b = b[i+1:]
	}
	return Repair(strings.TrimSpace(string(b)))
}

// Close ends the file and returns what was kept. Output that comes later is dropped.
func (s *Spool) Close() Kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.spilling {
		return Kept{Text: Repair(string(s.head)), Total: s.total}
	}
	if s.file != nil {
		if err := s.file.Close(); err != nil {
			s.lost = err
		}
		s.file = nil
	}
	first := Repair(head(string(s.head), s.max-s.tailSpace))
	last := Repair(tail(string(s.tail), s.tailSpace))
	k := Kept{Total: s.total}
	if s.lost == nil {
		k.Path = s.path
	}
	k.Text = fmt.Sprintf("%s\n\n[%d bytes in all; the first %d and the last %d are shown. %s]\n\n%s",
		first, s.total, len(first), len(last), s.where(), last)
	return k
}

func (s *Spool) where() string {
	switch {
	case s.lost != nil:
		return "The rest could not be kept"
	case s.filed < s.total:
		return fmt.Sprintf("The first %d are in %s", s.filed, s.path)
	}
	return "All of it is in " + s.path
}

// Clip makes a result fit to be stored and shown: its text is repaired and, above max bytes, spilled to a file named by
// the call.
func Clip(r Result, env Env, max int) Result {
	if max <= 0 {
		max = defaultResult
	}
	if len(r.Text) <= max {
		r.Text = Repair(r.Text)
		return r
	}
	s := NewSpool(SpillPath(env), max, 0)
	_, _ = s.Write([]byte(r.Text)) // never fails
	k := s.Close()
	r.Text = k.Text
	if r.Path == "" {
		r.Path = k.Path
	}
	return r
}

// SpillPath names the file for the large result of a call.
func SpillPath(env Env) string {
	name := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, env.CallID)
	return filepath.Join(env.Spill, Shorten(name, 100)+".txt")
}
