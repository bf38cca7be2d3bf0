package openai

import (
	"bytes"
	"errors"
	"io"
)

const (
	firstBuffer = 1 << 10
	maxEvent    = 16 << 20 // bytes of one line, and of one event
)

var errTooLong = errors.New("an event is too long")

// events reads server-sent events as the HTML standard describes them: lines end in LF, CRLF or CR, several data lines
// are joined, comments are skipped, one blank after the colon is optional. An event cut off by the end of the stream is
// handed out too: servers forget the last blank line. Memory is one line and one event, both reused.
type events struct {
	r      io.Reader
	buf    []byte // unread bytes are buf[lo:hi]
	lo, hi int
	begun  bool // past a byte order mark
	skipLF bool // the last line ended in CR: an LF right after it belongs to it
	err    error

	name []byte
	data []byte
}

func newEvents(r io.Reader) *events { return &events{r: r, buf: make([]byte, firstBuffer)} }

// next returns the data of the next event that has any; it is valid until the next call. The error is io.EOF at the end,
// errTooLong, or the reader's.
func (e *events) next() (data []byte, err error) {
	e.name, e.data = e.name[:0], e.data[:0]
	lines := 0
	for {
		line, err := e.line()
		switch {
		case err == io.EOF && lines > 0:
			return e.data, nil
		case err != nil:
			return nil, err
		case len(line) == 0:
			if lines > 0 {
				return e.data, nil
			}
			e.name = e.name[:0]
			continue
		}
		field, value := cutField(line)
		switch string(field) {
		case "data":
			if lines++; lines > 1 {
				e.data = append(e.data, '\n')
			}
			if len(e.data)+len(value) > maxEvent {
				return nil, errTooLong
			}
			e.data = append(e.data, value...)
		case "event":
			e.name = append(e.name[:0], value...)
		}
	}
}

// failed reports whether the event last returned was announced as an error.
func (e *events) failed() bool { return string(e.name) == "error" }

func cutField(line []byte) (field, value []byte) {
	field, value, _ = bytes.Cut(line, []byte{':'})
	return field, bytes.TrimPrefix(value, []byte{' '})
}

// line returns the next line without its end. The last line needs no end. It is valid until the next call.
func (e *events) line() ([]byte, error) {
	seen := 0 // bytes of the line that were searched already
	for {
		if e.skipLF && e.lo < e.hi {
			e.skipLF = false
			if e.buf[e.lo] == '\n' {
				e.lo++
			}
		}
		if n := lineEnd(e.buf[e.lo+seen : e.hi]); n >= 0 {
			line := e.buf[e.lo : e.lo+seen+n]
			e.skipLF = e.buf[e.lo+seen+n] == '\r'
			e.lo += seen + n + 1
			return e.trimMark(line), nil
		}
		seen = e.hi - e.lo
		if e.err != nil {
			if e.err == io.EOF && seen > 0 {
				line := e.buf[e.lo:e.hi]
				e.lo = e.hi
				return e.trimMark(line), nil
			}
			return nil, e.err
		}
		if err := e.fill(); err != nil {
			return nil, err
		}
	}
}

func lineEnd(b []byte) int {
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if cr := bytes.IndexByte(b[:n], '\r'); cr >= 0 {
		return cr
	}
	return n
}

func (e *events) trimMark(line []byte) []byte {
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}

// fill reads once, making room first. A read error is kept until the bytes before it are used up.
func (e *events) fill() error {
	if e.lo > 0 {
		e.hi = copy(e.buf, e.buf[e.lo:e.hi])
		e.lo = 0
	}
	if e.hi == len(e.buf) {
		if len(e.buf) >= maxEvent {
			return errTooLong
		}
		e.buf = append(e.buf, make([]byte, len(e.buf))...)
	}
	n, err := e.r.Read(e.buf[e.hi:])
	e.hi += n
	e.err = err
	return nil
}
