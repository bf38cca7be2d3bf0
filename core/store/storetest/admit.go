package storetest

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"bellhop/core"
)

var admitTests = []test{
	{"stores what was understood", func(k kit) {
		e := said("1", "hello")
		e.Submission.Attachments = []core.Attachment{{Kind: "photo", Ref: "f1", Size: 3}}
		e.Submission.Reply = &core.Reply{MessageID: "0", Quote: "item 2"}
		e.Submission.Display = map[string]string{"kind": "plain"}
		e.Submission.Sent = time.Now().Truncate(time.Second)
		a := k.queue(e)
		got := k.stored(a.ID)
		k.equal(got, a)
		k.equal(got.Submission, e.Submission)
		k.equal(got.Principal().Caps, ada.Caps)
		if got.Status != core.Queued || got.By != ada.ID || !got.Admin || got.Seq == 0 || !got.Created.Equal(time.Now().Truncate(time.Millisecond)) {
			k.Fatalf("%+v", got)
		}
	}},
	{"makes the conversation in the same commit", func(k kit) {
		e := said("1", "hello")
		e.Submission.Title, e.Submission.Group = "Greeting", true
		a := k.queue(e)
		c := must(k.Lookup(k.Context(), "chat:1"))(k)
		if !regexp.MustCompile(`^\d{8}_\d{6}_[0-9a-f]{6}$`).MatchString(string(c.ID)) {
			k.Fatalf("id %q", c.ID)
		}
		if c.ID != a.Conversation || c.Owner != ada.ID || c.Key != "chat:1" || c.Title != "Greeting" || !c.Group || c.Route != here || c.Surface != "chat" {
			k.Fatalf("%+v", c)
		}
		time.Sleep(time.Minute)
		e = said("2", "again")
		e.By, e.Submission.Route.Thread = bob, "t"
		if b := k.queue(e); b.Conversation != c.ID {
			k.Fatal("another conversation for the same key")
		}
		c = must(k.Lookup(k.Context(), "chat:1"))(k)
		if c.Owner != ada.ID || c.Route.Thread != "t" || c.Updated.Sub(c.Created) != time.Minute || c.Title != "Greeting" {
			k.Fatalf("%+v", c)
		}
	}},
	{"a repeat gets the stored receipt", func(k kit) {
		a := k.queue(said("1", "hello"))
		repeat := k.admit(said("1", "hello, in another shape"))[0]
		if repeat.Err != nil || repeat.Fresh || repeat.Admission.ID != a.ID || repeat.Admission.Submission.Text != "hello" {
			k.Fatalf("%+v", repeat)
		}
		f, c := k.start(a.Conversation, "t")
		k.answer(f, c)
		if repeat = k.admit(said("1", "hello"))[0]; repeat.Fresh || repeat.Admission.Status != core.Terminal || repeat.Admission.Outcome.Text != "done" {
			k.Fatalf("%+v", repeat)
		}
		k.equal(k.balanced().Accepted, int64(1))
	}},
	{"a repeat in one batch is a repeat", func(k kit) {
		out := k.admit(said("1", "a"), said("2", "b"), said("1", "a"))
		if !out[0].Fresh || !out[1].Fresh || out[2].Fresh || out[2].Admission.ID != out[0].Admission.ID {
			k.Fatalf("%+v", out)
		}
	}},
	{"names are per principal and source, not per conversation", func(k kit) {
		a := k.queue(said("1", "a"))
		e := said("1", "b")
		e.By = bob
		k.queue(e)
		e = said("1", "c")
		e.Submission.Source = "elsewhere"
		k.queue(e)
		must(k.Bind(k.Context(), "chat:1", "", ada.ID, "chat"))(k) // the chat points to a new session between two deliveries
		if repeat := k.admit(said("1", "a"))[0]; repeat.Fresh || repeat.Admission.ID != a.ID {
			k.Fatalf("%+v", repeat)
		}
	}},
	{"strict repeats must be equal", func(k kit) {
		e := said("1", "hello")
		e.Strict = true
		a := k.queue(e)
		if same := k.admit(e)[0]; same.Err != nil || same.Admission.ID != a.ID {
			k.Fatalf("%+v", same)
		}
		e.Digest[0]++
		k.want(k.admit(e)[0].Err, core.Conflict)
		k.equal(k.balanced().Accepted, int64(1))
	}},
	{"born terminal", func(k kit) {
		e := said("1", "/help")
		e.Terminal = &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}
		a := k.queue(e)
		if got := k.stored(a.ID); got.Status != core.Terminal || got.Outcome.Reason != core.ReasonCommand || got.Settled.IsZero() {
			k.Fatalf("%+v", got)
		}
		if repeat := k.admit(e)[0]; repeat.Fresh {
			k.Fatal("a command ran twice")
		}
		k.want(claimErr(k, a.Conversation), core.NotFound)
		k.equal(k.balanced().Results, map[core.Result]int64{core.Completed: 1})
	}},
	{"raw updates are kept and run nothing", func(k kit) {
		e := core.Entry{By: ada, Raw: []byte(`{"odd":1}`), Submission: core.Submission{Source: "chat", RequestID: "u1"}}
		a := k.queue(e)
		if a.Status != core.Terminal || a.Conversation != "" {
			k.Fatalf("%+v", a)
		}
		if repeat := k.admit(e)[0]; repeat.Fresh {
			k.Fatal("kept twice")
		}
		k.equal(k.stored(a.ID), a)
		k.balanced()
	}},
	{"an entry without a place is invalid", func(k kit) {
		e := said("1", "hello")
		e.Submission.Key = ""
		out := k.admit(e, said("1", "hello"))
		k.want(out[0].Err, core.Invalid)
		k.ok(out[1].Err)
	}},
	{"when idle", func(k kit) {
		e := said("1", "a")
		e.WhenIdle = true
		a := k.queue(e)
		e2 := said("2", "b")
		e2.WhenIdle = true
		k.want(k.admit(e2)[0].Err, core.Busy)
		if repeat := k.admit(e)[0]; repeat.Err != nil || repeat.Admission.ID != a.ID { // dedupe comes first
			k.Fatalf("%+v", repeat)
		}
		f, c := k.start(a.Conversation, "t")
		k.want(k.admit(e2)[0].Err, core.Busy)
		k.answer(f, c)
		k.queue(e2) // the refusal left no row behind
		k.equal(k.balanced().Accepted, int64(2))
	}},
	{"cap", func(k kit) {
		k.queues(3)
		e := said("4", "d")
		e.Cap = 3
		k.want(k.admit(e)[0].Err, core.Full)
		if repeat := k.admit(said("3", ""))[0]; repeat.Err != nil || repeat.Fresh {
			k.Fatalf("%+v", repeat)
		}
		k.queue(in("2", e)) // of this conversation only
		e.Cap = 4
		k.queue(e)
	}},
	{"rows ahead", func(k kit) {
		for i := range 3 {
			if out := k.admit(said(fmt.Sprint(i), "x"))[0]; out.Ahead != i {
				k.Fatalf("%d rows ahead of the %dth", out.Ahead, i)
			}
		}
		e := said("c", "/status")
		e.Terminal = &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}
		k.equal(k.admit(e)[0].Ahead, 0)
	}},
	{"a request without a name is never a repeat", func(k kit) {
		a, b := k.queue(said("", "x")), k.queue(said("", "x"))
		if a.ID == b.ID {
			k.Fatal("one row")
		}
	}},
	{"the cursor moves with the batch", func(k kit) {
		k.equal(must(k.Cursor(k.Context(), "chat"))(k), "")
		in := core.Intake{Entries: []core.Entry{said("1", "a")}, Cursor: &core.Cursor{Name: "chat", Value: "7"}}
		must(k.Admit(k.Context(), in))(k)
		k.equal(must(k.Cursor(k.Context(), "chat"))(k), "7")
		must(k.Admit(k.Context(), core.Intake{Cursor: &core.Cursor{Name: "chat", Value: "8"}}))(k)
		k.equal(must(k.Cursor(k.Context(), "chat"))(k), "8")
		if out, err := k.Admit(k.Context(), core.Intake{}); err != nil || len(out) != 0 {
			k.Fatal(out, err)
		}
	}},
	{"a hundred at once", func(k kit) { // C165
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				out, err := k.Admit(k.Context(), core.Intake{Entries: []core.Entry{in(fmt.Sprint(i%7), said(fmt.Sprint("p", i), "x"))}})
				if err != nil || out[0].Err != nil || !out[0].Fresh {
					k.Errorf("%d: %v %+v", i, err, out)
				}
			})
		}
		wg.Wait()
		k.equal(k.balanced().Queued, int64(100))
		if n := len(must(k.List(k.Context(), "", 100))(k)); n != 7 {
			k.Fatalf("%d conversations", n)
		}
	}},
	{"the same request at once is one row", func(k kit) {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if out, err := k.Admit(k.Context(), core.Intake{Entries: []core.Entry{said("1", "x")}}); err != nil || out[0].Err != nil {
					k.Error(err, out)
				}
			})
		}
		wg.Wait()
		k.equal(k.balanced().Accepted, int64(1))
	}},
}

// claimErr is what a claim in the conversation says, with the lease given back.
func claimErr(k kit, c core.ConversationID) error {
	k.Helper()
	f := k.acquire(c, "probe")
	_, err := k.ClaimNext(k.Context(), f, nil)
	k.ok(k.Release(k.Context(), f))
	return err
}
