package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/store"
	"bellhop/core/store/pgtest"
	"bellhop/core/store/storetest"
)

// server is the PostgreSQL of this package's tests.
var server *pgtest.Server

func postgres(t testing.TB) store.Options {
	t.Helper()
	if server == nil {
		t.Skip(pgtest.ErrMissing)
	}
	return store.Options{Driver: "postgres", DSN: server.Database(t)}
}

// ownServer is a server that a test may do what it likes with.
func ownServer(t *testing.T, start func() (*pgtest.Server, error)) *pgtest.Server {
	t.Helper()
	own, err := start()
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	return own
}

// In the suite time is the test's. That the server's clock decides otherwise is TestServerTime.
func fixed(o store.Options) store.Options {
	o.Now = time.Now
	return o
}

func TestPostgres(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, fixed(postgres(t))) })
}

func TestPostgresTwoHandles(t *testing.T) {
	storetest.RunPair(t, func(t *testing.T) (core.Store, core.Store) {
		o := fixed(postgres(t))
		return open(t, o), open(t, o)
	})
}

// Writes go on after the server was killed, or the connection was cut: what was acknowledged is stored, and no request
// twice, whether or not the answer to its commit came back.
func TestPostgresComesBack(t *testing.T) {
	for name, fault := range map[string]func(t *testing.T, own *pgtest.Server) error{
		"killed": func(_ *testing.T, own *pgtest.Server) error { return errors.Join(own.Kill(), own.Restart()) },
		"cut":    func(t *testing.T, own *pgtest.Server) error { own.Cut(t); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			own := ownServer(t, func() (*pgtest.Server, error) { return pgtest.Start() })
			s, err := store.Open(t.Context(), store.Options{Driver: "postgres", DSN: own.DSN("public")})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			const rows, faults = 600, 6
			var acked atomic.Int64
			var wg sync.WaitGroup
			for w := range 4 {
				wg.Go(func() {
					for n := w; n < rows; n += 4 {
						for {
							if _, err := admit(t.Context(), s, entry(n%20, n)); err == nil {
								break
							} else if !core.Is(err, core.Unavailable) {
								t.Error(err)
								return
							}
						}
						acked.Add(1)
					}
				})
			}
			for n := range faults {
				for acked.Load() < int64(n+1)*rows/(faults+2) {
					runtime.Gosched()
				}
				if err := fault(t, own); err != nil {
					t.Error(err)
				}
			}
			wg.Wait()
			c, err := s.Recount(t.Context())
			if err != nil || c.Accepted != rows || c.Queued != rows {
				t.Fatalf("%+v %v", c, err)
			}
			if c, err := s.Census(t.Context()); err != nil || !c.Balanced() || c.Accepted != rows {
				t.Fatalf("%+v %v", c, err)
			}
		})
	}
}

