package dispatch

import (
	"sync"
	"sync/atomic"
	"time"

	"bellhop/core"
	"bellhop/gateway/session"
)

// Dispatcher drains the queues. Wake may be called at any time, also before Run.
type Dispatcher struct {
	cfg    Config
	slots  chan struct{} // one for each turn that may run
	signal chan struct{} // something became ready
	look   chan struct{} // a sweep is wanted
	hung   atomic.Int64

	mu     sync.Mutex
	known  map[core.ConversationID]*entry
	ready  []*entry // first come, first served
	timers map[core.ConversationID]*alarm
	told   map[core.ConversationID]core.AdmissionID // the row whose author knows that it waits for a lease
	closed bool

	after sync.WaitGroup // live messages being finished
	tail  chan struct{}  // one for each of them
}

// entry is a conversation with work: it is in ready, or it is being visited.
type entry struct {
	c     core.ConversationID
	live  *session.Live
	again bool // woken during the visit
}

// alarm wakes a conversation later.
type alarm struct {
	at    time.Time
	timer *time.Timer
}

// New returns a Dispatcher. Nothing runs before Run.
func New(cfg Config) *Dispatcher {
	cfg = cfg.withDefaults()
	return &Dispatcher{
		cfg:    cfg,
		slots:  make(chan struct{}, cfg.MaxParallel),
		signal: make(chan struct{}, 1),
		look:   make(chan struct{}, 1),
		known:  make(map[core.ConversationID]*entry),
		timers: make(map[core.ConversationID]*alarm),
		told:   make(map[core.ConversationID]core.AdmissionID),
		tail:   make(chan struct{}, 2*cfg.MaxParallel),
	}
}

// Hung returns how many abandoned turns have not come back.
func (d *Dispatcher) Hung() int { return int(d.hung.Load()) }

// Wake says that c may have a row to claim. It never blocks.
func (d *Dispatcher) Wake(c core.ConversationID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return // the rows are durable; the next process sweeps
	}
	d.unschedule(c)
	if e, ok := d.known[c]; ok {
		e.again = true
		return
	}
	live, ok := d.cfg.Sessions.Begin(c)
	if !ok {
		d.cfg.Log.Error("a conversation is live that nobody drains", "session", c)
		return
	}
	e := &entry{c: c, live: live}
	d.known[c] = e
	d.enqueue(e)
}

// enqueue makes e ready. Call with mu held.
func (d *Dispatcher) enqueue(e *entry) {
	d.ready = append(d.ready, e)
	select {
	case d.signal <- struct{}{}:
	default:
	}
}

// wakeAt wakes c at a time, or earlier if it is scheduled earlier.
func (d *Dispatcher) wakeAt(c core.ConversationID, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	if a, ok := d.timers[c]; ok {
		if !a.at.After(at) {
			return
		}
		a.timer.Stop()
	}
	d.timers[c] = &alarm{at: at, timer: time.AfterFunc(time.Until(at), func() { d.Wake(c) })}
}

// unschedule forgets c's timer. Call with mu held.
func (d *Dispatcher) unschedule(c core.ConversationID) {
	if a, ok := d.timers[c]; ok {
		a.timer.Stop()
		delete(d.timers, c)
	}
}

// awaited reports whether c is being drained, or will be woken by a timer.
func (d *Dispatcher) awaited(c core.ConversationID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[c] != nil || d.timers[c] != nil
}

// take returns the next entry that is ready, nil when there is none.
func (d *Dispatcher) take() *entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ready) == 0 {
		return nil
	}
	e := d.ready[0]
	d.ready[0] = nil
	d.ready = d.ready[1:]
	return e
}

// finish ends a visit. The entry goes to the end of the line when there is more to do, so that a long queue of one
// conversation does not keep the others waiting.
func (d *Dispatcher) finish(e *entry, v visited) {
	d.mu.Lock()
	if (v.more || e.again) && !d.closed {
		e.again = false
		d.enqueue(e)
		d.mu.Unlock()
		return
	}
	delete(d.known, e.c)
	e.live.End()
	d.mu.Unlock()
	if !v.at.IsZero() {
		d.wakeAt(e.c, v.at)
	}
}
