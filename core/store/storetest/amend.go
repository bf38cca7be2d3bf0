package storetest

import (
	"time"

	"bellhop/core"
)

func edit(request, text string) core.Entry {
	e := said(request, text)
	e.Amend = true
	return e
}

func deletion(request string) core.Entry {
	e := said(request, "")
	e.Delete = true
	return e
}

var amendTests = []test{
	{"an edit changes a row that waits", func(k kit) {
		a := k.queue(said("1", "helo"))
		out := k.admit(edit("1", "hello"))[0]
		if out.Err != nil || !out.Amended || out.Fresh || out.Admission.ID != a.ID {
			k.Fatalf("%+v", out)
		}
		k.equal(k.stored(a.ID).Submission.Text, "hello")
		if repeat := k.admit(said("1", "helo"))[0]; repeat.Fresh || repeat.Admission.Submission.Text != "hello" {
			k.Fatalf("%+v", repeat)
		}
	}},
	{"an edit never starts anything", func(k kit) { // C069
		k.want(k.admit(edit("77", "/stop"))[0].Err, core.NotFound)
		a := k.queue(said("1", "x"))
		f, c := k.start(a.Conversation, "t")
		k.want(k.admit(edit("1", "y"))[0].Err, core.NotFound)
		k.answer(f, c)
		k.want(k.admit(edit("1", "y"))[0].Err, core.NotFound)
		k.equal(k.stored(a.ID).Submission.Text, "x")
		e := said("c", "/stop")
		e.Terminal = &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}
		k.queue(e)
		k.want(k.admit(edit("c", "/restart"))[0].Err, core.NotFound)
		k.equal(k.balanced().Accepted, int64(2))
	}},
	{"only the author edits", func(k kit) {
		a := k.queue(said("1", "mine"))
		e := edit("1", "yours")
		e.By = bob
		k.want(k.admit(e)[0].Err, core.NotFound)
		k.equal(k.stored(a.ID).Submission.Text, "mine")
	}},
	{"an older edit does not overwrite a newer one", func(k kit) {
		a := k.queue(said("1", "one"))
		newer, older := edit("1", "three"), edit("1", "two")
		newer.Submission.Sent, older.Submission.Sent = time.Now().Add(2*time.Second), time.Now().Add(time.Second)
		k.admit(newer)
		if out := k.admit(older)[0]; out.Err != nil || out.Amended {
			k.Fatalf("%+v", out)
		}
		k.equal(k.stored(a.ID).Submission.Text, "three")
	}},
	{"a deletion cancels a row that waits", func(k kit) {
		a := k.queue(said("1", "x"))
		if out := k.admit(deletion("1"))[0]; out.Err != nil || !out.Amended || out.Admission.Status != core.Terminal {
			k.Fatalf("%+v", out)
		}
		got := k.stored(a.ID)
		k.equal(got.Outcome, core.Outcome{Result: core.Cancelled, Reason: core.ReasonDeleted})
		k.want(k.admit(deletion("1"))[0].Err, core.NotFound)
		if out := k.admit(said("1", "x"))[0]; out.Fresh {
			k.Fatal("a deleted message came back")
		}
		k.balanced()
	}},
	{"an edit of a piece changes that piece", func(k kit) {
		a := k.queue(photo("1", "befor"))
		k.joined(photo("2", "after"), a.ID)
		k.admit(edit("1", "before"))
		k.equal(k.stored(a.ID).Submission.Text, "Image 1: before\nImage 2: after")
		k.admit(edit("2", ""))
		k.equal(k.stored(a.ID).Submission.Text, "before")
		k.equal(len(k.stored(a.ID).Submission.Attachments), 2)
	}},
	{"a deleted piece leaves the others", func(k kit) {
		a := k.queue(photo("1", "before"))
		k.joined(photo("2", "after"), a.ID)
		k.admit(deletion("1"))
		got := k.stored(a.ID)
		k.equal(got.Submission.Text, "after")
		k.equal(len(got.Submission.Attachments), 1)
		k.want(k.admit(edit("1", "back again"))[0].Err, core.NotFound)
		k.admit(deletion("2"))
		k.equal(k.stored(a.ID).Outcome.Reason, core.ReasonDeleted)
		k.balanced()
	}},
	{"an amended row takes a text as a whole", func(k kit) {
		a := k.queue(part("1", "long"))
		k.ok(k.Amend(k.Context(), a.ID, "short"))
		k.equal(k.stored(a.ID).Submission.Text, "short")
		k.queue(said("2", "not a rest"))
		time.Sleep(3 * time.Second)
		k.start(a.Conversation, "t")
		k.want(k.Amend(k.Context(), a.ID, "late"), core.Conflict)
		k.want(k.Amend(k.Context(), "none", "x"), core.NotFound)
	}},
}
