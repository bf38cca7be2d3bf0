package store

import (
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"bellhop/core/store/pgtest"
)

// cable leads to a server. What is said next in one direction can be lost, and the connection with it; later ones are whole.
type cable struct {
	to   string
	mode atomic.Int32
	all  sync.WaitGroup
}

const (
	whole   int32 = iota
	noReply       // what the server says next is lost
	noCall        // what the client says next is lost
)

// dsn returns the address of the cable's end instead of the server's.
func (c *cable) dsn(t *testing.T, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.to, u.Host = u.Host, l.Addr().String()
	c.all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			c.all.Go(func() { c.lead(in) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.all.Wait()
	})
	return u.String()
}

func (c *cable) lead(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer out.Close()
	c.all.Go(func() { c.copy(out, in, noCall); _ = out.Close() })
	c.copy(in, out, noReply)
}

// copy copies until something is to be lost.
func (c *cable) copy(to, from net.Conn, lost int32) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && c.mode.CompareAndSwap(lost, whole) {
			return
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// The answer to a commit is lost: if it happened, that is found out, and nothing runs again; if not, it runs again. Either
// way whoever waits hears that it is stored.
func TestCommitOfUnknownFate(t *testing.T) {
	own, err := pgtest.Start()
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Stop() })
	for name, tc := range map[string]struct {
		mode int32
		runs int
	}{"it happened": {noReply, 1}, "it did not": {noCall, 2}} {
		t.Run(name, func(t *testing.T) {
			var c cable
			s, err := Open(t.Context(), Options{Driver: "postgres", DSN: c.dsn(t, own.Database(t))})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			runs := 0
			add := func(cut int32) error {
				return s.write(t.Context(), "add", synced, func(t *tx) error {
					_, err := t.exec(`INSERT INTO probe (id, at) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET at = probe.at + 1`)
					runs++
					if runs == 2 { // all that comes is the commit
						c.mode.Store(cut)
					}
					return err
				})
			}
			if err := errors.Join(add(whole), add(tc.mode)); err != nil {
				t.Fatal(err)
			}
			if c.mode.Load() != whole || runs != 1+tc.runs {
				t.Errorf("it ran %d times, want %d", runs-1, tc.runs)
			}
			var n int64
			if _, err := s.read(t.Context(), "read").row(`SELECT at FROM probe`).scan(&n); err != nil || n != 2 {
				t.Errorf("it was done %d times (%v), want twice", n, err)
			}
		})
	}
}
