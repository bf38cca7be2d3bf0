package ask

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/crash"

	"github.com/oklog/ulid/v2"
)

// timeouts are how long each kind of question stays open by default.
var timeouts = map[core.QuestionKind]time.Duration{
	core.Approval: 300 * time.Second,
	core.Clarify:  300 * time.Second,
	core.Sudo:     120 * time.Second,
	core.Secret:   300 * time.Second,
}

const (
	// sweepEvery is how often questions without a waiting turn are looked at; one that is waited for expires on time.
	sweepEvery = 5 * time.Second
	// pollEvery is how often a waiting turn looks whether its question was answered through another process.
	pollEvery = 2 * time.Second
	// storeTime bounds a write that must happen although its caller's context has ended.
	storeTime = 10 * time.Second
)

// Options of a Desk.
type Options struct {
	// Timeouts override how long questions stay open, by kind.
	Timeouts map[core.QuestionKind]time.Duration
	// Publish tells the news of a question; nil: nobody is told. It is called after the row says so.
	Publish func(ctx context.Context, q core.Question, b core.EventBody)
	Log     *slog.Logger
}

// Desk keeps questions. Safe for concurrent use.
type Desk struct {
	rows     core.Questions
	timeouts map[core.QuestionKind]time.Duration
	publish  func(context.Context, core.Question, core.EventBody)
	log      *slog.Logger

	mu      sync.Mutex
	waiting map[core.QuestionID]*waiter

	giving  sync.Mutex // never taken together with mu
	secrets map[core.QuestionID]secret
}

// waiter is the turns that wait for one question; ended is closed once, when q holds the row as it ended.
type waiter struct {
	ended chan struct{}
	q     core.Question
	count int
	done  bool
}

// New returns a Desk on q.
func New(q core.Questions, o Options) *Desk {
	t := maps.Clone(timeouts)
	for kind, d := range o.Timeouts {
		if d > 0 {
			t[kind] = d
		}
	}
	if o.Publish == nil {
		o.Publish = func(context.Context, core.Question, core.EventBody) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Desk{rows: q, timeouts: t, publish: o.Publish, log: o.Log,
		waiting: make(map[core.QuestionID]*waiter), secrets: make(map[core.QuestionID]secret)}
}

// Ask stores q, publishes it and blocks until it ended. The question that comes back has its State and what the answer
// amounts to: an expired approval is "deny", an expired clarification or secret is "".
//
// When ctx ends first, its cause is returned. A turn that was stopped drops its question; on a shutdown or a lost lease
// the row stays open for the turn that goes on, which is given the same row and the time that is left, or how it ended.
func (d *Desk) Ask(ctx context.Context, q core.Question) (core.Question, error) {
	asked := q
	q, err := d.open(ctx, q)
	switch {
	case err != nil && ctx.Err() != nil: // the row may be there all the same
		return asked, d.abandon(ctx, asked)
	case err != nil:
		return asked, err
	case q.State != core.QuestionOpen: // it was answered, or its time ran out, before this turn went on
		return d.result(q), nil
	}
	w := d.join(q.ID)
	defer d.leave(q.ID, w)
	d.publish(ctx, q, request(q))
	crash.Point(crash.AfterQuestion)
	return d.wait(ctx, q, w)
}

// open stores a new question, or gets the open one about the same call.
func (d *Desk) open(ctx context.Context, q core.Question) (core.Question, error) {
	now := time.Now()
	if q.ID == "" {
		q.ID = core.QuestionID(ulid.Make().String())
	}
	if q.Deadline.IsZero() {
		q.Deadline = now.Add(d.timeout(q.Ask.Kind))
	}
	q.State, q.Created = core.QuestionOpen, now
	return d.rows.Put(ctx, q)
}

func (d *Desk) timeout(k core.QuestionKind) time.Duration {
	if t, ok := d.timeouts[k]; ok {
		return t
	}
	return timeouts[core.Clarify]
}

// wait blocks until q ended, here, by its deadline, through another process, or with ctx.
func (d *Desk) wait(ctx context.Context, q core.Question, w *waiter) (core.Question, error) {
	deadline := time.NewTimer(time.Until(q.Deadline))
	defer deadline.Stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-w.ended:
			return d.result(w.q), nil
		case <-ctx.Done():
			return q, d.abandon(ctx, q)
		case <-deadline.C:
			d.expire(ctx)
			deadline.Reset(time.Second) // until the store has agreed that the time is over
		case <-poll.C:
			if row, err := d.rows.Question(ctx, q.ID); err == nil && row.State != core.QuestionOpen {
				return d.result(row), nil
			}
		}
	}
}

// abandon ends the wait of a turn that ended. A turn that was stopped wants no answer any more; one that goes on later
// does.
func (d *Desk) abandon(ctx context.Context, q core.Question) error {
	cause := context.Cause(ctx)
	i, ok := core.InterruptOf(ctx)
	if !ok || i.Reason == core.ReasonShutdown || i.Reason == core.ReasonLeaseLost {
		return cause
	}
	d.Drop(ctx, q.Admission)
	return cause
}

func (d *Desk) join(id core.QuestionID) *waiter {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.waiting[id]
	if w == nil {
		w = &waiter{ended: make(chan struct{})}
		d.waiting[id] = w
	}
	w.count++
	return w
}

func (d *Desk) leave(id core.QuestionID, w *waiter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.count--; w.count == 0 {
		delete(d.waiting, id)
	}
}

// Look reads a question that another process may have ended, for the turns that wait for it here.
func (d *Desk) Look(ctx context.Context, id core.QuestionID) {
	d.mu.Lock()
	w := d.waiting[id]
	d.mu.Unlock()
	if w == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	row, err := d.rows.Question(ctx, id)
	if err != nil || row.State == core.QuestionOpen {
		return // they look by themselves, too
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !w.done {
		w.q, w.done = row, true
		close(w.ended)
	}
}

// end hands a row that ended to the turns that wait for it, and publishes it.
func (d *Desk) end(ctx context.Context, q core.Question) {
	d.mu.Lock()
	if w := d.waiting[q.ID]; w != nil && !w.done {
		w.q, w.done = q, true
		close(w.ended)
	}
	d.mu.Unlock()
	d.publish(ctx, q, Resolved(q))
}
