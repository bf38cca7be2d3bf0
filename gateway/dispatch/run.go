package dispatch

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/readback"
)

// lives are the lives of what outlasts Run's context.
type lives struct {
	turns context.Context // ends with ReasonShutdown when turns have had Drain to end by themselves
	views context.Context // ends when finished turns have had SlowGrace to show their answers; the outbox has the rest
}

// Run drains queues until ctx ends, which is not an error, and then shuts down within Drain, twice SlowGrace, and what the
// store takes. Call it once.
func (d *Dispatcher) Run(ctx context.Context) error {
	turns, interrupt := context.WithCancelCause(context.WithoutCancel(ctx))
	defer interrupt(nil)
	views, hide := context.WithCancel(context.WithoutCancel(ctx))
	defer hide()
	var visits, sweeps sync.WaitGroup
	sweeps.Go(func() { d.sweep(ctx) })
	d.feed(ctx, lives{turns, views}, &visits)
	sweeps.Wait()
	d.close()
	drained := make(chan struct{})
	sweeps.Go(func() { d.leaveAsking(turns, drained) })
	within(d.cfg.Drain, &visits, func() { interrupt(&core.Interrupt{Reason: core.ReasonShutdown}) })
	close(drained)
	sweeps.Wait()
	within(d.cfg.SlowGrace, &d.after, hide)
	return nil
}

// within waits for wg, and calls late when that takes longer than most.
func within(most time.Duration, wg *sync.WaitGroup, late func()) {
	alarm := time.AfterFunc(most, late)
	defer alarm.Stop()
	wg.Wait()
}

// feed starts a visit for each entry that is ready, as long as there are slots. It takes a slot only for an entry: one who
// waited for a lease must get its own back.
func (d *Dispatcher) feed(ctx context.Context, l lives, visits *sync.WaitGroup) {
	for {
		e := d.next(ctx)
		if e == nil {
			return
		}
		s := &slot{slots: d.slots}
		if !s.take(ctx) {
			d.finish(e, visited{more: true})
			return
		}
		visits.Go(func() { d.visit(l, e, s) })
	}
}

// next waits for an entry that is ready; nil when ctx ended.
func (d *Dispatcher) next(ctx context.Context) *entry {
	for {
		if ctx.Err() != nil {
			return nil
		}
		if e := d.take(); e != nil {
			return e
		}
		select {
		case <-ctx.Done():
			return nil
		case <-d.signal:
		}
	}
}

// close ends what is not running: nothing is woken any more, waits for leases and claims end.
func (d *Dispatcher) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for c := range d.timers {
		d.unschedule(c)
	}
	for _, e := range d.ready {
		delete(d.known, e.c)
		e.live.End()
	}
	d.ready = nil
	for _, e := range d.known {
		e.live.Halt(&core.Interrupt{Reason: core.ReasonShutdown})
	}
}

// leaveEvery is the time between two looks for turns that wait for a person.
const leaveEvery = 200 * time.Millisecond

// leaveAsking ends the turns that only wait for a person, now or later, until drained closes: a question outlives the
// process, so that waiting for its answer would only delay the next one.
func (d *Dispatcher) leaveAsking(ctx context.Context, drained <-chan struct{}) {
	tick := time.NewTicker(leaveEvery)
	defer tick.Stop()
	for {
		for _, e := range d.visited() {
			if s := e.live.Status(); s.WaitingForPerson && d.canGoOn(ctx, s.Admission) {
				e.live.Waive(&core.Interrupt{Reason: core.ReasonShutdown})
			}
		}
		select {
		case <-drained:
			return
		case <-tick.C:
		}
	}
}

// visited lists the conversations that are being visited.
func (d *Dispatcher) visited() []*entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.known))
}

// canGoOn reports whether the next process could go on with a turn that ended now.
func (d *Dispatcher) canGoOn(ctx context.Context, id core.AdmissionID) bool {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	row, err := d.cfg.Store.Admission(ctx, id)
	if err != nil {
		d.complain(ctx, "a turn that waits for a person could not be looked at", err)
		return false
	}
	found, err := d.cfg.Readback.Look(ctx, row)
	if err != nil {
		d.complain(ctx, "a turn that waits for a person could not be read back", err)
		return false
	}
	return found.Case != readback.Effects
}

// slot is the right to run one turn.
type slot struct {
	slots chan struct{}
	held  bool
}

// take waits for a slot if it was given back. false: ctx ended.
func (s *slot) take(ctx context.Context) bool {
	if s.held {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case s.slots <- struct{}{}:
		s.held = true
		return true
	}
}

func (s *slot) give() {
	if s.held {
		s.held = false
		<-s.slots
	}
}

// sweep looks for work that nobody woke anyone for: at once, then every Sweep, until ctx ends.
func (d *Dispatcher) sweep(ctx context.Context) {
	tick := time.NewTicker(d.cfg.Sweep)
	defer tick.Stop()
	for {
		d.sweepOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-d.look:
		}
	}
}

// Look sweeps soon: another process has left work behind. It never blocks.
func (d *Dispatcher) Look() {
	select {
	case d.look <- struct{}{}:
	default: // it is going to
	}
}

func (d *Dispatcher) sweepOnce(ctx context.Context) {
	orphans, err := d.cfg.Store.Orphan(ctx, d.cfg.Alive)
	if err != nil {
		d.complain(ctx, "orphans could not be looked for", err)
	}
	for _, a := range orphans {
		d.cfg.Log.Warn("a turn lost its holder", "session", a.Conversation, "admission", a.ID, "turn", a.Turn)
		d.Wake(a.Conversation)
	}
	pending, err := d.cfg.Store.Pending(ctx)
	if err != nil {
		d.complain(ctx, "the queue could not be looked at", err)
	}
	for _, p := range pending {
		switch {
		case d.awaited(p.Conversation):
		case time.Until(p.At) > 0:
			d.wakeAt(p.Conversation, p.At)
		default:
			d.Wake(p.Conversation)
		}
	}
}

func (d *Dispatcher) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		d.cfg.Log.Error(what+"; it is tried again", "err", err)
	}
}
