package gateway

import (
	"sync"
	"time"
)

// keepRecent bounds the tables of what happened lately.
const keepRecent = 2048

// recent remembers names for a while. Safe for concurrent use; bounded: when it is full, what is over is dropped, and if
// nothing is, the whole table.
type recent struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func newRecent() *recent { return &recent{until: map[string]time.Time{}} }

func (r *recent) has(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, ok := r.until[name]
	return ok && time.Now().Before(until)
}

// add remembers name for d. It returns false when it was remembered already.
func (r *recent) add(name string, d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if until, ok := r.until[name]; ok && now.Before(until) {
		return false
	}
	if len(r.until) >= keepRecent {
		for k, until := range r.until {
			if !now.Before(until) {
				delete(r.until, k)
			}
		}
		if len(r.until) >= keepRecent {
			clear(r.until)
		}
	}
	r.until[name] = now.Add(d)
	return true
}

func (r *recent) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.until, name)
}

// buckets are token buckets by name. Safe for concurrent use; bounded like recent.
type buckets struct {
	mu   sync.Mutex
	full map[string]time.Time // when the bucket would be full again
}

func newBuckets() *buckets { return &buckets{full: map[string]time.Time{}} }

// take spends one token of name's bucket if there is one.
func (b *buckets) take(name string, every time.Duration, burst int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	full := b.full[name]
	if full.Before(now) {
		full = now
	}
	if full.Sub(now) > time.Duration(max(burst, 1)-1)*every {
		return false
	}
	if _, ok := b.full[name]; !ok && len(b.full) >= keepRecent {
		for k, t := range b.full {
			if !t.After(now) {
				delete(b.full, k)
			}
		}
		if len(b.full) >= keepRecent {
			clear(b.full)
		}
	}
	b.full[name] = full.Add(every)
	return true
}

// refill fills the bucket of name.
func (b *buckets) refill(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.full, name)
}
