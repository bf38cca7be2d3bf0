package gateway

import (
	"sync"
	"time"
)

const (
	ranFor  = 10 * time.Minute // for how long a platform may deliver again what this process takes care of
	keepRan = 1 << 15          // of them; far more than people can say in that time
)

// ran remembers the commands and presses that this process takes care of, and what came of those that were carried out
// before they were stored: should the commit fail and the platform deliver them again, they are answered, not repeated.
// Safe for concurrent use; bounded: the oldest go first, when they are over or when there are too many.
type ran struct {
	mu    sync.Mutex
	known map[string]*care
	order []*care // oldest first
}

// care is what is known of one of them.
type care struct {
	name  string
	since time.Time
	came  *said // what it came to before it was stored; nil: nothing yet
	lost  bool  // it was not stored
}

func newRan() *ran { return &ran{known: map[string]*care{}} }

// take makes name this process's to carry out, from now on or since an earlier try that was not stored, of which came is
// left. ours is false when it is taken care of already.
func (r *ran) take(name string) (since time.Time, came *said, ours bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for len(r.order) > 0 && (now.Sub(r.order[0].since) > ranFor || len(r.order) >= keepRan) {
		delete(r.known, r.order[0].name)
		r.order[0] = nil
		r.order = r.order[1:]
	}
	if c, ok := r.known[name]; ok {
		ours, c.lost = c.lost, false
		return c.since, c.came, ours
	}
	c := &care{name: name, since: now}
	r.known[name], r.order = c, append(r.order, c)
	return time.Time{}, nil, true
}

// keep remembers what name came to.
func (r *ran) keep(name string, came *said) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.known[name]; ok {
		c.came = came
	}
}

// lose says that name was not stored: it is going to be delivered again.
func (r *ran) lose(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.known[name]; ok {
		c.lost = true
	}
}
