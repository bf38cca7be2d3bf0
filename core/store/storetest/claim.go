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
			claim := must(k.ClaimNext(k.Context(), f, nil))(k)
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
			_, err := k.ClaimNext(k.Context(), f, nil)
			k.want(err, core.Busy)
			more := must(k.Settle(k.Context(), f, a.ID, core.Settlement{Outcome: answered}))(k)
			k.equal(more, i < len(as)-1)
		}
		k.want(claimErr(k, c), core.NotFound)
	}},
	{"the beginning is stored with the claim", func(k kit) {
		a := k.queue(said("1", "hello"))
		f := k.acquire(a.Conversation, "t")
		opening := func(a core.Admission) core.Opening {
			return core.Opening{Messages: []core.Message{{Role: core.RoleUser, Content: a.Submission.Text}},
				Events: []core.EventBody{{Type: core.MessageStart}}}
		}
		claim := must(k.ClaimNext(k.Context(), f, opening))(k)
		heard := must(k.Load(k.Context(), a.Conversation))(k)
		if len(heard) != 1 || heard[0].Content != "hello" || heard[0].Admission != a.ID || heard[0].Turn != f.Turn {
			k.Fatalf("%+v", heard)
		}
		k.equal(claim.Heard, heard)
		news := must(k.Since(k.Context(), a.Conversation, 0, 10))(k)
		if len(news) != 1 || news[0].Type != core.MessageStart || news[0].Seq != claim.Events || news[0].Turn != f.Turn {
			k.Fatalf("%+v", news)
		}
		k.equal(claim.News, news)
		k.equal(claim.Conversation, must(k.Conversation(k.Context(), string(a.Conversation), ""))(k))
		k.equal(claim.Conversation.History, int64(1))
		again := must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Admission: a.ID, Content: "other"}}}))(k)
		k.equal(again, heard)
	}},
	{"a claim brings the session row", func(k kit) {
		as := k.queues(2)
		f, claim := k.start(as[0].Conversation, "t1")
		if claim.Opened != nil {
			k.Fatalf("%+v", claim.Opened)
		}
		row := must(k.OpenSession(k.Context(), f, core.Session{ID: claim.Session, SystemPrompt: "be kind"}))(k)
		must(k.Settle(k.Context(), f, as[0].ID, core.Settlement{Outcome: answered}))(k)
		_, claim = k.start(as[1].Conversation, "t2")
		if claim.Opened == nil {
			k.Fatal("no session")
		}
		k.equal(*claim.Opened, row)
	}},
	{"lease and claim in one write", func(k kit) {
		as := k.queues(1)
		c := as[0].Conversation
		start := func(turn core.TurnID) (core.Lease, *core.Claim, error) {
			return k.Start(k.Context(), c, turn, holder, ttl, nil, nil)
		}
		l, claim, err := start("t1")
		k.ok(err)
		if claim == nil || claim.Admission.ID != as[0].ID || claim.Admission.Turn != "t1" || claim.Admission.Generation != l.Fence.Generation {
			k.Fatalf("%+v", claim)
		}
		k.equal(k.stored(as[0].ID), claim.Admission)
		_, claim, err = start("t2")
		k.want(err, core.Busy)
		if claim != nil {
			k.Fatalf("%+v", claim)
		}
		k.ok(k.Release(k.Context(), l.Fence))
		l, claim, err = start("t3") // the row that was left started is unknown now, and in the way
		k.ok(err)
		if claim != nil || k.stored(as[0].ID).Status != core.Unknown {
			k.Fatalf("%+v", claim)
		}
		k.ok(k.Holds(k.Context(), l.Fence))
	}},
	{"a held head holds the queue", func(k kit) {
		a := k.queue(part("1", "long"))
		b := said("2", "short")
		b.By = bob
		k.queue(b)
		f := k.acquire(a.Conversation, "t")
		_, err := k.ClaimNext(k.Context(), f, nil)
		k.want(err, core.Busy)
		var wait *core.Wait
		if !errors.As(err, &wait) || !wait.Until.Equal(a.HoldUntil) {
			k.Fatalf("%v", err)
		}
		time.Sleep(time.Until(wait.Until))
		k.equal(must(k.ClaimNext(k.Context(), f, nil))(k).Admission.ID, a.ID)
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
