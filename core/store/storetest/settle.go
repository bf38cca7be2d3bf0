package storetest

import (
	"time"

	"bellhop/core"
)

var settleTests = []test{
	{"everything in one commit", func(k kit) {
		as := k.queues(2)
		f, c := k.start(as[0].Conversation, "t")
		o := answered
		o.Usage = core.Usage{Calls: 2, Input: 10, Output: 5, CacheRead: 3, CacheWrite: 1, Reasoning: 4, Cost: 0.5, Estimated: true}
		more := must(k.Settle(k.Context(), f, as[0].ID, core.Settlement{Outcome: o,
			Tail:       []core.Message{{Role: core.RoleAssistant, Content: "done", Admission: as[0].ID}},
			Events:     []core.Event{{Seq: c.Events, EventBody: core.EventBody{Type: core.MessageComplete, Text: "done"}}},
			Deliveries: []core.Delivery{{ID: "d", Kind: core.DeliverFinal, State: core.DeliveryOwed, Route: here, Text: "done"}}}))(k)
		if !more {
			k.Fatal("a row still waits")
		}
		got := k.stored(as[0].ID)
		if got.Status != core.Terminal || got.Outcome != o || got.Settled.IsZero() {
			k.Fatalf("%+v", got)
		}
		k.equal(texts(must(k.Load(k.Context(), f.Conversation))(k)), []string{"done"})
		k.equal(must(k.Since(k.Context(), f.Conversation, 0, 9))(k)[0].Text, "done")
		d := must(k.Outbox().Of(k.Context(), as[0].ID))(k)
		if len(d) != 1 || d[0].Turn != "t" || d[0].Conversation != f.Conversation {
			k.Fatalf("%+v", d)
		}
		k.want(k.Holds(k.Context(), f), core.Stale)
		cv := must(k.Lookup(k.Context(), "chat:1"))(k)
		if cv.Turns != 1 || cv.Usage != o.Usage || cv.History != 1 {
			k.Fatalf("%+v", cv)
		}
		f, c = k.start(f.Conversation, "u")
		must(k.Settle(k.Context(), f, c.Admission.ID, core.Settlement{Outcome: o}))(k)
		cv = must(k.Lookup(k.Context(), "chat:1"))(k)
		k.equal(cv.Usage, o.Usage.Add(o.Usage))
		k.equal(cv.Turns, int64(2))
	}},
	{"nothing when a part fails", func(k kit) {
		a := k.queue(said("1", "x"))
		f, c := k.start(a.Conversation, "t")
		_, err := k.Settle(k.Context(), f, a.ID, core.Settlement{Outcome: answered,
			Tail:   []core.Message{{Role: core.RoleAssistant, Content: "done"}},
			Events: []core.Event{{EventBody: core.EventBody{Type: core.MessageComplete}}}}) // an event without a number
		k.want(err, core.Invalid)
		k.equal(k.stored(a.ID).Status, core.Started)
		k.ok(k.Holds(k.Context(), f))
		if ms := must(k.Load(k.Context(), a.Conversation))(k); len(ms) != 0 {
			k.Fatalf("%+v", ms)
		}
		k.balanced()
		k.answer(f, c)
	}},
	{"only what this lease has started", func(k kit) {
		as := k.queues(2)
		b := k.queue(in("2", said("1", "x")))
		f, _ := k.start(as[0].Conversation, "t")
		k.start(b.Conversation, "u")
		for _, id := range []core.AdmissionID{as[1].ID, b.ID, "none"} {
			_, err := k.Settle(k.Context(), f, id, core.Settlement{Outcome: answered})
			k.want(err, core.Conflict)
		}
		k.ok(k.Holds(k.Context(), f))
		k.balanced()
	}},
	{"once", func(k kit) {
		a := k.queue(said("1", "x"))
		f, c := k.start(a.Conversation, "t")
		k.answer(f, c)
		_, err := k.Settle(k.Context(), f, a.ID, core.Settlement{Outcome: gone})
		k.want(err, core.Stale)
		k.equal(k.stored(a.ID).Outcome, answered)
	}},
	{"a preview becomes the final", func(k kit) {
		a := k.queue(said("1", "x"))
		f, _ := k.start(a.Conversation, "t")
		d := core.Delivery{ID: "p", Conversation: a.Conversation, Admission: a.ID, Turn: "t", Kind: core.DeliverPreview, State: core.DeliveryLive,
			Route: here, Parts: []core.Part{{Ref: "55", Sent: 1}}}
		k.ok(k.Outbox().Put(k.Context(), d))
		final := d
		final.Kind, final.Text, final.Parts, final.LiveUntil = core.DeliverFinal, "done", nil, time.Now().Add(30*time.Second)
		must(k.Settle(k.Context(), f, a.ID, core.Settlement{Outcome: answered, Deliveries: []core.Delivery{final}}))(k)
		got := must(k.Outbox().Of(k.Context(), a.ID))(k)
		if len(got) != 1 || got[0].Kind != core.DeliverFinal || got[0].Text != "done" || len(got[0].Parts) != 1 || got[0].Parts[0].Ref != "55" {
			k.Fatalf("%+v", got)
		}
	}},
}
