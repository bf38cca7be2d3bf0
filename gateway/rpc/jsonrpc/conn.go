package jsonrpc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/coder/websocket"
)

// MaxMessage is the largest message that is read, in bytes.
const MaxMessage = 1 << 20

// Conn carries whole messages both ways. One reader and one writer may use it at a time; Close may be called by anybody
// and ends both. Read returns io.EOF when the other side closed in an orderly way.
type Conn interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Close() error
}

// ErrTooLong is returned by Read for a message above MaxMessage. Over a pipe the line is skipped and reading can go on.
var ErrTooLong = errors.New("message too long")

// Lines carries one message a line. It owns r and w: Close closes those that can be closed, which is also what ends a
// Read that waits. A context that ends between two messages is honoured, one that ends during a Read is not.
func Lines(r io.Reader, w io.Writer) Conn {
	return &lines{r: r, w: w, in: bufio.NewReaderSize(r, 64<<10)}
}

type lines struct {
	r    io.Reader
	w    io.Writer
	in   *bufio.Reader
	once sync.Once
}

func (l *lines) Read(ctx context.Context) ([]byte, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := l.line()
		if err != nil || len(line) > 0 {
			return line, err
		}
	}
}

// line reads up to the next newline; a last line without one counts.
func (l *lines) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := l.in.ReadSlice('\n')
		if !long {
			line = append(line, piece...)
		}
		if len(line) > MaxMessage {
			long, line = true, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return nil, ErrTooLong
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		return trimLine(line), nil
	}
}

func trimLine(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

func (l *lines) Write(ctx context.Context, message []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := l.w.Write(append(message[:len(message):len(message)], '\n'))
	return err
}

func (l *lines) Close() error {
	var errs []error
	l.once.Do(func() {
		for _, end := range []any{l.r, l.w} {
			if c, ok := end.(io.Closer); ok {
				errs = append(errs, c.Close())
			}
		}
	})
	return errors.Join(errs...)
}

// WebSocket carries one message per text frame. A context that ends during a Read or a Write closes the connection, so
// no short deadline belongs there.
func WebSocket(c *websocket.Conn) Conn {
	c.SetReadLimit(MaxMessage)
	return socket{c}
}

type socket struct{ c *websocket.Conn }

func (s socket) Read(ctx context.Context) ([]byte, error) {
	_, data, err := s.c.Read(ctx)
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway:
		return nil, io.EOF
	}
	return data, err
}

func (s socket) Write(ctx context.Context, message []byte) error {
	return s.c.Write(ctx, websocket.MessageText, message)
}

func (s socket) Close() error { return s.c.CloseNow() }
