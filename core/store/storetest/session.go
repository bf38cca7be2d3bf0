package storetest

import (
	"time"

	"bellhop/core"
)

var sessionTests = []test{
	{"keys", func(k kit) {
		_, err := k.Lookup(k.Context(), "chat:1")
		k.want(err, core.NotFound)
		c := must(k.Bind(k.Context(), "chat:1", "", ada.ID, "chat"))(k)
		k.equal(must(k.Lookup(k.Context(), "chat:1"))(k), c)
		k.equal(k.queue(said("1", "x")).Conversation, c.ID)
		d := must(k.Bind(k.Context(), "chat:1", "", ada.ID, "chat"))(k) // /new
		if d.ID == c.ID {
			k.Fatal("not a fresh one")
		}
		k.equal(k.queue(said("2", "x")).Conversation, d.ID)
		back := must(k.Bind(k.Context(), "chat:1", c.ID, ada.ID, "chat"))(k) // /resume
		k.equal(back.ID, c.ID)
		k.equal(k.queue(said("3", "x")).Conversation, c.ID)
		named := must(k.Bind(k.Context(), "rpc:x", "20260101_000000_abcdef", bob.ID, "rpc"))(k)
		if named.ID != "20260101_000000_abcdef" || named.Owner != bob.ID || named.Surface != "rpc" {
			k.Fatalf("%+v", named)
		}
		_, err = k.Bind(k.Context(), "", "", ada.ID, "chat")
		k.want(err, core.Invalid)
	}},
	{"a group stays one", func(k kit) {
		group := func(id string, in bool) core.Entry {
			e := said(id, "x")
			e.Submission.Group = in
			return e
		}
		first := k.queue(group("1", true))
		for _, surface := range []string{"chat", ""} { // /new
			c := must(k.Bind(k.Context(), "chat:1", "", ada.ID, surface))(k)
			if !c.Group || c.ID == first.Conversation || c.Surface != "chat" || c.Route != here {
				k.Fatalf("%+v", c)
			}
		}
		k.queue(group("2", false))
		if c := must(k.Lookup(k.Context(), "chat:1"))(k); !c.Group {
			k.Fatal("a group's conversation became a private one")
		}
		d := must(k.Bind(k.Context(), "chat:1", must(k.Bind(k.Context(), "chat:9", "", ada.ID, "chat"))(k).ID, ada.ID, "chat"))(k)
		if d.Group { // what exists is not changed by pointing to it
			k.Fatalf("%+v", d)
		}
		k.queue(group("3", true))
		if c := must(k.Lookup(k.Context(), "chat:1"))(k); !c.Group || c.ID != d.ID {
			k.Fatalf("a group speaks in it now: %+v", c)
		}
	}},
	{"find and list", func(k kit) {
		a := must(k.Bind(k.Context(), "chat:1", "", ada.ID, "chat"))(k)
		time.Sleep(time.Second)
		b := must(k.Bind(k.Context(), "chat:2", "", ada.ID, "chat"))(k)
		c := must(k.Bind(k.Context(), "chat:3", "", bob.ID, "chat"))(k)
		for _, id := range []core.ConversationID{a.ID, b.ID, c.ID} {
			must(k.Edit(k.Context(), id, func(c *core.Conversation) { c.Title = "Trip" }))(k)
		}
		k.equal(must(k.Conversation(k.Context(), string(a.ID), ada.ID))(k).ID, a.ID)
		k.equal(must(k.Conversation(k.Context(), "Trip", ada.ID))(k).ID, b.ID)
		_, err := k.Conversation(k.Context(), string(c.ID), ada.ID)
		k.want(err, core.NotFound)
		_, err = k.Conversation(k.Context(), "", ada.ID)
		k.want(err, core.NotFound)
		time.Sleep(time.Second)
		k.queue(said("1", "x")) // activity
		var got []core.ConversationID
		for _, c := range must(k.List(k.Context(), ada.ID, 9))(k) {
			got = append(got, c.ID)
		}
		k.equal(got, []core.ConversationID{a.ID, b.ID})
		k.equal(len(must(k.List(k.Context(), "", 2))(k)), 2)
	}},
	{"edit", func(k kit) {
		c := must(k.Bind(k.Context(), "chat:1", "", ada.ID, "chat"))(k)
		got := must(k.Edit(k.Context(), c.ID, func(c *core.Conversation) {
			c.Title, c.Model, c.Busy, c.Approved, c.Owner = "T", "m", "steer", append(c.Approved, "rm"), bob.ID
		}))(k)
		if got.Title != "T" || got.Model != "m" || got.Busy != "steer" || len(got.Approved) != 1 || got.Owner != ada.ID {
			k.Fatalf("%+v", got)
		}
		k.equal(must(k.Lookup(k.Context(), "chat:1"))(k), got)
		_, err := k.Edit(k.Context(), "none", func(*core.Conversation) {})
		k.want(err, core.NotFound)
		func() {
			defer func() {
				if recover() == nil {
					k.Error("a panic of the caller's function vanished")
				}
			}()
			_, _ = k.Edit(k.Context(), c.ID, func(*core.Conversation) { panic("mine") })
		}()
		k.queue(said("1", "the store lives"))
	}},
	{"segments", func(k kit) {
		a := k.queue(said("1", "x"))
		_, err := k.Session(k.Context(), a.Conversation)
		k.want(err, core.NotFound)
		f, c := k.start(a.Conversation, "t")
		first := must(k.OpenSession(k.Context(), f, core.Session{ID: c.Session, SystemPrompt: "be kind", Model: "m"}))(k)
		if first.Conversation != a.Conversation || first.Created.IsZero() {
			k.Fatalf("%+v", first)
		}
		k.equal(must(k.OpenSession(k.Context(), f, core.Session{ID: c.Session, SystemPrompt: "another"}))(k), first)
		must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Content: "old"}}}))(k)
		branch := must(k.OpenSession(k.Context(), f, core.Session{ID: "s-agent", ParentID: first.ID, Reason: core.RotationAgent, SystemPrompt: "p"}))(k)
		k.equal(must(k.Session(k.Context(), a.Conversation))(k), first) // the newest by rotation only
		second := must(k.OpenSession(k.Context(), f, core.Session{ID: "s-2", ParentID: first.ID, Reason: core.RotationCompact, SystemPrompt: "p"}))(k)
		k.equal(must(k.Session(k.Context(), a.Conversation))(k), second)
		must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Content: "new"}}}))(k)
		k.equal(texts(must(k.Load(k.Context(), a.Conversation))(k)), []string{"new"})
		k.equal(texts(must(k.Page(k.Context(), a.Conversation, 0, 9))(k)), []string{"new", "old"})
		for _, id := range []core.SessionID{first.ID, second.ID, branch.ID} { // an old id lands in the conversation
			k.equal(must(k.Conversation(k.Context(), string(id), ""))(k).ID, a.Conversation)
		}
		b := k.queue(in("2", said("2", "y")))
		g, _ := k.start(b.Conversation, "u")
		_, err = k.OpenSession(k.Context(), g, core.Session{ID: "s-2", SystemPrompt: "stolen"})
		k.want(err, core.Conflict)
	}},
	{"rekey", func(k kit) {
		a := k.queue(said("1", "x"))
		e := said("2", "y")
		e.Submission.Key, e.Submission.Route.Thread = "chat:1:t7", "7"
		b := k.queue(e)
		other := k.queue(in("12", said("3", "z"))) // not below chat:1
		d := owed("d", "1")
		d.Conversation = a.Conversation
		stuck := d
		stuck.ID, stuck.Question, stuck.NotBefore = "stuck", "q", time.Now().Add(time.Hour)
		k.ok(k.Outbox().Put(k.Context(), stuck, d))
		k.ok(k.Outbox().Aside(k.Context(), stuck))
		k.ok(k.Rekey(k.Context(), "chat:1", "chat:-100", "-100"))
		_, err := k.Lookup(k.Context(), "chat:1")
		k.want(err, core.NotFound)
		c := must(k.Lookup(k.Context(), "chat:-100"))(k)
		if c.ID != a.Conversation || c.Key != "chat:-100" || c.Route.Chat != "-100" {
			k.Fatalf("%+v", c)
		}
		k.equal(must(k.Lookup(k.Context(), "chat:-100:t7"))(k).ID, b.Conversation)
		got := k.stored(b.ID).Submission
		if got.Key != "chat:-100:t7" || got.Route.Chat != "-100" || got.Route.Thread != "7" || got.Text != "y" {
			k.Fatalf("%+v", got)
		}
		k.equal(k.stored(other.ID), other)
		out := must(k.Outbox().Due(k.Context(), time.Now(), time.Minute, 9))(k)
		if len(out) != 1 || out[0].ID != "d" || out[0].Route.Chat != "-100" {
			k.Fatalf("%+v", out)
		}
		if stuck = k.delivery("q"); !stuck.Aside || stuck.Route.Chat != "-100" { // it stays out of the way
			k.Fatalf("%+v", stuck)
		}
		k.want(k.Rekey(k.Context(), "x", "x", ""), core.Invalid)
	}},
	{"delete", func(k kit) {
		as := k.queues(2)
		keep := k.queue(in("2", said("9", "x")))
		c := as[0].Conversation
		f, claim := k.start(c, "t")
		must(k.OpenSession(k.Context(), f, core.Session{SystemPrompt: "p"}))(k)
		must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Admission: as[0].ID, Content: "x"}},
			Calls: []core.Call{{ID: "c", Admission: as[0].ID, State: core.CallDone}}, Events: []core.Event{{Seq: 1, EventBody: core.EventBody{Type: core.ErrorEvent}}}}))(k)
		k.ask(as[0], "c")
		k.answer(f, claim)
		k.want(k.DeleteConversation(k.Context(), c), core.Busy)
		must(k.Cancel(k.Context(), c, gone))(k)
		k.ok(k.DeleteConversation(k.Context(), c))
		k.want(k.DeleteConversation(k.Context(), c), core.NotFound)
		_, err := k.Lookup(k.Context(), "chat:1")
		k.want(err, core.NotFound)
		_, err = k.Admission(k.Context(), as[0].ID)
		k.want(err, core.NotFound)
		k.equal(k.balanced(), core.Census{Accepted: 1, Queued: 1, OldestQueued: keep.Created, Results: map[core.Result]int64{}})
		_, err = k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Content: "late"}}})
		k.want(err, core.Stale)
		k.queue(said("1", "the place is free again"))
	}},
}
