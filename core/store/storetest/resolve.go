package storetest

import (
	"bellhop/core"
)

// unknown is a turn that vanished after it stored its user message, with waiting rows behind it.
func (k kit) unknown(waiting int) []core.Admission {
	k.Helper()
	as := k.queues(1 + waiting)
	f, c := k.start(as[0].Conversation, "t")
	must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Admission: c.Admission.ID, Content: "message 1"}}}))(k)
	if lost := k.vanish(); len(lost) != 1 || lost[0].ID != as[0].ID {
		k.Fatalf("%+v", lost)
	}
	return as
}

func (k kit) retry(id core.AdmissionID, resume bool) core.Admission {
	k.Helper()
	next := must(k.Resolve(k.Context(), id, core.Resolution{Outcome: lost, Retry: true, Resume: resume, Why: "no effect recorded"}))(k)
	if next == nil {
		k.Fatal("no new row")
	}
	return *next
}

var resolveTests = []test{
	{"a retry runs before later rows, once", func(k kit) {
		as := k.unknown(2)
		next := k.retry(as[0].ID, false)
		if next.RetryOf != as[0].ID || next.Status != core.Queued || next.Resume || next.By != ada.ID || next.Submission.Text != "message 1" {
			k.Fatalf("%+v", next)
		}
		k.equal(k.stored(next.ID), next)
		k.equal(k.stored(as[0].ID).Outcome, lost)
		k.equal(k.waiting(next.Conversation), []core.AdmissionID{next.ID, as[1].ID, as[2].ID})
		_, err := k.Resolve(k.Context(), as[0].ID, core.Resolution{Outcome: lost, Retry: true})
		k.want(err, core.Conflict)
		k.equal(k.balanced().Accepted, int64(4))
		if repeat := k.admit(said("1", "message 1"))[0]; repeat.Fresh || repeat.Admission.ID != as[0].ID {
			k.Fatalf("%+v", repeat)
		}
		_, c := k.start(next.Conversation, "u")
		k.equal(c.Admission.ID, next.ID)
	}},
	{"a retry of a retry keeps its place", func(k kit) {
		as := k.unknown(1)
		next := k.retry(as[0].ID, true)
		if !next.Resume {
			k.Fatal("not a continuation")
		}
		k.start(next.Conversation, "u")
		k.vanish()
		last := k.retry(next.ID, true)
		k.equal(k.waiting(next.Conversation), []core.AdmissionID{last.ID, as[1].ID})
		k.equal(ids(must(k.Recent(k.Context(), next.Conversation, 9))(k)), []core.AdmissionID{last.ID, next.ID, as[1].ID, as[0].ID})
	}},
	{"a retry adopts the user message", func(k kit) {
		as := k.unknown(0)
		first := must(k.Load(k.Context(), as[0].Conversation))(k)[0]
		next := k.retry(as[0].ID, false)
		f, c := k.start(next.Conversation, "u")
		for range 2 {
			ms := must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Admission: c.Admission.ID, Content: "again"}}}))(k)
			k.equal(ms[0], first)
		}
		k.equal(texts(must(k.Load(k.Context(), next.Conversation))(k)), []string{"message 1"})
	}},
	{"evidence is of the whole chain", func(k kit) {
		a := k.queue(said("1", "x"))
		f, c := k.start(a.Conversation, "t")
		must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Admission: a.ID, Content: "x"}},
			Calls: []core.Call{{ID: "c1", Admission: a.ID, Name: "shell", Args: []byte(`{}`), Effect: core.Once, State: core.CallRecorded}}}))(k)
		k.vanish()
		next := k.retry(c.Admission.ID, true)
		k.equal(texts(must(k.Said(k.Context(), next.ID))(k)), []string{"x"})
		calls := must(k.Calls(k.Context(), next.ID))(k)
		if len(calls) != 1 || calls[0].ID != "c1" {
			k.Fatalf("%+v", calls)
		}
		f, _ = k.start(a.Conversation, "u") // the continuation starts the call
		calls[0].State = core.CallStarted
		must(k.Append(k.Context(), f, core.Batch{Calls: calls, Sync: true}))(k)
		for _, id := range []core.AdmissionID{a.ID, next.ID} {
			k.equal(must(k.Calls(k.Context(), id))(k)[0].State, core.CallStarted)
		}
	}},
	{"tail, calls and delivery come with it", func(k kit) {
		a := k.queue(said("1", "x"))
		f, _ := k.start(a.Conversation, "t")
		must(k.Append(k.Context(), f, core.Batch{Calls: []core.Call{{ID: "c1", Admission: a.ID, Name: "shell", State: core.CallStarted}}}))(k)
		k.vanish()
		next := must(k.Resolve(k.Context(), a.ID, core.Resolution{Outcome: answered, By: bob.ID, Why: "the answer was stored",
			Tail:    []core.Message{{Role: core.RoleTool, CallID: "c1", Content: "unknown", Synthetic: true}},
			Calls:   []core.Call{{ID: "c1", State: core.CallDone}},
			Deliver: &core.Delivery{ID: "d", Kind: core.DeliverFinal, State: core.DeliveryOwed, Route: here, Text: "done"}}))(k)
		if next != nil {
			k.Fatalf("%+v", next)
		}
		ms := must(k.Said(k.Context(), a.ID))(k)
		if len(ms) != 1 || !ms[0].Synthetic || ms[0].CallID != "c1" {
			k.Fatalf("%+v", ms)
		}
		k.equal(must(k.Calls(k.Context(), a.ID))(k)[0].State, core.CallDone)
		k.equal(len(must(k.Outbox().Of(k.Context(), a.ID))(k)), 1)
		k.equal(k.stored(a.ID).Outcome, answered)
		k.balanced()
	}},
	{"only what is unknown", func(k kit) {
		a := k.queue(said("1", "x"))
		for _, step := range []func(){func() {}, func() { k.start(a.Conversation, "t") }} {
			step()
			_, err := k.Resolve(k.Context(), a.ID, core.Resolution{Outcome: lost})
			k.want(err, core.Conflict)
		}
		_, err := k.Resolve(k.Context(), "none", core.Resolution{Outcome: lost})
		k.want(err, core.NotFound)
	}},
	{"the retry finishes the message of the turn before", func(k kit) {
		a := k.queue(said("1", "x"))
		k.start(a.Conversation, "t")
		bare := preview("p0", a)
		bare.Parts = nil // the platform took nothing yet
		k.ok(k.Outbox().Put(k.Context(), bare))
		k.ok(k.Outbox().Put(k.Context(), preview("p1", a)))
		k.vanish()
		next := k.retry(a.ID, false)
		_, c := k.start(a.Conversation, "u")
		if rows := must(k.Outbox().Of(k.Context(), a.ID))(k); len(rows) != 1 || rows[0].ID != "p0" || rows[0].State != core.DeliveryMoved {
			k.Fatalf("a message that is not there still grows: %+v", rows)
		}
		if c.Preview == nil || c.Preview.Parts[0].Ref != "55" || c.Preview.State != core.DeliveryMoved {
			k.Fatalf("%+v", c.Preview)
		}
		k.want(k.Outbox().Save(k.Context(), *c.Preview), core.Conflict)
		k.vanish() // before the new turn has a row of its own
		k.retry(next.ID, false)
		if _, c = k.start(a.Conversation, "v"); c.Preview == nil || c.Preview.Parts[0].Ref != "55" {
			k.Fatalf("the message is lost: %+v", c.Preview)
		}
		k.ok(k.Outbox().Put(k.Context(), preview("p2", c.Admission)))
		k.vanish()
		k.retry(c.Admission.ID, false)
		if _, c = k.start(a.Conversation, "w"); c.Preview == nil || c.Preview.ID != "p2" {
			k.Fatalf("%+v", c.Preview)
		}
	}},
	{"an open question waits for the continuation", func(k kit) {
		a := k.queue(said("1", "x"))
		k.start(a.Conversation, "t")
		q := must(k.Put(k.Context(), core.Question{Conversation: a.Conversation, Admission: a.ID, Turn: "t", Ask: core.Ask{Kind: core.Approval, Call: "c1"}}))(k)
		k.vanish()
		next := k.retry(a.ID, true)
		same := must(k.Put(k.Context(), core.Question{Conversation: a.Conversation, Admission: next.ID, Turn: "u", Ask: core.Ask{Kind: core.Approval, Call: "c1"}}))(k)
		if same.ID != q.ID || same.Turn != "u" || same.Admission != next.ID {
			k.Fatalf("%+v", same)
		}
	}},
}

func preview(id core.DeliveryID, a core.Admission) core.Delivery {
	return core.Delivery{ID: id, Conversation: a.Conversation, Admission: a.ID, Kind: core.DeliverPreview, State: core.DeliveryLive,
		Route: here, Parts: []core.Part{{Ref: "55", Sent: 1}}}
}
