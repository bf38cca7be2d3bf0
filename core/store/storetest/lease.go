package storetest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"bellhop/core"
)

func alive(core.Holder) bool { return true }
func dead(core.Holder) bool  { return false }

var leaseTests = []test{
	{"one holder", func(k kit) {
		c := k.queue(said("1", "x")).Conversation
		l := must(k.Acquire(k.Context(), c, "t", holder, ttl, alive))(k)
		if !l.Expires.Equal(time.Now().Add(ttl).Truncate(time.Millisecond)) || l.TTL != ttl || l.Fence.Turn != "t" || l.Fence.Token == "" {
			k.Fatalf("%+v", l)
		}
		_, err := k.Acquire(k.Context(), c, "u", other, ttl, alive)
		k.want(err, core.Busy)
		var held *core.Held
		if !errors.As(err, &held) || held.By != holder || held.Turn != "t" || !held.Expires.Equal(l.Expires) {
			k.Fatalf("%+v", held)
		}
		k.equal(must(k.Leases(k.Context()))(k), []core.Lease{l})
		k.ok(k.Release(k.Context(), l.Fence))
		if ls := must(k.Leases(k.Context()))(k); len(ls) != 0 {
			k.Fatalf("%+v", ls)
		}
		must(k.Acquire(k.Context(), c, "u", other, ttl, alive))(k)
	}},
	{"many ask, one gets it", func(k kit) {
		c := k.queue(said("1", "x")).Conversation
		var got sync.Map
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				l, err := k.Acquire(k.Context(), c, "t", other, ttl, alive)
				if err == nil {
					got.Store(i, l)
				} else if !core.Is(err, core.Busy) {
					k.Error(err)
				}
			})
		}
		wg.Wait()
		n := 0
		got.Range(func(any, any) bool { n++; return true })
		k.equal(n, 1)
	}},
	{"the generation never goes back", func(k kit) { // C162
		c := k.queue(said("1", "x")).Conversation
		var last core.Fence
		var tokens []string
		for range 4 {
			f := k.acquire(c, "t")
			if f.Generation <= last.Generation || slices.Contains(tokens, f.Token) {
				k.Fatalf("%+v after %+v", f, last)
			}
			last, tokens = f, append(tokens, f.Token)
			k.ok(k.Release(k.Context(), f))
		}
	}},
	{"renew extends", func(k kit) {
		f := k.acquire(k.queue(said("1", "x")).Conversation, "t")
		for range 10 {
			time.Sleep(ttl - time.Second)
			l := must(k.Renew(k.Context(), f, ttl))(k)
			if l.Fence != f || l.Holder != holder || !l.Expires.Equal(time.Now().Add(ttl).Truncate(time.Millisecond)) {
				k.Fatalf("%+v", l)
			}
			k.ok(k.Holds(k.Context(), f))
		}
	}},
	{"an expired lease is nobody's", func(k kit) {
		a := k.queue(said("1", "x"))
		f := k.acquire(a.Conversation, "t")
		time.Sleep(ttl)
		_, err := k.Renew(k.Context(), f, ttl)
		k.want(err, core.Stale)
		k.want(k.Holds(k.Context(), f), core.Stale)
		_, err = k.ClaimNext(k.Context(), f, nil)
		k.want(err, core.Stale)
		_, err = k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Content: "x"}}})
		k.want(err, core.Stale)
		if ls := must(k.Leases(k.Context()))(k); len(ls) != 0 {
			k.Fatalf("%+v", ls)
		}
	}},
	{"an answer that comes late is stored while nobody took over", func(k kit) {
		a := k.queue(said("1", "x"))
		f, c := k.start(a.Conversation, "t")
		time.Sleep(2 * ttl)
		k.answer(f, c)
		k.equal(k.stored(a.ID).Outcome, answered)
	}},
	{"a superseded fence can do nothing", func(k kit) { // C162
		a := k.queue(said("1", "x"))
		old, c := k.start(a.Conversation, "t")
		time.Sleep(2 * ttl)
		l := must(k.Acquire(k.Context(), a.Conversation, "u", holder, ttl, alive))(k) // the same process name
		fencedOut(k, old, c)
		k.ok(k.Holds(k.Context(), l.Fence))
		k.equal(k.stored(a.ID).Status, core.Unknown)
		if ms := must(k.Load(k.Context(), a.Conversation))(k); len(ms) != 0 {
			k.Fatalf("wrote %+v", ms)
		}
	}},
	{"a released fence can do nothing", func(k kit) {
		a := k.queue(said("1", "x"))
		f, c := k.start(a.Conversation, "t")
		k.answer(f, c)
		fencedOut(k, f, c)
		fencedOut(k, core.Fence{Conversation: a.Conversation, Generation: f.Generation}, c) // the empty token of a free lease
	}},
	{"a dead holder is superseded at once", func(k kit) {
		a := k.queue(said("1", "x"))
		old, c := k.start(a.Conversation, "t")
		_, err := k.Acquire(k.Context(), a.Conversation, "u", other, ttl, func(h core.Holder) bool { return h != holder })
		k.ok(err)
		k.equal(k.stored(a.ID).Status, core.Unknown)
		fencedOut(k, old, c)
	}},
	{"acquiring leaves waiting rows alone", func(k kit) {
		as := k.queues(2)
		f := k.acquire(as[0].Conversation, "t")
		k.ok(k.Release(k.Context(), f))
		k.acquire(as[0].Conversation, "u")
		k.equal(k.balanced().Queued, int64(2))
	}},
	{"no conversation, no lease", func(k kit) {
		_, err := k.Acquire(k.Context(), "20260101_000000_aaaaaa", "t", holder, ttl, nil)
		k.want(err, core.NotFound)
		_, err = k.Acquire(k.Context(), k.queue(said("1", "x")).Conversation, "t", holder, 0, nil)
		k.want(err, core.Invalid)
	}},
	{"orphans", func(k kit) {
		a, b, c := k.queue(said("1", "x")), k.queue(in("2", said("2", "y"))), k.queue(in("3", said("3", "z")))
		old, claim := k.start(a.Conversation, "t")
		k.start(b.Conversation, "u")
		if got := must(k.Orphan(k.Context(), alive))(k); len(got) != 0 {
			k.Fatalf("%+v", got)
		}
		time.Sleep(ttl)
		k.start(c.Conversation, "v")
		got := must(k.Orphan(k.Context(), alive))(k) // a and b have expired
		k.equal(ids(got), []core.AdmissionID{a.ID, b.ID})
		k.equal(got[0].Status, core.Unknown)
		fencedOut(k, old, claim)
		k.equal(ids(must(k.Orphan(k.Context(), dead))(k)), []core.AdmissionID{c.ID})
		if got := must(k.Orphan(k.Context(), dead))(k); len(got) != 0 {
			k.Fatalf("%+v", got)
		}
		k.acquire(c.Conversation, "w") // its lease is free
	}},
}

// fencedOut checks that a fence that is over can change nothing.
func fencedOut(k kit, f core.Fence, c core.Claim) {
	k.Helper()
	before := k.stored(c.Admission.ID)
	leases := must(k.Leases(k.Context()))(k)
	_, err := k.Renew(k.Context(), f, ttl)
	k.want(err, core.Stale)
	k.want(k.Holds(k.Context(), f), core.Stale)
	_, err = k.ClaimNext(k.Context(), f, nil)
	k.want(err, core.Stale)
	_, err = k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleAssistant, Content: "late"}}, Sync: true})
	k.want(err, core.Stale)
	_, err = k.OpenSession(k.Context(), f, core.Session{ID: "late", SystemPrompt: "late"})
	k.want(err, core.Stale)
	_, err = k.Settle(k.Context(), f, c.Admission.ID, core.Settlement{Outcome: answered, Tail: []core.Message{{Role: core.RoleAssistant, Content: "late"}}})
	k.want(err, core.Stale)
	k.ok(k.Release(k.Context(), f)) // does nothing
	k.equal(must(k.Leases(k.Context()))(k), leases)
	k.equal(k.stored(c.Admission.ID), before)
}
