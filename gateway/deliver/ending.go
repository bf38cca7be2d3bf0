package deliver

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/crash"
)

// Kinds of our own, beside those of the platform.
const (
	none      adapters.ErrorKind = ""
	kindLater adapters.ErrorKind = "later" // the budget
	kindStore adapters.ErrorKind = "store" // our own disk
	kindAway  adapters.ErrorKind = "away"  // the platform answers nothing
	kindForms adapters.ErrorKind = "forms" // refused in every form
	kindAnew  adapters.ErrorKind = "anew"  // cannot be edited: make it again
	kindEnded adapters.ErrorKind = "ended" // our context ended before anything was sent
)

var (
	errAnew  = errors.New("the message cannot be edited")
	errForms = errors.New("the platform refuses the message in every form")

	errUnconnected = errors.New("no such platform is connected")
)

// storeError is a failure of the store, to tell it from those of the platform.
type storeError struct{ err error }

func (s *storeError) Error() string { return s.err.Error() }
func (s *storeError) Unwrap() error { return s.err }

// kindOf classifies the end of a call, ours included; none is success.
func kindOf(err error) adapters.ErrorKind {
	var (
		l *later
		s *storeError
		p *adapters.Error
		e *ended
		a *away
	)
	switch {
	case err == nil:
		return none
	case errors.As(err, &s):
		return kindStore
	case errors.As(err, &l):
		return kindLater
	case errors.As(err, &e):
		return kindEnded
	case errors.As(err, &a):
		return kindAway
	case errors.As(err, &p):
		return p.Kind
	case errors.Is(err, errAnew):
		return kindAnew
	case errors.Is(err, errForms):
		return kindForms
	}
	return adapters.Ambiguous
}

func laterAt(err error) time.Time {
	var l *later
	errors.As(err, &l)
	return l.At
}

// ended says that our own context ended while nothing was on its way.
type ended struct{ cause error }

func (e *ended) Error() string { return e.cause.Error() }
func (e *ended) Unwrap() error { return e.cause }

const (
	firstPause = time.Second
	giveUp     = 24 * time.Hour // unless configured
	maxFaults  = 5              // attempts at what the platform calls senseless

	// A row that failed so often, each time after a pause of its own, and so for half a minute at least, or of which so many
	// messages may have arrived, does not hold up its target any longer. While the messages of other chats fail too it does,
	// for some minutes: whatever passed it would fail as well, and the order would be lost for nothing.
	asideAfter, asideAnyway   = 6, 18
	asideCopies, copiesAnyway = 3, 5
)

// tryPauses follow attempts that failed: short, so that nobody waits long for what works again.
var tryPauses = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 30 * time.Second}

// copyPauses stand before each repeat of a message that may have arrived: copies are few, whatever happens. They are
// shorter once other messages were made.
var copyPauses = [...]time.Duration{2 * time.Second, 15 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 8 * time.Hour}

const (
	copyShorter = 20               // times as short
	copyLook    = 30 * time.Second // how often that is looked at, and the least a long pause becomes
)

// pauseAfter is the n-th pause, or the last, and up to a quarter more.
func pauseAfter(pauses []time.Duration, n int) time.Duration {
	d := pauses[min(n, len(pauses)-1)]
	return d + rand.N(d/4+1)
}

// finish stores what became of the row.
func (w *writer) finish(ctx context.Context, err error) error {
	now := time.Now()
	d := &w.d
	own := d.NotBefore // later than now: the row was hastened
	d.LiveUntil, d.NotBefore = time.Time{}, time.Time{}
	switch kindOf(err) {
	case none:
		d.State, d.Error = core.DeliveryDelivered, ""
	case kindStore:
		return err
	case kindEnded:
		d.State = core.DeliveryOwed
	case kindLater:
		d.State, d.NotBefore, d.Error = core.DeliveryOwed, laterAt(err), ""
	case adapters.Limited:
		d.State, d.NotBefore, d.Error = core.DeliveryOwed, now.Add(retryAfter(err)), ""
	case adapters.NoTarget:
		d.State, d.Error = core.DeliveryDead, err.Error()
	case kindAway, adapters.Auth, adapters.Conflict: // of the account: the row is none the worse for it
		w.await(err, now)
	case adapters.Temporary, adapters.Ambiguous:
		w.putOff(err, own, now)
	default: // a fault of ours or of the configuration
		w.putOff(err, own, now)
		if d.Attempts >= maxFaults {
			d.State = core.DeliveryDead
		}
	}
	if d.State == core.DeliveryDelivered || d.State == core.DeliveryDead {
		d.Done = now
	}
	save := func(ctx context.Context, d core.Delivery) error { return w.m.save(ctx, d) }
	if w.hopeless() {
		save = w.m.aside
	}
	if err := save(ctx, *d); err != nil {
		return err
	}
	if d.State == core.DeliveryDelivered {
		crash.Point(crash.AfterDelivered)
	}
	return nil
}

// await makes the row wait until the platform answers; how soon that is looked at is the same for all of them.
func (w *writer) await(err error, now time.Time) {
	at := now.Add(tryPauses[len(tryPauses)-1])
	var a *away
	if errors.As(err, &a) {
		at = a.At.Add(rand.N(firstPause))
	}
	w.owe(err, at, now)
}

// putOff makes the row wait for its next attempt, longer each time. An attempt before its own time does not count.
func (w *writer) putOff(err error, own, now time.Time) {
	if now.Before(own) {
		w.owe(err, own, now)
		return
	}
	at := now.Add(pauseAfter(tryPauses[:], w.d.Attempts))
	w.d.Attempts++
	w.owe(err, at, now)
}

// owe makes the row wait, unless it has waited for too long.
func (w *writer) owe(err error, at, now time.Time) {
	d := &w.d
	d.State, d.Error, d.NotBefore = core.DeliveryOwed, err.Error(), at
	if !d.Created.IsZero() && now.Sub(d.Created) > w.m.cfg.GiveUp {
		d.State, d.Done = core.DeliveryDead, now
	}
	if w.c != nil {
		w.c.reach.waits()
	}
}

// hopeless reports whether a row is owed, and others of its target should not wait for it.
func (w *writer) hopeless() bool {
	if w.d.State != core.DeliveryOwed {
		return false
	}
	tries, copies := asideAfter, asideCopies
	if w.c != nil && w.c.reach.ill() {
		tries, copies = asideAnyway, copiesAnyway
	}
	return w.d.Attempts >= tries ||
		slices.ContainsFunc(w.d.Parts, func(p core.Part) bool { return p.Ref == "" && p.Sent >= copies })
}
