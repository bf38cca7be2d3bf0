package deliver

import (
	"context"
	"slices"
	"sync"

	"bellhop/core"
)

// maxLanes is how many targets the outbox writes to at the same time.
const maxLanes = 128

// lanes keep the order per target: one goroutine writes to a target at a time, be it the outbox's or a view's. Bounded by
// what Due hands out, by maxLanes goroutines and by the views that end.
type lanes struct {
	mu      sync.Mutex
	open    map[lane]*line // targets that are written to, or soon will be
	waiting []lane         // those that nobody writes to yet
	running int
}

type lane struct{ platform, chat, thread string }

// line is what a target has before it.
type line struct {
	now   core.DeliveryID // what is being written
	rows  []core.Delivery
	views []*turnstile // views that wait to write; they come before the rows
}

// turnstile lets one view through.
type turnstile struct {
	id   core.DeliveryID
	pass chan struct{}
}

func newLanes() *lanes { return &lanes{open: map[lane]*line{}} }

func laneOf(r core.Route) lane { return lane{r.Platform, r.Chat, r.Thread} }

// has reports whether the line holds a row already.
func (l *line) has(id core.DeliveryID) bool {
	return l.now == id || slices.ContainsFunc(l.rows, func(d core.Delivery) bool { return d.ID == id }) ||
		slices.ContainsFunc(l.views, func(t *turnstile) bool { return t.id == id })
}

// push puts a row into its lane. One that is there already is not taken again: its time ran out while it waits.
func (l *lanes) push(d core.Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := laneOf(d.Route)
	n, busy := l.open[k]
	switch {
	case !busy:
		l.open[k] = &line{rows: []core.Delivery{d}}
		l.waiting = append(l.waiting, k)
	case !n.has(d.ID):
		n.rows = append(n.rows, d)
	}
}

// put says that the writer of a row is about to store it as owed: from then on it may be taken again.
func (l *lanes) put(d core.Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.open[laneOf(d.Route)]; n != nil && n.now == d.ID {
		n.now = ""
	}
}

// hold waits until nobody writes to a target and takes its lane for row id. release lets the next one in. The error is the
// end of ctx.
func (l *lanes) hold(ctx context.Context, m *Mouth, k lane, id core.DeliveryID) (release func(), err error) {
	release = func() {
		if l.free(k) {
			l.start(m)
		}
	}
	l.mu.Lock()
	n, busy := l.open[k]
	if !busy {
		l.open[k] = &line{now: id}
		l.mu.Unlock()
		return release, nil
	}
	t := &turnstile{id: id, pass: make(chan struct{})}
	n.views = append(n.views, t)
	l.mu.Unlock()
	select {
	case <-t.pass:
		return release, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	i := slices.Index(n.views, t)
	if i >= 0 {
		n.views = slices.Delete(n.views, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 { // it was let through at the same moment
		release()
	}
	return nil, context.Cause(ctx)
}

// free ends what is written to a target and lets the next view in. It reports whether rows wait for a goroutine.
func (l *lanes) free(k lane) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.open[k]
	if n.admit() {
		return false
	}
	if len(n.rows) == 0 {
		delete(l.open, k)
		return false
	}
	n.now = ""
	l.waiting = append(l.waiting, k)
	return true
}

// admit lets the first view that waits write. false: none does.
func (l *line) admit() bool {
	if len(l.views) == 0 {
		return false
	}
	t := l.views[0]
	l.views, l.now = l.views[1:], t.id
	close(t.pass)
	return true
}

// start gives waiting lanes a goroutine while there may be more.
func (l *lanes) start(m *Mouth) {
	for {
		k, ok := l.take()
		if !ok {
			return
		}
		if !m.spawn(func(ctx context.Context) { l.drain(ctx, m, k) }) {
			return
		}
	}
}

func (l *lanes) take() (lane, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 || l.running >= maxLanes {
		return lane{}, false
	}
	k := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.running++
	return k, true
}

// drain writes the rows of a lane until none is left.
func (l *lanes) drain(ctx context.Context, m *Mouth, k lane) {
	for {
		d, ok := l.next(k)
		if !ok {
			break
		}
		if ctx.Err() != nil { // what is not sent stays a row and is taken up after the start
			continue
		}
		if err := m.write(ctx, d, false); err != nil && ctx.Err() == nil && !core.Is(err, core.Conflict) {
			m.log.Error("a delivery could not be recorded", "delivery", d.ID, "platform", d.Route.Platform, "err", err)
		}
		m.cards.sent(d)
	}
	l.start(m) // lanes that waited for a goroutine
	m.Wake()   // rows of the same target that stood behind
}

// next returns the next row of a lane. false: there is none, or a view goes on with the lane.
func (l *lanes) next(k lane) (core.Delivery, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.open[k]
	switch {
	case n.admit():
	case len(n.rows) == 0:
		delete(l.open, k)
	default:
		d := n.rows[0]
		n.rows, n.now = n.rows[1:], d.ID
		return d, true
	}
	l.running--
	return core.Delivery{}, false
}
