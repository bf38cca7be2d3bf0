package lease_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/lease"
	"bellhop/core/store"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type spied = core.Leases

// leases is a real store whose renewals can be made to fail, and whose calls are counted.
type leases struct {
	spied
	renew    func(ctx context.Context, n int) error // nil, or the n-th renewal's error
	renewed  atomic.Int64
	asked    atomic.Int64
	released atomic.Int64
}

func (l *leases) Acquire(ctx context.Context, c core.ConversationID, t core.TurnID, h core.Holder, ttl time.Duration, alive func(core.Holder) bool) (core.Lease, error) {
	l.asked.Add(1)
	return l.spied.Acquire(ctx, c, t, h, ttl, alive)
}

func (l *leases) Renew(ctx context.Context, f core.Fence, ttl time.Duration) (core.Lease, error) {
	n := int(l.renewed.Add(1))
	if l.renew != nil {
		if err := l.renew(ctx, n); err != nil {
			return core.Lease{}, err
		}
	}
	return l.spied.Renew(ctx, f, ttl)
}

func (l *leases) Release(ctx context.Context, f core.Fence) error {
	l.released.Add(1)
	return l.spied.Release(ctx, f)
}

var (
	holderA = core.Holder{Host: "here/boot", PID: 1, Instance: "a"}
	holderB = core.Holder{Host: "here/boot", PID: 1, Instance: "b"} // the same process name: only the token tells them apart
)

func everybody(core.Holder) bool { return true }

// open makes a store with one conversation.
func open(t *testing.T, now func() time.Time) (*store.Store, core.ConversationID) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "bellhop.db"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := s.Bind(t.Context(), "chat:1", "", "p:1", "chat")
	if err != nil {
		t.Fatal(err)
	}
	return s, c.ID
}

func reason(ctx context.Context) core.Reason {
	i, ok := core.InterruptOf(ctx)
	if !ok {
		return ""
	}
	return i.Reason
}

func TestFiveHoursOfRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := open(t, nil)
		l := &leases{spied: s}
		k := lease.New(l, lease.Options{Alive: everybody})
		start := time.Now()
		err := k.Do(t.Context(), c, "t1", holderA, func(ctx context.Context, f core.Fence) (bool, error) {
			select {
			case <-ctx.Done():
				t.Errorf("ended after %v: %v", time.Since(start), context.Cause(ctx))
			case <-time.After(5 * time.Hour):
			}
			return false, s.Holds(ctx, f)
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := l.renewed.Load(); n < 299 || n > 300 {
			t.Errorf("%d renewals in five hours, want one a minute", n)
		}
		if held, err := s.Leases(t.Context()); err != nil || len(held) != 0 {
			t.Errorf("still held: %v %v", held, err)
		}
	})
}

func TestFirstRenewalAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := open(t, nil)
		start := time.Now()
		var at time.Duration
		l := &leases{spied: s, renew: func(_ context.Context, n int) error {
			if n == 1 {
				at = time.Since(start)
			}
			return nil
		}}
		k := lease.New(l, lease.Options{Alive: everybody})
		err := k.Do(t.Context(), c, "t1", holderA, func(ctx context.Context, f core.Fence) (bool, error) {
			<-time.After(61 * time.Second)
			return false, nil
		})
		if err != nil || at != time.Minute {
			t.Errorf("renewed after %v (%v), want 1m0s", at, err)
		}
	})
}

