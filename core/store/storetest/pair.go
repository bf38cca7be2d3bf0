package storetest

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// RunPair runs the tests of two processes on one database. open returns two handles on one empty store.
func RunPair(t *testing.T, open func(t *testing.T) (core.Store, core.Store)) {
	for _, c := range pairTests {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := open(t)
				c.run(kit{tb: t, Store: a}, kit{tb: t, Store: b})
			})
		})
	}
}

var pairTests = []struct {
	name string
	run  func(a, b kit)
}{
	{"any sequence of operations", func(a, b kit) { anySequence(a, b) }},
	{"what one commits the other sees", func(a, b kit) {
		row := a.queue(said("1", "x"))
		b.equal(b.stored(row.ID), row)
		if out := b.admit(said("1", "x"))[0]; out.Fresh || out.Admission.ID != row.ID {
			b.Fatalf("%+v", out)
		}
		b.queue(said("2", "y"))
		a.equal(a.balanced(), b.balanced())
	}},
	{"what one remembers of a transcript the other makes stale", func(a, b kit) {
		row := a.queue(said("1", "x"))
		f, claim := a.start(row.Conversation, "t")
		version := func() int64 { return must(a.Conversation(a.Context(), string(row.Conversation), ""))(a).History }
		write := func(k kit, text string) {
			must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleAssistant, Content: text}}}))(k)
		}
		write(a, "one")
		a.equal(texts(must(a.Recall(a.Context(), row.Conversation, version()))(a)), []string{"one"})
		write(a, "two")
		a.equal(texts(must(a.Recall(a.Context(), row.Conversation, version()))(a)), []string{"one", "two"})
		write(b, "three")
		a.equal(texts(must(a.Recall(a.Context(), row.Conversation, version()))(a)), []string{"one", "two", "three"})
		write(b, "four")
		write(a, "five")
		a.equal(texts(must(a.Recall(a.Context(), row.Conversation, version()))(a)), []string{"one", "two", "three", "four", "five"})
		a.answer(f, claim)
	}},
	{"a takeover fences the old process out", func(a, b kit) { // C162
		row := a.queue(said("1", "x"))
		f, c := a.start(row.Conversation, "t")
		_, err := b.Acquire(b.Context(), row.Conversation, "u", other, ttl, alive)
		b.want(err, core.Busy)
		time.Sleep(2 * ttl)
		l := must(b.Acquire(b.Context(), row.Conversation, "u", other, ttl, alive))(b)
		fencedOut(a, f, c)
		next := b.retry(row.ID, false)
		claim := must(b.ClaimNext(b.Context(), l.Fence, nil))(b)
		b.equal(claim.Admission.ID, next.ID)
		fencedOut(a, f, c)
		b.answer(l.Fence, claim)
	}},
	{"one of two gets the lease, one of two settles the unknown", func(a, b kit) {
		row := a.queue(said("1", "x"))
		a.equal(race(a, b, func(k kit) error {
			_, err := k.Acquire(k.Context(), row.Conversation, "t", holder, ttl, alive)
			return err
		}), 1)
		time.Sleep(ttl)
		a.start(row.Conversation, "t")
		a.vanish()
		a.equal(race(a, b, func(k kit) error {
			_, err := k.Resolve(k.Context(), row.ID, core.Resolution{Outcome: lost, Retry: true})
			return err
		}), 1)
		a.equal(len(a.waiting(row.Conversation)), 1)
	}},
	{"a delivery has one taker", func(a, b kit) {
		for i := range 20 {
			a.ok(a.Outbox().Put(a.Context(), owed(fmt.Sprint("d", i), fmt.Sprint(i))))
		}
		var mu sync.Mutex
		seen := map[core.DeliveryID]int{}
		a.equal(race(a, b, func(k kit) error {
			for range 20 {
				ds, err := k.Outbox().Due(k.Context(), time.Now(), time.Minute, 1)
				if err != nil {
					return err
				}
				mu.Lock()
				for _, d := range ds {
					seen[d.ID]++
				}
				mu.Unlock()
			}
			return nil
		}), 2)
		for id, n := range seen {
			if n != 1 {
				a.Fatalf("%s was taken %d times", id, n)
			}
		}
		a.equal(len(seen), 20)
	}},
	{"a hundred rows from both", func(a, b kit) { // C165
		var wg sync.WaitGroup
		for i := range 100 {
			k := a
			if i%2 == 1 {
				k = b
			}
			wg.Go(func() {
				if out, err := k.Admit(k.Context(), core.Intake{Entries: []core.Entry{said(fmt.Sprint(i), "x")}}); err != nil || out[0].Err != nil {
					k.Error(err, out)
				}
			})
		}
		wg.Wait()
		a.equal(a.balanced().Queued, int64(100))
		a.equal(b.balanced().Queued, int64(100))
	}},
}

// race runs fn on both handles at once and returns how many had no error.
func race(a, b kit, fn func(kit) error) int {
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, k := range []kit{a, b} {
		wg.Go(func() { errs[i] = fn(k) })
	}
	wg.Wait()
	n := 0
	for _, err := range errs {
		if err == nil {
			n++
		}
	}
	return n
}
