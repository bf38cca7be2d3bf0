package telegramtest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Start serves s on loopback until the test ends and returns its address. A request that the vendor's description does
// not know fails the test.
func Start(t testing.TB, s *Server) (url string) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.background(t)
	return srv.URL
}

// Client serves s over in-memory pipes until the test ends: its clients work inside synctest bubbles. Any host name
// reaches s.
func Client(t testing.TB, s *Server) *http.Client {
	t.Helper()
	c := Pipe(t, s)
	s.background(t)
	return c
}

// background runs what Run does, and looks for violations when the test ends.
func (s *Server) background(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		for _, v := range s.Violations() {
			t.Errorf("request differs from the vendor's description: %s", v)
		}
	})
}

// Pipe serves h over in-memory pipes until the test ends.
func Pipe(t testing.TB, h http.Handler) *http.Client {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: h}
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(l) })
	tr := &http.Transport{DialContext: l.dial, MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
		serving.Wait()
	})
	return &http.Client{Transport: tr}
}

// pipes is a listener whose connections are in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
