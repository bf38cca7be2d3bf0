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
