package deliver

import (
	"context"
	"errors"
	"math/rand/v2"
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
	kindFate  adapters.ErrorKind = "fate"  // repeated as often as it may be
	kindAnew  adapters.ErrorKind = "anew"  // cannot be edited: make it again
	kindEnded adapters.ErrorKind = "ended" // our context ended before anything was sent
)

var (
	errAnew = errors.New("the message cannot be edited")
	errFate = errors.New("the platform never said whether the message arrived")

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
	case errors.As(err, &p):
		return p.Kind
	case errors.Is(err, errAnew):
		return kindAnew
	case errors.Is(err, errFate):
		return kindFate
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
	maxPause   = 5 * time.Minute
	giveUp     = 24 * time.Hour // after this a message nobody could be given is recorded as dead
	maxFaults  = 5              // attempts at what the platform calls senseless
)

// finish stores what became of the row.
func (w *writer) finish(ctx context.Context, err error) error {
	now := time.Now()
	d := &w.d
	d.LiveUntil, d.NotBefore = time.Time{}, time.Time{}
	switch kindOf(err) {
	case none:
		d.State, d.Error = core.DeliveryDelivered, ""
	case kindStore:
		return err
	case kindEnded:
		d.State = core.DeliveryOwed
	case kindLater:
		d.State, d.NotBefore = core.DeliveryOwed, laterAt(err)
	case adapters.Limited:
		d.State, d.NotBefore = core.DeliveryOwed, now.Add(retryAfter(err))
	case adapters.NoTarget, kindFate:
		d.State, d.Error = core.DeliveryDead, err.Error()
	case adapters.Temporary, adapters.Ambiguous, adapters.Auth, adapters.Conflict:
		putOff(d, err, now)
	default: // a fault of ours or of the configuration
		putOff(d, err, now)
		if d.Attempts >= maxFaults {
			d.State = core.DeliveryDead
		}
	}
	if d.State == core.DeliveryDelivered || d.State == core.DeliveryDead {
		d.Done = now
	}
	if err := w.m.save(ctx, *d); err != nil {
		return err
	}
	if d.State == core.DeliveryDelivered {
		crash.Point(crash.AfterDelivered)
	}
	return nil
}

// putOff makes the row wait, twice as long each time, for a day at most.
func putOff(d *core.Delivery, err error, now time.Time) {
	d.State, d.Error, d.LiveUntil = core.DeliveryOwed, err.Error(), time.Time{}
	pause := min(firstPause<<min(d.Attempts, 10), maxPause)
	d.Attempts++
	d.NotBefore = now.Add(pause + rand.N(pause/4+1))
	if !d.Created.IsZero() && now.Sub(d.Created) > giveUp {
		d.State, d.Done = core.DeliveryDead, now
	}
}
