package node_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"bellhop/core"
	"bellhop/core/store"
	"bellhop/gateway/node"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ttl = 15 * time.Second

// cluster are nodes on one database.
type cluster struct {
	t    *testing.T
	path string
}

// member is one node with what it runs.
type member struct {
	*node.Node
	store  *flaky
	stop   context.CancelFunc
	ended  chan error
	lost   atomic.Int32
	active *atomic.Int32
}

// flaky is a store that can be cut off.
type flaky struct {
	*store.Store
	cut atomic.Bool
}

var errCut = core.Errorf("test", core.Unavailable, "cut off")

func (f *flaky) Beat(ctx context.Context, n core.Node, ttl time.Duration) ([]core.Node, []core.Node, error) {
	if f.cut.Load() {
		return nil, nil, errCut
	}
	return f.Store.Beat(ctx, n, ttl)
}

func (f *flaky) Sit(ctx context.Context, name string, h core.Holder, ttl time.Duration, alive func(core.Holder) bool) (core.Seat, error) {
	if f.cut.Load() {
		return core.Seat{}, errCut
	}
	return f.Store.Sit(ctx, name, h, ttl, alive)
}

// start brings up a node that wants the seat "bot"; active counts those that have it.
func (c *cluster) start(name string, active *atomic.Int32) *member {
	c.t.Helper()
	s, err := store.Open(c.t.Context(), store.Options{DSN: c.path})
	if err != nil {
		c.t.Fatal(err)
	}
	m := &member{store: &flaky{Store: s}, ended: make(chan error, 2), active: active}
	m.Node = node.New(node.Config{Store: m.store, Self: core.Holder{Host: "elsewhere", Instance: name}, TTL: ttl, Lost: func() { m.lost.Add(1) }})
	if err := m.Join(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(c.t.Context())
	var all sync.WaitGroup
	all.Go(func() { m.ended <- m.Run(ctx) })
	all.Go(func() {
		m.ended <- m.Keep(ctx, "bot", func(ctx context.Context) error {
			if active.Add(1) != 1 {
				c.t.Error("two nodes receive")
			}
			defer active.Add(-1)
			if m.Seat("bot").Name != "bot" {
				c.t.Error("no seat")
			}
			<-ctx.Done()
			return nil
		})
	})
	m.stop = func() { stop(); all.Wait() }
	c.t.Cleanup(func() {
		m.stop()
		if err := errors.Join(<-m.ended, <-m.ended); err != nil {
			c.t.Error(err)
		}
		if err := s.Close(); err != nil {
			c.t.Error(err)
		}
	})
	return m
}

func has(m *member) bool { return m.Seat("bot").Name != "" }

func bubble(t *testing.T, run func(t *testing.T, c *cluster, active *atomic.Int32)) {
	synctest.Test(t, func(t *testing.T) {
		run(t, &cluster{t: t, path: filepath.Join(t.TempDir(), "bellhop.db")}, new(atomic.Int32))
	})
}

// A node that leaves hands its seat over within a second.
func TestHandOver(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, active *atomic.Int32) {
		one := c.start("one", active)
		synctest.Wait()
		two := c.start("two", active)
		time.Sleep(2 * ttl)
		if !has(one) || has(two) || two.Count() != 2 {
			t.Fatal(has(one), has(two), two.Count())
		}
		one.stop()
		time.Sleep(time.Second)
		synctest.Wait()
		if !has(two) || active.Load() != 1 {
			t.Fatal("nobody took over")
		}
	})
}

// A node that is cut off from the store stops receiving before another begins, which is within the TTL and a second.
func TestCutOff(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, active *atomic.Int32) {
		one := c.start("one", active)
		synctest.Wait()
		two := c.start("two", active)
		time.Sleep(ttl)
		one.store.cut.Store(true)
		time.Sleep(ttl + time.Second)
		synctest.Wait()
		if has(one) || !has(two) || active.Load() != 1 {
			t.Fatal(has(one), has(two), active.Load())
		}
		if one.lost.Load() == 0 {
			t.Error("what it runs was not told")
		}
		if two.Alive(core.Holder{Instance: "one"}) {
			t.Error("it still counts as alive")
		}
		one.store.cut.Store(false)
		time.Sleep(ttl)
		if has(one) || !two.Alive(core.Holder{Instance: "one"}) {
			t.Error("it came back wrongly")
		}
	})
}

// What nobody knows may live; what this host proves dead is dead at once.
func TestAlive(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster, active *atomic.Int32) {
		one := c.start("one", active)
		for instance, want := range map[string]bool{"one": true, "nobody knows": true} {
			if got := one.Alive(core.Holder{Instance: instance}); got != want {
				t.Errorf("%s: %v", instance, got)
			}
		}
		proven := node.New(node.Config{Store: one.store, Self: core.Holder{Instance: "x"}, Proven: func(h core.Holder) bool { return h.PID != 7 }})
		if proven.Alive(core.Holder{Instance: "y", PID: 7}) || !proven.Alive(core.Holder{Instance: "x", PID: 7}) {
			t.Error("the host's proof does not count")
		}
	})
}
