package lease

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"bellhop/core"
)

// Defaults of Options.
const (
	DefaultTTL   = 300 * time.Second
	DefaultRenew = 60 * time.Second
	DefaultWait  = 1800 * time.Second
)

// grantTime bounds one call to the store. It runs to its end even when the caller has given up: a lease that was granted
// to a call nobody waits for would stay held until it expires.
const grantTime = 30 * time.Second

// Options of a Keeper; zero values take the defaults.
type Options struct {
	TTL   time.Duration // of the lease
	Renew time.Duration // between renewals; less than half of TTL
	Wait  time.Duration // how long to wait for somebody else's lease

	// Alive tells whether the holder of a lease still lives; nil: the package's Alive.
	Alive func(core.Holder) bool
	Log   *slog.Logger // nil: no log
	// OnWait is told once per Do, when a lease turns out to be held by another.
	OnWait func(core.ConversationID, *core.Held)
}

// Keeper acquires, renews and releases leases. Safe for concurrent use.
type Keeper struct {
	leases core.Leases
	o      Options
	ask    Ask
	held   *held
}

// held are the ends of what is held now.
type held struct {
	mu   sync.Mutex
	ends map[*refresher]struct{}
}

func (h *held) add(r *refresher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ends[r] = struct{}{}
}

func (h *held) drop(r *refresher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ends, r)
}

// Ask asks the store for a lease once, as core.Leases.Acquire does.
type Ask func(ctx context.Context, c core.ConversationID, t core.TurnID, h core.Holder, ttl time.Duration,
	alive func(core.Holder) bool) (core.Lease, error)

// New returns a Keeper on s.
func New(s core.Leases, o Options) *Keeper {
	if o.TTL <= 0 {
		o.TTL = DefaultTTL
	}
	if o.Renew <= 0 || o.Renew > o.TTL/2 {
		o.Renew = min(DefaultRenew, o.TTL/5)
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	if o.Alive == nil {
		o.Alive = Alive
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Keeper{leases: s, o: o, ask: s.Acquire, held: &held{ends: map[*refresher]struct{}{}}}
}

// Asking returns a Keeper that acquires through ask, which may do more with the lease in the same transaction.
func (k *Keeper) Asking(ask Ask) *Keeper {
	c := *k
	c.ask = ask
	return &c
}

// OnWait returns a Keeper that tells f instead of Options.OnWait.
func (k *Keeper) OnWait(f func(core.ConversationID, *core.Held)) *Keeper {
	c := *k
	c.o.OnWait = f
	return &c
}

// LoseAll ends the trust in every lease that is held now, as if each had been taken over: this process may have been
// counted among the dead.
func (k *Keeper) LoseAll() {
	k.held.mu.Lock()
	defer k.held.mu.Unlock()
	for r := range k.held.ends {
		r.lose()
	}
}

// Do acquires the lease of c for turn t, waiting up to Options.Wait, and runs fn under it. fn's context ends with cause
// *core.Interrupt{ReasonLeaseLost} when trust in the lease ends. When fn returns, the refresher is joined and the lease
// released, unless fn reports that its last write released it already. A panic in fn is raised again after that.
//
// Errors: those of fn; Timeout when the lease stayed held by another (the cause is a *core.Held); the cause of ctx when it
// ended during the wait; Stale when trust ended and fn did not mind; what Acquire reported otherwise.
func (k *Keeper) Do(ctx context.Context, c core.ConversationID, t core.TurnID, h core.Holder,
	fn func(context.Context, core.Fence) (released bool, err error)) error {
	g, err := k.acquire(ctx, c, t, h)
	if err != nil {
		return err
	}
	return k.hold(ctx, g, fn)
}

// grant is an acquired lease and when its last renewal was asked for, on the monotonic clock.
type grant struct {
	fence core.Fence
	asked time.Time
}

func (k *Keeper) hold(ctx context.Context, g grant, fn func(context.Context, core.Fence) (bool, error)) (err error) {
	held, end := context.WithCancelCause(ctx)
	refresher := k.refresh(held, end, g)
	k.held.add(refresher)
	released := false
	defer func() {
		lost, isLost := core.InterruptOf(held)
		end(nil)
		k.held.drop(refresher)
		refresher.join()
		if !released {
			k.release(ctx, g.fence)
		}
		if err == nil && isLost && lost.Reason == core.ReasonLeaseLost {
			err = core.E("hold lease", core.Stale, lost)
		}
	}()
	released, err = fn(held, g.fence)
	return err
}

func (k *Keeper) release(ctx context.Context, f core.Fence) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grantTime)
	defer cancel()
	if err := k.leases.Release(ctx, f); err != nil {
		k.o.Log.Warn("a lease could not be released; it expires by itself", "session", f.Conversation, "turn", f.Turn, "err", err)
	}
}

// acquire asks until the lease is granted, Options.Wait is over or ctx ends.
func (k *Keeper) acquire(ctx context.Context, c core.ConversationID, t core.TurnID, h core.Holder) (grant, error) {
	var (
		start = time.Now()
		told  bool
		pause = firstPause
	)
	for {
		if ctx.Err() != nil {
			return grant{}, context.Cause(ctx)
		}
		asked := time.Now()
		l, err := k.try(ctx, c, t, h)
		if err == nil {
			return grant{fence: l.Fence, asked: asked}, nil
		}
		if !core.Is(err, core.Busy) {
			return grant{}, err
		}
		if !told {
			told = true
			k.tell(c, err)
		}
		left := k.o.Wait - time.Since(start)
		if left <= 0 {
			return grant{}, core.E("wait for lease", core.Timeout, err)
		}
		if err := sleep(ctx, min(jitter(pause), left)); err != nil {
			return grant{}, err
		}
		pause = min(pause*2, longestPause)
	}
}

func (k *Keeper) try(ctx context.Context, c core.ConversationID, t core.TurnID, h core.Holder) (core.Lease, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grantTime)
	defer cancel()
	return k.ask(ctx, c, t, h, k.o.TTL, k.o.Alive)
}

func (k *Keeper) tell(c core.ConversationID, err error) {
	held := new(core.Held)
	errors.As(err, &held)
	k.o.Log.Info("waiting for a lease", "session", c, "turn", held.Turn, "err", held)
	if k.o.OnWait != nil {
		k.o.OnWait(c, held)
	}
}

// Pauses between two questions for a lease that another holds.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// jitter spreads waiters, so that they do not ask in step: d plus or minus a quarter.
func jitter(d time.Duration) time.Duration {
	return d - d/4 + rand.N(d/2+1)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
