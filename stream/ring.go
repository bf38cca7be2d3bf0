package stream

import (
	"time"

	"bellhop/core"
)

// ring holds the newest max events. It grows as it fills, and overwrites the oldest when it is full.
type ring struct {
	max     int
	buf     []kept
	head, n int
}

// kept is an event in the ring. What comes in hundreds are deltas that differ in number, time and text alone: they share
// the rest, and take a sixth of the memory.
type kept struct {
	seq  int64
	at   int64 // in unix nanoseconds
	text string
	rest *core.Event
}

// smallRing is how many places a ring keeps while it is empty.
const smallRing = 32

func newRing(max int) *ring { return &ring{max: max} }

func (k *kept) event() core.Event {
	e := *k.rest
	e.Seq, e.At, e.Text = k.seq, time.Unix(0, k.at), k.text
	return e
}

func (r *ring) at(i int) *kept { return &r.buf[(r.head+i)%len(r.buf)] }

// wrap makes e's entry; it shares with the newest one what is equal.
func (r *ring) wrap(e *core.Event) kept {
	k := kept{seq: e.Seq, at: e.At.UnixNano(), text: e.Text}
	if r.n > 0 {
		if last := r.at(r.n - 1).rest; alike(last, *e) {
			k.rest = last
			return k
		}
	}
	k.rest = new(core.Event)
	*k.rest = *e
	k.rest.Seq, k.rest.At, k.rest.Text = 0, time.Time{}, ""
	return k
}

// alike reports whether e differs from rest in number, time and text alone.
func alike(rest *core.Event, e core.Event) bool {
	e.Seq, e.At, e.Text = rest.Seq, rest.At, rest.Text
	return *rest == e
}

// push appends e. fell reports that the oldest had to go.
func (r *ring) push(e *core.Event) (old kept, fell bool) {
	k := r.wrap(e)
	if r.n == r.max {
		old, fell = r.pop()
	}
	if r.n == len(r.buf) {
		r.resize(min(max(8, 2*r.n), r.max))
	}
	r.n++
	*r.at(r.n - 1) = k
	return old, fell
}

// insert is push at e's place by number.
func (r *ring) insert(e *core.Event) (old kept, fell bool) {
	old, fell = r.push(e)
	for i := r.n - 1; i > 0 && r.at(i-1).seq > r.at(i).seq; i-- {
		*r.at(i), *r.at(i - 1) = *r.at(i - 1), *r.at(i)
	}
	return old, fell
}

// pop takes the oldest.
func (r *ring) pop() (k kept, ok bool) {
	if r.n == 0 {
		return k, false
	}
	p := r.at(0)
	k, *p = *p, kept{}
	r.head = (r.head + 1) % len(r.buf)
	r.n--
	return k, true
}

// keep forgets what want refuses, and gives back the memory of a ring that has grown.
func (r *ring) keep(want func(core.EventType) bool) {
	n := 0
	for i := range r.n {
		if k := *r.at(i); want(k.rest.Type) {
			*r.at(n) = k
			n++
		}
	}
	for i := n; i < r.n; i++ {
		*r.at(i) = kept{}
	}
	if r.n = n; len(r.buf) > smallRing && n <= smallRing {
		r.resize(smallRing)
	}
}

func (r *ring) resize(n int) {
	buf := make([]kept, n)
	for i := range r.n {
		buf[i] = *r.at(i)
	}
	r.head, r.buf = 0, buf
}

func (r *ring) clear() { *r = ring{max: r.max} }
