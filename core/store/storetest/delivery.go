package storetest

import (
	"fmt"
	"time"

	"bellhop/core"
)

func owed(id, chat string) core.Delivery {
	return core.Delivery{ID: core.DeliveryID(id), Kind: core.DeliverNotice, State: core.DeliveryOwed, Text: "text " + id,
		Route: core.Route{Platform: "chat", Chat: chat}}
}

// due takes what is due and returns the ids.
func (k kit) due(limit int) (out []string) {
	k.Helper()
	for _, d := range must(k.Outbox().Due(k.Context(), time.Now(), time.Minute, limit))(k) {
		out = append(out, string(d.ID))
	}
	return out
}

func (k kit) delivery(q core.QuestionID) core.Delivery {
	k.Helper()
	ds := must(k.Outbox().For(k.Context(), q))(k)
	if len(ds) != 1 {
		k.Fatalf("%d rows", len(ds))
	}
	return ds[0]
}

var deliveryTests = []test{
	{"seized", func(k kit) {
		out := k.Outbox()
		live := func(id string, st core.DeliveryState, until, after time.Duration) core.Delivery {
			d := owed(id, "1")
			d.State = st
			if until > 0 {
				d.LiveUntil = time.Now().Add(until)
			}
			if after > 0 {
				d.NotBefore = time.Now().Add(after)
			}
			return d
		}
		for _, d := range []core.Delivery{live("a", core.DeliveryLive, time.Minute, 0), live("b", core.DeliverySending, time.Minute, 0),
			live("c", core.DeliveryLive, 0, 0), live("d", core.DeliveryOwed, time.Minute, 2*time.Minute)} {
			if err := out.Put(k.Context(), d); err != nil {
				k.Fatal(err)
			}
		}
		k.equal(k.due(9), []string(nil))
		if err := out.Seize(k.Context(), "somebody else"); err != nil {
			k.Fatal(err)
		}
		k.equal(k.due(9), []string(nil))
		if err := out.Seize(k.Context()); err != nil {
			k.Fatal(err)
		}
		got := must(out.Due(k.Context(), time.Now(), time.Minute, 9))(k) // one target: in their order
		if len(got) != 1 || got[0].ID != "a" || got[0].State != core.DeliveryOwed {
			k.Fatalf("%+v", got)
		}
		got[0].State = core.DeliveryDelivered
		if err := out.Save(k.Context(), got...); err != nil {
			k.Fatal(err)
		}
		if got = must(out.Due(k.Context(), time.Now(), time.Minute, 9))(k); len(got) != 1 || got[0].ID != "b" || got[0].State != core.DeliverySending {
			k.Fatalf("%+v", got)
		}
		got[0].State = core.DeliveryDelivered
		if err := out.Save(k.Context(), got...); err != nil {
			k.Fatal(err)
		}
		k.equal(k.due(9), []string(nil)) // c has no owner's time, d waits for its own
	}},
	{"hastened", func(k kit) {
		out := k.Outbox()
		wait := func(id, chat string, edit func(*core.Delivery)) {
			d := owed(id, chat)
			d.NotBefore, d.Error = time.Now().Add(time.Minute), "no answer"
			edit(&d)
			if err := out.Put(k.Context(), d); err != nil {
				k.Fatal(err)
			}
		}
		wait("failed", "1", func(*core.Delivery) {})
		wait("refused for a while", "2", func(d *core.Delivery) { d.Error = "" })
		wait("elsewhere", "3", func(d *core.Delivery) { d.Route.Platform = "chat/work" })
		wait("owned", "4", func(d *core.Delivery) { d.State, d.LiveUntil = core.DeliverySending, d.NotBefore })
		k.equal(k.due(9), []string(nil))
		wait("failed later", "5", func(d *core.Delivery) { d.NotBefore, d.Question = d.NotBefore.Add(time.Second), "q" })
		k.ok(out.Hasten(k.Context(), "chat", time.Now(), 1))
		k.equal(k.due(9), []string{"failed"})
		k.ok(out.Hasten(k.Context(), "chat", time.Now(), 0))
		k.equal(k.due(9), []string{"failed later"})
		k.equal(k.delivery("q").NotBefore, time.Now().Add(time.Minute+time.Second).Truncate(time.Millisecond))
	}},
	{"set aside", func(k kit) {
		out := k.Outbox()
		for _, id := range []string{"a", "b"} {
			if err := out.Put(k.Context(), owed(id, "1")); err != nil {
				k.Fatal(err)
			}
		}
		k.equal(k.due(9), []string{"a"})
		a := owed("a", "1")
		a.NotBefore = time.Now().Add(time.Hour)
		if err := out.Aside(k.Context(), a); err != nil {
			k.Fatal(err)
		}
		k.equal(k.due(9), []string{"b"})
		owing := must(out.Owing(k.Context(), core.DeliverNotice, 9))(k)
		if len(owing) != 2 || owing[1].ID != "a" || owing[1].Route.Chat != "1" || !owing[1].Aside || owing[0].Aside {
			k.Fatalf("%+v", owing)
		}
		k.equal(len(must(out.Owing(k.Context(), core.DeliverFinal, 9))(k)), 0)
		time.Sleep(time.Hour)
		k.equal(k.due(9), []string{"b", "a"}) // b's owner had its time, and neither waits for the other
		a.State = core.DeliveryDelivered
		if err := out.Save(k.Context(), a); err != nil {
			k.Fatal(err)
		}
		if err := out.Aside(k.Context(), a); !core.Is(err, core.Conflict) {
			k.Fatal(err)
		}
	}},
	{"round trip", func(k kit) {
		d := owed("d", "1")
		d.Conversation, d.Admission, d.Turn, d.Question = "c", "a", "t", "q"
		d.Buttons = []core.Button{{Label: "Stop", Data: "stop:a", Style: "danger", Row: 1}}
		d.Media = []core.Media{{Kind: "photo", Path: "/p"}}
		d.Parts = []core.Part{{Ref: "1", Hash: "h", Sent: 1}, {Sent: 1}}
		d.Attempts, d.Error = 2, "flood"
		d.NotBefore = time.Now().Add(time.Second).Truncate(time.Millisecond)
		d.Created = time.Now().Truncate(time.Millisecond)
		k.ok(k.Outbox().Put(k.Context(), d))
		k.equal(k.delivery("q"), d)
		k.equal(must(k.Outbox().Of(k.Context(), "a"))(k), []core.Delivery{d})
		k.want(k.Outbox().Put(k.Context(), d), core.Conflict)
		k.want(k.Outbox().Put(k.Context(), owed("e", "1"), d), core.Conflict)
		k.equal(must(k.Outbox().Owed(k.Context()))(k), map[core.DeliveryState]int64{core.DeliveryOwed: 1})
	}},
	{"finished rows never change again", func(k kit) {
		for i, st := range []core.DeliveryState{core.DeliveryDelivered, core.DeliveryDead} {
			d := owed(fmt.Sprint("d", i), fmt.Sprint(i))
			d.Question = core.QuestionID(d.ID)
			k.ok(k.Outbox().Put(k.Context(), d))
			d.State, d.Parts = st, []core.Part{{Ref: "9"}}
			k.ok(k.Outbox().Save(k.Context(), d))
			got := k.delivery(d.Question)
			if got.State != st || got.Parts[0].Ref != "9" || got.Done.IsZero() || got.Text != d.Text {
				k.Fatalf("%+v", got)
			}
			d.State = core.DeliveryOwed
			k.want(k.Outbox().Save(k.Context(), d), core.Conflict)
			k.equal(k.delivery(d.Question), got)
		}
		k.want(k.Outbox().Save(k.Context(), owed("none", "1")), core.NotFound)
	}},
	{"a save is all or nothing", func(k kit) {
		a, b := owed("a", "1"), owed("b", "2")
		a.Question = "q"
		k.ok(k.Outbox().Put(k.Context(), a, b))
		b.State = core.DeliveryDelivered
		k.ok(k.Outbox().Save(k.Context(), b))
		a.State = core.DeliveryDelivered
		k.want(k.Outbox().Save(k.Context(), a, b), core.Conflict)
		k.equal(k.delivery("q").State, core.DeliveryOwed)
	}},
	{"one at a time and in order per route", func(k kit) {
		k.ok(k.Outbox().Put(k.Context(), owed("a1", "a"), owed("a2", "a"), owed("b1", "b"), owed("a3", "a")))
		k.equal(k.due(10), []string{"a1", "b1"})
		k.equal(k.due(10), []string(nil)) // both are out
		k.equal(must(k.Outbox().Next(k.Context()))(k), time.Now().Add(time.Minute).Truncate(time.Millisecond))
		a1 := owed("a1", "a")
		a1.State = core.DeliveryDelivered
		k.ok(k.Outbox().Save(k.Context(), a1))
		k.equal(k.due(10), []string{"a2"})
		a2 := owed("a2", "a")
		a2.NotBefore = time.Now().Add(time.Hour) // a flood wait holds the whole chat
		k.ok(k.Outbox().Save(k.Context(), a2))
		k.equal(k.due(10), []string(nil))
		time.Sleep(time.Hour)
		k.equal(k.due(1), []string{"b1"}) // has waited longer
		k.equal(k.due(1), []string{"a2"})
	}},
	{"threads have an order of their own", func(k kit) {
		a, b := owed("a", "1"), owed("b", "1")
		b.Route.Thread = "7"
		k.ok(k.Outbox().Put(k.Context(), a, b))
		k.equal(k.due(10), []string{"a", "b"})
	}},
	{"what was taken comes back when its taker is gone", func(k kit) {
		d := owed("d", "1")
		d.Question = "q"
		k.ok(k.Outbox().Put(k.Context(), d))
		k.equal(k.due(1), []string{"d"})
		d.State, d.LiveUntil = core.DeliverySending, time.Now().Add(time.Minute)
		d.Parts = []core.Part{{Sent: 1}}
		k.ok(k.Outbox().Save(k.Context(), d))
		k.equal(k.due(1), []string(nil))
		time.Sleep(time.Minute)
		k.equal(k.due(1), []string{"d"})
		if got := k.delivery("q"); got.State != core.DeliverySending || got.Parts[0].Sent != 1 { // the fate of the attempt is unknown
			k.Fatalf("%+v", got)
		}
	}},
	{"a live row is its consumer's until the deadline", func(k kit) {
		d := owed("final", "1")
		d.Question, d.Kind, d.State, d.LiveUntil = "q", core.DeliverFinal, core.DeliveryLive, time.Now().Add(30*time.Second)
		eternal := owed("preview", "1")
		eternal.Kind, eternal.State = core.DeliverPreview, core.DeliveryLive
		k.ok(k.Outbox().Put(k.Context(), eternal, d, owed("later", "1")))
		k.equal(k.due(9), []string{"later"}) // a live row stands in nobody's way
		later := owed("later", "1")
		later.State = core.DeliveryDelivered
		k.ok(k.Outbox().Save(k.Context(), later))
		k.equal(k.due(9), []string(nil))
		k.equal(must(k.Outbox().Next(k.Context()))(k), d.LiveUntil.Truncate(time.Millisecond))
		time.Sleep(30 * time.Second)
		k.equal(k.due(9), []string{"final"})
		k.equal(k.delivery("q").State, core.DeliveryOwed)
	}},
	{"next", func(k kit) {
		if at := must(k.Outbox().Next(k.Context()))(k); !at.IsZero() {
			k.Fatal(at)
		}
		d := owed("d", "1")
		d.NotBefore = time.Now().Add(time.Hour).Truncate(time.Millisecond)
		k.ok(k.Outbox().Put(k.Context(), d))
		k.equal(must(k.Outbox().Next(k.Context()))(k), d.NotBefore)
		k.ok(k.Outbox().Put(k.Context(), owed("e", "2")))
		if at := must(k.Outbox().Next(k.Context()))(k); at.IsZero() || at.After(time.Now()) {
			k.Fatal(at)
		}
	}},
	{"undelivered and forgotten", func(k kit) {
		settle := func(e core.Entry, o core.Outcome, ds ...core.Delivery) core.AdmissionID {
			a := k.queue(e)
			f, _ := k.start(a.Conversation, core.TurnID(a.ID))
			must(k.Settle(k.Context(), f, a.ID, core.Settlement{Outcome: o, Deliveries: ds}))(k)
			return a.ID
		}
		settle(said("1", "owed"), answered, owed("d1", "1"))
		missing := settle(said("2", "lost"), answered)
		silent := answered
		silent.Reason = core.ReasonSilent
		settle(said("3", "silent"), silent)
		e := said("4", "pulled by a client")
		e.Submission.Route = core.Route{}
		settle(e, answered)
		e = said("6", "a bot's")
		e.Submission.Display = map[string]string{"author": "bot"}
		settle(e, core.Outcome{Result: core.Failed, Reason: core.ReasonProvider, Text: "sorry"})
		settle(said("7", "stopped before a word"), core.Outcome{Result: core.Interrupted, Reason: core.ReasonStopped})
		e = said("5", "/help")
		e.Terminal = &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}
		k.queue(e)
		taken := owed("d2", "1")
		taken.State = core.DeliveryMoved
		over := settle(said("8", "taken over by nobody"), answered, taken)
		k.equal(must(k.Outbox().Undelivered(k.Context()))(k), []core.AdmissionID{missing, over})
		d := owed("d1", "1")
		d.State = core.DeliveryDelivered
		k.ok(k.Outbox().Save(k.Context(), d))
		k.equal(must(k.Outbox().Undelivered(k.Context()))(k), []core.AdmissionID{missing, over})
		time.Sleep(time.Hour)
		k.ok(k.Outbox().Put(k.Context(), owed("young", "1")))
		k.equal(must(k.Outbox().Forget(k.Context(), time.Now()))(k), 2)
		k.equal(must(k.Outbox().Owed(k.Context()))(k), map[core.DeliveryState]int64{core.DeliveryOwed: 1})
		if ids := must(k.Outbox().Undelivered(k.Context()))(k); len(ids) != 0 {
			k.Fatalf("%v: what was forgotten was delivered", ids)
		}
	}},
}