// Two nodes change the same conversations at the same time, in batches: nobody waits for the other for ever, every message
// gets one turn at a time, and one outcome.
func TestPostgresTwoNodes(t *testing.T) {
	o := postgres(t)
	nodes := []*store.Store{open(t, o), open(t, o)}
	const chats, each = 12, 10
	var wg sync.WaitGroup
	for n := range chats * each {
		wg.Go(func() {
			if _, err := admit(t.Context(), nodes[n%2], entry(n%chats, n)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	pending, err := nodes[0].Pending(t.Context())
	if err != nil || len(pending) != chats {
		t.Fatal(len(pending), err)
	}
	var running [chats]atomic.Int32
	var settled atomic.Int64
	for w := range 24 {
		wg.Go(func() {
			s := nodes[w%2]
			for n := 0; settled.Load() < chats*each && t.Context().Err() == nil; n++ {
				chat := (w + n) % chats
				h := core.Holder{Host: "h", PID: w, Instance: fmt.Sprint(w)}
				l, c, err := s.Start(t.Context(), pending[chat].Conversation, core.TurnID(fmt.Sprint(w, "-", n)), h, time.Minute, nil, heard)
				if core.Is(err, core.Busy) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if c == nil {
					if err := s.Release(t.Context(), l.Fence); err != nil {
						t.Error(err)
					}
					continue
				}
				if running[chat].Add(1) != 1 {
					t.Error("two turns at once")
				}
				running[chat].Add(-1)
				(&turn{s: s, tb: t, lease: l, claim: *c}).settle(t.Context())
				settled.Add(1)
			}
		})
	}
	wg.Wait()
	if c, err := nodes[1].Recount(t.Context()); err != nil || c.Terminal != chats*each || c.Accepted != c.Terminal {
		t.Fatalf("%+v %v", c, err)
	}
}

// The server's clock decides, whatever the node's says.
func TestPostgresTime(t *testing.T) {
	s := open(t, postgres(t))
	before := time.Now().Add(-time.Minute)
	a, err := admit(t.Context(), s, entry(1, 1))
	if err != nil || a.Created.Before(before) || a.Created.After(time.Now().Add(time.Minute)) {
		t.Fatal(a.Created, err)
	}
	l, err := s.Acquire(t.Context(), a.Conversation, "t", core.Holder{}, time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Exec(s, `UPDATE leases SET expires = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) - 1`); err != nil {
		t.Fatal(err)
	}
	want(t, s.Holds(t.Context(), l.Fence), core.Stale)
}

// A note reaches every node, also after the connections were cut.
func TestPostgresNotes(t *testing.T) {
	own := ownServer(t, func() (*pgtest.Server, error) { return pgtest.Start() })
	o := store.Options{Driver: "postgres", DSN: own.Database(t)}
	teller, listener := open(t, o), open(t, o)
	elsewhere := open(t, store.Options{Driver: "postgres", DSN: own.Database(t)})
	heard := make(chan core.Note, 8)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := listener.Listen(ctx, func(n core.Note) { heard <- n }); err != nil {
			t.Error(err)
		}
	})
	defer wg.Wait()
	defer cancel()
	for range 3 {
		if n := <-heard; n.Kind != core.NoteMissed {
			t.Fatalf("%+v", n)
		}
		want := core.Note{Kind: core.NoteControl, From: "one", Conversation: "c", Control: "stop", Reason: core.ReasonStopped, By: "chat:ada"}
		for _, s := range []*store.Store{elsewhere, teller} {
			if err := s.Tell(t.Context(), want); err != nil {
				t.Fatal(err)
			}
			want.Admission = "a" // of the second, which is the one that is heard
		}
		if n := <-heard; n != want {
			t.Fatalf("%+v", n)
		}
		own.Cut(t)
	}
	<-heard
}

// A node that is frozen in the middle of a transaction does not keep the others from the conversation for long.
func TestPostgresFrozenNode(t *testing.T) {
	o := postgres(t)
	frozen, other := open(t, o), open(t, o)
	a, err := admit(t.Context(), frozen, entry(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	inside, thaw := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := frozen.Edit(t.Context(), a.Conversation, func(*core.Conversation) { once.Do(func() { close(inside); <-thaw }) })
		if err != nil {
			t.Error("what was undone by the server was not tried again:", err)
		}
	})
	<-inside
	if _, err := admit(t.Context(), other, entry(1, 2)); err != nil {
		t.Error(err)
	}
	close(thaw)
	wg.Wait()
	if _, err := admit(t.Context(), frozen, entry(1, 3)); err != nil {
		t.Error(err)
	}
}

// The server's clock jumps: nobody ever holds a conversation with another, and nobody waits longer than the ttl.
func TestPostgresClockJumps(t *testing.T) {
	const ttl = 5 * time.Minute
	for name, shift := range map[string]time.Duration{"ahead": 3 * time.Hour, "behind": -3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			own := ownServer(t, func() (*pgtest.Server, error) { return pgtest.StartAt(shift) })
			o := store.Options{Driver: "postgres", DSN: own.Database(t)}
			one, two := open(t, o), open(t, o)
			a, err := admit(t.Context(), one, entry(1, 1))
			if err != nil {
				t.Fatal(err)
			}
			if off := time.Until(a.Created) - shift; off.Abs() > time.Minute {
				t.Fatalf("the server's clock is not asked: %v", a.Created)
			}
			first, err := one.Acquire(t.Context(), a.Conversation, "t", core.Holder{Instance: "1"}, ttl, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = two.Acquire(t.Context(), a.Conversation, "u", core.Holder{Instance: "2"}, ttl, nil)
			want(t, err, core.Busy)
			if err := own.SetClock(shift + ttl + time.Second); err != nil {
				t.Fatal(err)
			}
			second, err := two.Acquire(t.Context(), a.Conversation, "u", core.Holder{Instance: "2"}, ttl, nil)
			if err != nil {
				t.Fatal("the lease did not run out:", err)
			}
			_, err = one.Append(t.Context(), first.Fence, core.Batch{Messages: []core.Message{{Role: core.RoleAssistant, Content: "late"}}})
			want(t, err, core.Stale)
			if err := own.SetClock(shift - time.Hour); err != nil { // the lease seems to last for more than an hour
				t.Fatal(err)
			}
			if err := two.Holds(t.Context(), second.Fence); err != nil {
				t.Fatal(err)
			}
			_, err = one.Acquire(t.Context(), a.Conversation, "v", core.Holder{Instance: "1"}, ttl, nil)
			want(t, err, core.Busy)
			if err := own.SetClock(shift - time.Hour + ttl + time.Second); err != nil {
				t.Fatal(err)
			}
			if _, err := one.Acquire(t.Context(), a.Conversation, "v", core.Holder{Instance: "1"}, ttl, nil); err != nil {
				t.Fatal("nobody should wait longer than the ttl:", err)
			}
		})
	}
}
