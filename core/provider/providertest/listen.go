package providertest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// PipeURL is the base URL for clients made by Pipe.
const PipeURL = "http://model.test/v1"

// Listen serves on a loopback port and returns the base URL. stop breaks all connections and waits.
func (s *Server) Listen() (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	return "http://" + l.Addr().String() + "/v1", serve(s, l), nil
}

// Pipe returns a client whose connections reach the server without a network, so that it works in a synctest bubble. Ask
// it for PipeURL. stop closes all connections and waits.
func (s *Server) Pipe() (client *http.Client, stop func()) {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	t := &http.Transport{DialContext: l.dial, DisableCompression: true, MaxIdleConnsPerHost: 1024}
	end := serve(s, l)
	return &http.Client{Transport: t}, func() {
		t.CloseIdleConnections()
		end()
	}
}

func serve(h http.Handler, l net.Listener) (stop func()) {
	srv := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // always ErrServerClosed: stop is the only end
	}()
	return func() {
		_ = srv.Close()
		<-done
	}
}

// pipes is a listener whose connections are pairs of net.Pipe.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
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

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "model.test:80" }
