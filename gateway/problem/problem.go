package problem

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Max bounds the register; past it new ids are dropped, because so many problems have one cause.
const Max = 256

// Problem is one thing that is wrong. Text says what happened and Remedy what to do, for the owner and without secrets.
type Problem struct {
	ID     string // stable, low in number: "receive:NAME", "store", "reload"
	Text   string
	Remedy string
	// Fatal makes the gateway not ready: it cannot take or answer messages.
	Fatal bool
	Since time.Time
	Count int
}

// Register holds open problems. Safe for concurrent use.
type Register struct {
	now    func() time.Time
	listen func(p Problem, open bool)

	mu   sync.Mutex
	open map[string]Problem
}

// New makes an empty Register. listen, which may be nil, hears of a problem when it opens and when it ends; it must not
// call the Register.
func New(listen func(p Problem, open bool)) *Register {
	return &Register{now: time.Now, listen: listen, open: map[string]Problem{}}
}

// Raise opens a problem, or renews the text of an open one.
func (r *Register) Raise(p Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, again := r.open[p.ID]
	if !again && len(r.open) >= Max {
		return
	}
	p.Since, p.Count = r.now(), old.Count+1
	if again {
		p.Since = old.Since
	}
	r.open[p.ID] = p
	if !again && r.listen != nil {
		r.listen(p, true)
	}
}

// Clear ends a problem; an id that is not open is ignored.
func (r *Register) Clear(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.open[id]
	if !ok {
		return
	}
	delete(r.open, id)
	if r.listen != nil {
		r.listen(p, false)
	}
}

// Open lists open problems by id.
func (r *Register) Open() []Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Problem, 0, len(r.open))
	for _, p := range r.open {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Problem) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
