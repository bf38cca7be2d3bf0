package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"bellhop/core"
)

// DefaultTTL is for how long a node is believed to live after a beat.
const DefaultTTL = 15 * time.Second

// storeTime bounds one call to the store.
const storeTime = 5 * time.Second

// Store is what a node needs of the store; a core.Store satisfies it.
type Store interface {
	core.Nodes
	core.Notes
}

// Config is what a Node needs.
type Config struct {
	Store   Store
	Self    core.Holder
	Version string
	TTL     time.Duration // 0: DefaultTTL
	// Proven reports whether a holder may still live, as far as this host can tell; nil: everybody may.
	Proven func(core.Holder) bool
	// Heard gets each note of another node, one at a time, and NoteMissed when some may have been lost. It must not block.
	Heard func(context.Context, core.Note)
	// Died gets the instances that turn out to be gone, once each, also before Join has returned. It must not block for long.
	Died func(ctx context.Context, instances []string)
	// Lost is called when this node has not been able to beat for so long that others may soon take over what it runs. It is
	// called again for each further beat that fails.
	Lost func()
	Log  *slog.Logger
}

// Node is this process among the others. Safe for concurrent use.
type Node struct {
	cfg Config

	mu     sync.Mutex
	beaten time.Time // when the last beat that was stored began
	live   int
	gone   map[string]bool // instances, as the store says
	dead   map[string]bool // instances that Died was told of
	seats  map[string]core.Seat
}

// New returns a Node. Nothing happens before Join.
func New(cfg Config) *Node {
	if cfg.TTL <= 0 {
		cfg.TTL = DefaultTTL
	}
	if cfg.Proven == nil {
		cfg.Proven = func(core.Holder) bool { return true }
	}
	if cfg.Heard == nil {
		cfg.Heard = func(context.Context, core.Note) {}
	}
	if cfg.Died == nil {
		cfg.Died = func(context.Context, []string) {}
	}
	if cfg.Lost == nil {
		cfg.Lost = func() {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Node{cfg: cfg, live: 1, gone: map[string]bool{}, dead: map[string]bool{}, seats: map[string]core.Seat{}}
}

// Join makes the node known, before it takes its first lease.
func (n *Node) Join(ctx context.Context) error { return n.beat(ctx) }

// Run beats and listens until ctx ends, and then says good-bye.
func (n *Node) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { return n.beats(ctx) })
	g.Go(func() error { return n.cfg.Store.Listen(ctx, func(note core.Note) { n.hear(ctx, note) }) })
	return g.Wait()
}

func (n *Node) hear(ctx context.Context, note core.Note) {
	if note.From != n.cfg.Self.Instance {
		n.cfg.Heard(ctx, note)
	}
}

// Tell sends a note to the other nodes. An error is logged: who does not hear it looks later.
func (n *Node) Tell(ctx context.Context, note core.Note) {
	if n.Count() < 2 {
		return
	}
	note.From = n.cfg.Self.Instance
	if err := n.cfg.Store.Tell(ctx, note); err != nil && ctx.Err() == nil {
		n.cfg.Log.Warn("the other nodes could not be told; they find out by themselves", "err", err)
	}
}

func (n *Node) beats(ctx context.Context) error {
	tick := time.NewTicker(n.cfg.TTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return n.leave(ctx)
		case <-tick.C:
		}
		if err := n.beat(ctx); err != nil && ctx.Err() == nil {
			n.cfg.Log.Warn("this node could not say that it lives", "err", err)
			if n.deaf(time.Now()) {
				n.cfg.Lost()
			}
		}
	}
}

func (n *Node) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(storeTime, n.cfg.TTL/3))
	defer cancel()
	began := time.Now()
	live, gone, err := n.cfg.Store.Beat(ctx, core.Node{Holder: n.cfg.Self, Version: n.cfg.Version}, n.cfg.TTL)
	if err != nil {
		return err
	}
	if died := n.note(began, live, gone); len(died) > 0 {
		n.cfg.Log.Info("nodes are gone; what they left is taken up", "count", len(died))
		n.cfg.Died(ctx, died)
	}
	return nil
}

// note keeps what a beat that began at a time has shown, and returns who turned out to be gone.
func (n *Node) note(began time.Time, live, gone []core.Node) (died []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.beaten, n.live = began, max(1, len(live))
	clear(n.gone)
	for _, g := range gone {
		n.gone[g.Holder.Instance] = true
	}
	for _, l := range live {
		if n.cfg.Proven(l.Holder) {
			delete(n.dead, l.Holder.Instance) // it was only paused
		} else {
			gone = append(gone, l)
		}
	}
	for _, g := range gone {
		if id := g.Holder.Instance; !n.dead[id] {
			n.dead[id] = true
			died = append(died, id)
		}
	}
	return died
}

// deaf reports whether the last beat is so old that what this node holds may soon be taken.
func (n *Node) deaf(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return now.Sub(n.beaten) >= n.cfg.TTL*2/3
}

func (n *Node) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	if err := n.cfg.Store.Leave(ctx, n.cfg.Self); err != nil {
		n.cfg.Log.Warn("this node could not say good-bye; the others find out when its time has run out", "err", err)
	}
	return nil
}

// Alive reports whether a holder may still live. It asks nobody, so it may be called inside a transaction.
func (n *Node) Alive(h core.Holder) bool {
	if h.Instance == n.cfg.Self.Instance {
		return true
	}
	if !n.cfg.Proven(h) {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.gone[h.Instance]
}

// Count returns how many nodes live, this one included, as of the last beat.
func (n *Node) Count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.live
}

// Seat returns the seat of that name if this node has it, the zero Seat otherwise.
func (n *Node) Seat(name string) core.Seat {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seats[name]
}
