package storetest

import (
	"time"

	"bellhop/core"
)

var queueTests = []test{
	{"cancel some, or all that wait", func(k kit) {
		as := k.queues(4)
		c := as[0].Conversation
		k.start(c, "t")
		out := must(k.Cancel(k.Context(), c, gone, as[0].ID, as[2].ID))(k) // the started one is left alone
		k.equal(ids(out), []core.AdmissionID{as[2].ID})
		k.equal(k.stored(as[2].ID).Outcome, gone)
		out = must(k.Cancel(k.Context(), c, gone))(k)
		k.equal(ids(out), []core.AdmissionID{as[1].ID, as[3].ID})
		k.equal(k.waiting(c), []core.AdmissionID{as[0].ID})
		if out = must(k.Cancel(k.Context(), c, gone))(k); len(out) != 0 {
			k.Fatal("ended twice")
		}
		census := k.balanced()
		k.equal(census.Results[core.Cancelled], int64(3))
		k.equal(census.Started, int64(1))
	}},
	{"cancel stays in its conversation", func(k kit) {
		a, b := k.queue(said("1", "x")), k.queue(in("2", said("2", "y")))
		must(k.Cancel(k.Context(), a.Conversation, gone))(k)
		k.equal(k.stored(b.ID).Status, core.Queued)
	}},
	{"move", func(k kit) {
		as := k.queues(4)
		c := as[0].Conversation
		id := ids(as)
		for _, m := range []struct {
			id    core.AdmissionID
			place int
			want  []core.AdmissionID
		}{
			{id[3], 0, []core.AdmissionID{id[3], id[0], id[1], id[2]}},
			{id[3], 2, []core.AdmissionID{id[0], id[1], id[3], id[2]}},
			{id[0], 99, []core.AdmissionID{id[1], id[3], id[2], id[0]}},
			{id[0], -1, id[:0:0]},
		} {
			k.ok(k.Move(k.Context(), m.id, m.place))
			if len(m.want) > 0 {
				k.equal(k.waiting(c), m.want)
			}
		}
		_, claim := k.start(c, "t")
		k.equal(claim.Admission.ID, id[0])
		k.want(k.Move(k.Context(), id[0], 1), core.Conflict)
		k.ok(k.Move(k.Context(), id[2], 0)) // among the waiting rows only
		k.equal(k.waiting(c), []core.AdmissionID{id[0], id[2], id[1], id[3]})
		k.want(k.Move(k.Context(), "none", 0), core.NotFound)
	}},
	{"unhold", func(k kit) {
		a := k.queue(part("1", "long"))
		k.want(claimErr(k, a.Conversation), core.Busy)
		k.ok(k.Unhold(k.Context(), a.ID))
		k.start(a.Conversation, "t")
		k.want(k.Unhold(k.Context(), a.ID), core.Conflict)
	}},
	{"pending", func(k kit) {
		if p := must(k.Pending(k.Context()))(k); len(p) != 0 {
			k.Fatal(p)
		}
		a := k.queue(part("1", "held"))
		b := k.queue(in("2", said("2", "lost")))
		c := k.queue(in("3", said("3", "running")))
		k.start(b.Conversation, "t")
		k.vanish()
		k.start(c.Conversation, "u")
		got := map[core.ConversationID]core.Pending{}
		for _, p := range must(k.Pending(k.Context()))(k) {
			got[p.Conversation] = p
		}
		k.equal(got, map[core.ConversationID]core.Pending{
			a.Conversation: {Conversation: a.Conversation, At: a.HoldUntil},
			b.Conversation: {Conversation: b.Conversation, Unknown: true},
		})
	}},
	{"lists", func(k kit) {
		as := k.queues(3)
		b := k.queue(in("2", said("9", "x")))
		c := as[0].Conversation
		f, claim := k.start(c, "t")
		k.answer(f, claim)
		k.equal(k.waiting(c), ids(as[1:]))
		k.equal(k.waiting(""), append(ids(as[1:]), b.ID))
		k.equal(ids(must(k.Recent(k.Context(), c, 2))(k)), []core.AdmissionID{as[2].ID, as[1].ID})
		k.equal(ids(must(k.Recent(k.Context(), "", 10))(k)), []core.AdmissionID{b.ID, as[2].ID, as[1].ID, as[0].ID})
		k.equal(must(k.AdmissionOf(k.Context(), "t"))(k).ID, as[0].ID)
		_, err := k.AdmissionOf(k.Context(), "none")
		k.want(err, core.NotFound)
		_, err = k.Admission(k.Context(), "none")
		k.want(err, core.NotFound)
	}},
	{"census", func(k kit) {
		k.equal(k.balanced(), core.Census{Results: map[core.Result]int64{}})
		as := k.queues(4)
		time.Sleep(time.Minute)
		f, c := k.start(as[0].Conversation, "t")
		k.answer(f, c)
		k.start(as[0].Conversation, "u")
		got := k.balanced()
		k.equal(got, core.Census{Accepted: 4, Queued: 2, Started: 1, Terminal: 1, OldestQueued: as[2].Created,
			Results: map[core.Result]int64{core.Completed: 1}})
		k.vanish()
		if got = k.balanced(); got.Unknown != 1 || got.Started != 0 {
			k.Fatalf("%+v", got)
		}
	}},
	{"retention keeps the receipt", func(k kit) {
		as := k.queues(2)
		f, c := k.start(as[0].Conversation, "t")
		k.answer(f, c)
		time.Sleep(time.Hour)
		if n := must(k.Retention(k.Context(), time.Now().Add(-2*time.Hour)))(k); n != 0 {
			k.Fatalf("trimmed %d too young ones", n)
		}
		k.equal(must(k.Retention(k.Context(), time.Now()))(k), 1)
		k.equal(must(k.Retention(k.Context(), time.Now()))(k), 0)
		got := k.stored(as[0].ID)
		if got.Submission.Text != "" || got.Submission.Route != here || got.Outcome.Result != core.Completed {
			k.Fatalf("%+v", got)
		}
		k.equal(k.stored(as[1].ID).Submission.Text, "message 2")
		if repeat := k.admit(said("1", "message 1"))[0]; repeat.Fresh {
			k.Fatal("an old message ran again")
		}
	}},
}
