package storetest

import (
	"sync"
	"sync/atomic"
	"time"

	"bellhop/core"
)

func (k kit) ask(a core.Admission, call string) core.Question {
	k.Helper()
	return must(k.Put(k.Context(), core.Question{Conversation: a.Conversation, Admission: a.ID, Turn: "t", For: ada.ID,
		Ask: core.Ask{Kind: core.Approval, Call: call, Title: "Run a command?", Choices: []string{"once", "deny"}}, Deadline: time.Now().Add(5 * time.Minute)}))(k)
}

var questionTests = []test{
	{"asked and answered once", func(k kit) {
		a := k.queue(said("1", "x"))
		q := k.ask(a, "c1")
		k.equal(must(k.Question(k.Context(), q.ID))(k), q)
		k.equal(must(k.Asking(k.Context(), a.Conversation))(k), []core.Question{q})
		k.equal(must(k.Asking(k.Context(), ""))(k), []core.Question{q})
		got := must(k.Answer(k.Context(), q.ID, "once", bob))(k)
		if got.State != core.QuestionAnswered || got.Answer != "once" || got.By != bob.ID || got.ByName != "Bob" || got.Answered.IsZero() {
			k.Fatalf("%+v", got)
		}
		again, err := k.Answer(k.Context(), q.ID, "deny", ada)
		k.want(err, core.Conflict)
		k.equal(again, got)
		if open := must(k.Asking(k.Context(), ""))(k); len(open) != 0 {
			k.Fatalf("%+v", open)
		}
		_, err = k.Answer(k.Context(), "none", "x", ada)
		k.want(err, core.NotFound)
		_, err = k.Question(k.Context(), "none")
		k.want(err, core.NotFound)
	}},
	{"many answer, one counts", func(k kit) {
		q := k.ask(k.queue(said("1", "x")), "c1")
		var n atomic.Int64
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := k.Answer(k.Context(), q.ID, "once", ada); err == nil {
					n.Add(1)
				}
			})
		}
		wg.Wait()
		k.equal(n.Load(), int64(1))
	}},
	{"the same call is asked about once", func(k kit) {
		a := k.queue(said("1", "x"))
		q := k.ask(a, "c1")
		time.Sleep(time.Minute)
		same := k.ask(a, "c1")
		if same.ID != q.ID || !same.Deadline.Equal(q.Deadline) {
			k.Fatalf("%+v", same)
		}
		first, second := k.ask(a, ""), k.ask(a, "")
		if k.ask(a, "c2").ID == q.ID || first.ID == second.ID {
			k.Fatal("other questions are others")
		}
		must(k.Answer(k.Context(), q.ID, "deny", ada))(k)
		if k.ask(a, "c1").ID == q.ID {
			k.Fatal("an answered question came back")
		}
	}},
	{"a later turn gets the end of the question before", func(k kit) {
		a := k.queue(said("1", "x"))
		later := func(q core.Question, kind core.QuestionKind, title string) core.Question {
			q.ID, q.Turn, q.State = "", q.Turn+"x", core.QuestionOpen
			q.Ask.Kind, q.Ask.Title = kind, title
			return must(k.Put(k.Context(), q))(k)
		}
		q := k.ask(a, "c1")
		must(k.Answer(k.Context(), q.ID, "once", bob))(k)
		other := later(q, q.Ask.Kind, "Something else?")
		if other.ID == q.ID {
			k.Fatal("another question got an answer that was not for it")
		}
		must(k.Drop(k.Context(), a.ID))(k)
		same := later(q, q.Ask.Kind, q.Ask.Title)
		if same.ID != q.ID || same.State != core.QuestionAnswered || same.Answer != "once" || same.By != bob.ID {
			k.Fatalf("%+v", same)
		}
		if got := must(k.Put(k.Context(), core.Question{Conversation: q.Conversation, Admission: a.ID, Turn: same.Turn, Ask: q.Ask}))(k); got.ID == q.ID {
			k.Fatal("one answer counted twice in one turn")
		}
		expired := k.ask(a, "c2")
		time.Sleep(time.Hour)
		must(k.Expire(k.Context(), time.Now()))(k)
		if got := later(expired, expired.Ask.Kind, expired.Ask.Title); got.ID != expired.ID || got.State != core.QuestionExpired {
			k.Fatalf("%+v", got)
		}
		secret := must(k.Put(k.Context(), core.Question{Conversation: q.Conversation, Admission: a.ID, Turn: "t", Ask: core.Ask{Kind: core.Secret, Call: "c3"}}))(k)
		must(k.Answer(k.Context(), secret.ID, "(given)", bob))(k)
		if got := later(secret, core.Secret, ""); got.ID == secret.ID {
			k.Fatal("a secret that was not written down was handed on")
		}
	}},
	{"ended ones are listed", func(k kit) {
		a := k.queue(said("1", "x"))
		q, open := k.ask(a, "c1"), k.ask(a, "c2")
		begun := time.Now()
		time.Sleep(time.Second)
		must(k.Answer(k.Context(), q.ID, "once", bob))(k)
		got := must(k.Ended(k.Context(), begun))(k)
		if len(got) != 1 || got[0].ID != q.ID {
			k.Fatalf("%+v, beside the open %s", got, open.ID)
		}
		if got := must(k.Ended(k.Context(), time.Now().Add(time.Second)))(k); len(got) != 0 {
			k.Fatalf("%+v", got)
		}
	}},
	{"those of some admissions are listed", func(k kit) {
		a, b, other := k.queue(said("1", "x")), k.queue(said("2", "y")), k.queue(said("3", "z"))
		first, second := k.ask(a, "c1"), k.ask(b, "c1")
		k.ask(other, "c1")
		ended := must(k.Answer(k.Context(), first.ID, "once", bob))(k)
		k.equal(must(k.Asked(k.Context(), a.Conversation, []core.AdmissionID{b.ID, "none", a.ID}))(k), []core.Question{ended, second})
		k.equal(len(must(k.Asked(k.Context(), a.Conversation, nil))(k)), 0)
		k.equal(len(must(k.Asked(k.Context(), "none", []core.AdmissionID{a.ID}))(k)), 0)
	}},
	{"expire", func(k kit) {
		q := k.ask(k.queue(said("1", "x")), "c1")
		if out := must(k.Expire(k.Context(), time.Now()))(k); len(out) != 0 {
			k.Fatalf("%+v", out)
		}
		time.Sleep(5 * time.Minute)
		late, err := k.Answer(k.Context(), q.ID, "once", ada) // C168: too late, although nobody has expired it yet
		k.want(err, core.Conflict)
		k.equal(late.ID, q.ID)
		out := must(k.Expire(k.Context(), time.Now()))(k)
		if len(out) != 1 || out[0].ID != q.ID || out[0].State != core.QuestionExpired {
			k.Fatalf("%+v", out)
		}
		if out = must(k.Expire(k.Context(), time.Now()))(k); len(out) != 0 {
			k.Fatal("expired twice")
		}
	}},
	{"drop", func(k kit) {
		a, b := k.queue(said("1", "x")), k.queue(in("2", said("2", "y")))
		q := k.ask(a, "c1")
		k.ask(b, "c1")
		out := must(k.Drop(k.Context(), a.ID))(k)
		if len(out) != 1 || out[0].ID != q.ID || out[0].State != core.QuestionDropped {
			k.Fatalf("%+v", out)
		}
		k.equal(len(must(k.Asking(k.Context(), ""))(k)), 1)
	}},
}