func TestTrustEnds(t *testing.T) {
	busy := core.Errorf("renew", core.Unavailable, "database is locked")
	for _, tc := range []struct {
		name        string
		renew       func(ctx context.Context, n int) error
		least, most time.Duration // when fn's context ends; 0: it does not within ten minutes
	}{
		{"every renewal is refused", func(context.Context, int) error { return busy }, 240 * time.Second, 299 * time.Second},
		{"a renewal hangs", func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }, 240 * time.Second, 299 * time.Second},
		{"the first three are refused", func(_ context.Context, n int) error {
			if n <= 3 {
				return busy
			}
			return nil
		}, 0, 0},
		{"stale at the second", func(_ context.Context, n int) error {
			if n == 2 {
				return core.Errorf("renew", core.Stale, "taken over")
			}
			return nil
		}, 120 * time.Second, 120 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := open(t, nil)
				k := lease.New(&leases{spied: s, renew: tc.renew}, lease.Options{Alive: everybody})
				start := time.Now()
				var ended time.Duration
				err := k.Do(t.Context(), c, "t1", holderA, func(ctx context.Context, f core.Fence) (bool, error) {
					select {
					case <-ctx.Done():
						ended = time.Since(start)
						if r := reason(ctx); r != core.ReasonLeaseLost {
							t.Errorf("cause %q", r)
						}
					case <-time.After(10 * time.Minute):
					}
					return false, nil
				})
				if ended < tc.least || ended > tc.most {
					t.Errorf("trust ended after %v, want %v to %v", ended, tc.least, tc.most)
				}
				if lost := core.Is(err, core.Stale); lost != (tc.most > 0) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

func TestWaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := open(t, nil)
		if _, err := s.Acquire(t.Context(), c, "t0", holderB, 24*time.Hour, everybody); err != nil {
			t.Fatal(err)
		}
		told := 0
		l := &leases{spied: s}
		k := lease.New(l, lease.Options{Alive: everybody, OnWait: func(_ core.ConversationID, h *core.Held) {
			if told++; h.Turn != "t0" {
				t.Errorf("held by %q", h.Turn)
			}
		}})
		start := time.Now()
		err := k.Do(t.Context(), c, "t1", holderA, func(context.Context, core.Fence) (bool, error) {
			t.Error("ran without the lease")
			return false, nil
		})
		var held *core.Held
		if !core.Is(err, core.Timeout) || !errors.As(err, &held) {
			t.Errorf("error %v", err)
		}
		if d := time.Since(start); d != 1800*time.Second {
			t.Errorf("gave up after %v", d)
		}
		if n := l.asked.Load(); told != 1 || n < 200 || n > 600 {
			t.Errorf("told %d times, asked %d times", told, n)
		}
	})
}

func TestWaitEndsWithItsContextOrTheHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := open(t, nil)
		other, err := s.Acquire(t.Context(), c, "t0", holderB, time.Hour, everybody)
		if err != nil {
			t.Fatal(err)
		}
		k := lease.New(s, lease.Options{Alive: everybody})
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := &core.Interrupt{Reason: core.ReasonStopped}
		time.AfterFunc(7*time.Second, func() { cancel(stop) })
		if err := k.Do(ctx, c, "t1", holderA, nil); !errors.Is(err, stop) {
			t.Errorf("error %v, want the cause", err)
		}

		freed := time.Now().Add(time.Minute)
		time.AfterFunc(time.Minute, func() {
			if err := s.Release(context.WithoutCancel(ctx), other.Fence); err != nil {
				t.Error(err)
			}
		})
		err = k.Do(t.Context(), c, "t2", holderA, func(context.Context, core.Fence) (bool, error) {
			if late := time.Since(freed); late < 0 || late > 7*time.Second {
				t.Errorf("acquired %v after it was free", late)
			}
			return false, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestPanicIsRaisedAgainAfterTheRelease(t *testing.T) {
	s, c := open(t, nil)
	l := &leases{spied: s}
	k := lease.New(l, lease.Options{Alive: everybody})
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = k.Do(t.Context(), c, "t1", holderA, func(context.Context, core.Fence) (bool, error) { panic("boom") })
		t.Error("the panic was swallowed")
	}()
	if held, err := s.Leases(t.Context()); err != nil || len(held) != 0 {
		t.Errorf("still held: %v %v", held, err)
	}
}

func TestReleasedBySettle(t *testing.T) {
	s, c := open(t, nil)
	l := &leases{spied: s}
	k := lease.New(l, lease.Options{Alive: everybody})
	want := errors.New("mine")
	err := k.Do(t.Context(), c, "t1", holderA, func(context.Context, core.Fence) (bool, error) { return true, want })
	if err != want || l.released.Load() != 0 {
		t.Errorf("error %v, %d releases", err, l.released.Load())
	}
}

// C162: A stalls past its lease, B takes over, A wakes up and tries everything. Both have the same process name.
func TestStalledHolderCanDoNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := open(t, nil)
		stall := &leases{spied: s, renew: func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }}
		a := lease.New(stall, lease.Options{Alive: everybody})
		b := lease.New(s, lease.Options{Alive: everybody})
		err := a.Do(t.Context(), c, "tA", holderA, func(ctx context.Context, fa core.Fence) (bool, error) {
			<-time.After(301 * time.Second)
			return false, b.Do(t.Context(), c, "tB", holderB, func(bctx context.Context, fb core.Fence) (bool, error) {
				if fb.Generation <= fa.Generation || fb.Token == fa.Token {
					t.Errorf("fences %v then %v", fa, fb)
				}
				_, append := s.Append(bctx, fa, core.Batch{Messages: []core.Message{{Role: core.RoleAssistant, Content: "late"}}})
				_, renew := s.Renew(bctx, fa, time.Hour)
				_, settle := s.Settle(bctx, fa, "any", core.Settlement{})
				for what, err := range map[string]error{"append": append, "renew": renew, "settle": settle, "holds": s.Holds(bctx, fa)} {
					if !core.Is(err, core.Stale) {
						t.Errorf("%s: %v, want stale", what, err)
					}
				}
				if err := s.Release(bctx, fa); err != nil {
					t.Error(err)
				}
				return false, s.Holds(bctx, fb) // A's release cleared nothing
			})
		})
		if !core.Is(err, core.Stale) {
			t.Errorf("A was not told that it lost its lease: %v", err)
		}
		l, err := s.Acquire(t.Context(), c, "tC", holderA, time.Minute, everybody)
		if err != nil || l.Fence.Generation != 3 {
			t.Errorf("generation %d after two turns (%v): it never starts again", l.Fence.Generation, err)
		}
	})
}

