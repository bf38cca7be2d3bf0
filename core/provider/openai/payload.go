package openai

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// payload is what a request sends. net/http keeps a request for as long as its answer is read, which for a stream is
// minutes, and the whole conversation with it; a payload can be dropped as soon as the answer has begun.
type payload struct{ b atomic.Pointer[[]byte] }

func newPayload(b []byte) *payload {
	p := new(payload)
	p.b.Store(&b)
	return p
}

func (p *payload) drop() { p.b.Store(nil) }

// open returns a reader, which has let go of the bytes when it was read to the end or closed.
func (p *payload) open() io.ReadCloser {
	b := p.b.Load()
	if b == nil {
		return http.NoBody
	}
	s := new(sending)
	s.r.Store(bytes.NewReader(*b))
	return s
}

// again is for the transport, which repeats a request when a connection that was kept turns out to be closed.
func (p *payload) again() (io.ReadCloser, error) {
	if p.b.Load() == nil {
		return nil, errors.New("the request was dropped")
	}
	return p.open(), nil
}

// sending is one reading of a payload. Close may come during Read.
type sending struct{ r atomic.Pointer[bytes.Reader] }

func (s *sending) Read(b []byte) (int, error) {
	r := s.r.Load()
	if r == nil {
		return 0, io.EOF
	}
	n, err := r.Read(b)
	if r.Len() == 0 {
		s.r.Store(nil)
	}
	return n, err
}

func (s *sending) Close() error {
	s.r.Store(nil)
	return nil
}
