package stream

import "bellhop/core"

// ring holds the newest max events. It grows as it fills, and overwrites the oldest when it is full.
type ring struct {
	max     int
	buf     []core.Event
	head, n int
}

func newRing(max int) *ring { return &ring{max: max} }

func (r *ring) at(i int) *core.Event { return &r.buf[(r.head+i)%len(r.buf)] }

// push appends e. fell reports that the oldest had to go.
func (r *ring) push(e core.Event) (old core.Event, fell bool) {
	if r.n == r.max {
		old, _ = r.pop()
		fell = true
	}
	if r.n == len(r.buf) {
		r.resize(min(max(8, 2*r.n), r.max))
	}
	r.n++
	*r.at(r.n - 1) = e
	return old, fell
}

// insert is push at e's place by number.
func (r *ring) insert(e core.Event) (old core.Event, fell bool) {
	old, fell = r.push(e)
	for i := r.n - 1; i > 0 && r.at(i-1).Seq > r.at(i).Seq; i-- {
		*r.at(i), *r.at(i - 1) = *r.at(i - 1), *r.at(i)
	}
	return old, fell
}

// pop takes the oldest.
func (r *ring) pop() (e core.Event, ok bool) {
	if r.n == 0 {
		return e, false
	}
	p := r.at(0)
	e, *p = *p, core.Event{}
	r.head = (r.head + 1) % len(r.buf)
	r.n--
	return e, true
}

// keep forgets what want refuses, and gives memory back.
func (r *ring) keep(want func(core.Event) bool) {
	kept := make([]core.Event, 0, 8)
	for i := range r.n {
		if e := *r.at(i); want(e) {
			kept = append(kept, e)
		}
	}
	r.head, r.n, r.buf = 0, len(kept), kept[:cap(kept)]
}

func (r *ring) resize(n int) {
	buf := make([]core.Event, n)
	for i := range r.n {
		buf[i] = *r.at(i)
	}
	r.head, r.buf = 0, buf
}

func (r *ring) clear() { *r = ring{max: r.max} }