// C163: the wall clock jumps back by an hour. The holder keeps its lease by its own monotonic clock, nobody else gets it,
// and after it is gone nobody waits for an hour.
func TestWallClockJumpsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var skew atomic.Int64
		s, c := open(t, func() time.Time { return time.Now().Add(time.Duration(skew.Load())) })
		k := lease.New(s, lease.Options{Alive: everybody, Wait: time.Hour})
		var second time.Time
		start := time.Now()
		err := k.Do(t.Context(), c, "tA", holderA, func(ctx context.Context, f core.Fence) (bool, error) {
			skew.Store(int64(-time.Hour))
			if _, err := s.Acquire(ctx, c, "tB", holderB, time.Minute, everybody); !core.Is(err, core.Busy) {
				t.Errorf("two holders: %v", err)
			}
			<-time.After(10 * time.Minute)
			return true, s.Holds(ctx, f) // dies without a release
		})
		if err != nil {
			t.Fatal(err)
		}
		gone := time.Since(start)
		err = k.Do(t.Context(), c, "tB", holderB, func(context.Context, core.Fence) (bool, error) {
			second = time.Now()
			return false, nil
		})
		if waited := second.Sub(start) - gone; err != nil || waited > 306*time.Second {
			t.Errorf("waited %v for a dead holder: %v", waited, err)
		}
	})
}

// A process that may have been counted among the dead trusts none of its leases, and can take them again.
func TestLoseAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := open(t, time.Now)
		k := lease.New(&leases{spied: s}, lease.Options{Alive: everybody})
		k.LoseAll() // nothing is held
		err := k.Do(t.Context(), c, "t", holderA, func(ctx context.Context, _ core.Fence) (bool, error) {
			k.LoseAll()
			<-ctx.Done()
			if i, ok := core.InterruptOf(ctx); !ok || i.Reason != core.ReasonLeaseLost {
				t.Error(context.Cause(ctx))
			}
			return false, nil
		})
		if !core.Is(err, core.Stale) {
			t.Fatal(err)
		}
		if err := k.Do(t.Context(), c, "u", holderA, func(ctx context.Context, _ core.Fence) (bool, error) { return false, ctx.Err() }); err != nil {
			t.Fatal(err)
		}
	})
}
