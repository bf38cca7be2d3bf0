package storetest

import (
	"errors"
	"time"

	"bellhop/core"
)

var claimTests = []test{
	{"in order, one at a time", func(k kit) {
		as := k.queues(3)
		c := as[0].Conversation
		var block int64
		for i, a := range as {
			f := k.acquire(c, core.TurnID("t"+string(rune('0'+i))))
			claim := must(k.ClaimNext(k.Context(), f))(k)
			got := k.stored(a.ID)
			k.equal(got, claim.Admission)
			if got.Status != core.Started || got.Turn != f.Turn || got.Generation != f.Generation || got.Claimed.IsZero() {
				k.Fatalf("%+v", got)
			}
			k.equal(claim.Queued, len(as)-1-i)
			k.equal(claim.Session, core.SessionID(c))
			if claim.Events < block+core.EventBlock && i > 0 || claim.Events < 1 {
				k.Fatalf("block %d after %d", claim.Events, block)
			}
			block = claim.Events
			_, err := k.ClaimNext(k.Context(), f)
			k.want(err, core.Busy)
			more := must(k.Settle(k.Context(), f, a.ID, core.Settlement{Outcome: answered}))(k)
			k.equal(more, i < len(as)-1)
		}
		k.want(claimErr(k, c), core.NotFound)
	}},
	{"a held head holds the queue", func(k kit) {
		a := k.queue(part("1", "long"))
		b := said("2", "short")
		b.By = bob
		k.queue(b)
		f := k.acquire(a.Conversation, "t")
		_, err := k.ClaimNext(k.Context(), f)
		k.want(err, core.Busy)
		var wait *core.Wait
		if !errors.As(err, &wait) || !wait.Until.Equal(a.HoldUntil) {
			k.Fatalf("%v", err)
		}
		time.Sleep(time.Until(wait.Until))
		k.equal(must(k.ClaimNext(k.Context(), f))(k).Admission.ID, a.ID)
	}},
	{"an unknown head holds the queue", func(k kit) {
		as := k.queues(2)
		k.start(as[0].Conversation, "t")
		k.vanish()
		err := claimErr(k, as[0].Conversation)
		k.want(err, core.Busy)
		if errors.As(err, new(*core.Wait)) {
			k.Fatal("nobody knows until when")
		}
	}},
	{"conversations do not wait for each other", func(k kit) {
		a, b := k.queue(said("1", "x")), k.queue(in("2", said("2", "y")))
		k.start(a.Conversation, "t")
		k.start(b.Conversation, "u")
	}},
	{"events are never numbered twice", func(k kit) {
		a := k.queue(said("1", "x"))
		first := must(k.Reserve(k.Context(), a.Conversation, 3))(k)
		f, c := k.start(a.Conversation, "t")
		k.answer(f, c)
		last := must(k.Reserve(k.Context(), a.Conversation, 1))(k)
		if first != 1 || c.Events != 4 || last != 4+core.EventBlock {
			k.Fatal(first, c.Events, last)
		}
	}},
}
