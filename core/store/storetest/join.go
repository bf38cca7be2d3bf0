package storetest

import (
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

func photo(request, caption string) core.Entry {
	e := said(request, caption)
	e.Submission.Album, e.Hold = "a1", time.Second
	e.Submission.Attachments = []core.Attachment{{Kind: "photo", Ref: "ref" + request}}
	return e
}

func part(request, text string) core.Entry {
	e := said(request, text)
	e.Submission.Part, e.Hold = true, 2*time.Second
	return e
}

// joined admits an entry that must join the row.
func (k kit) joined(e core.Entry, id core.AdmissionID) core.Admission {
	k.Helper()
	out := k.admit(e)[0]
	k.ok(out.Err)
	if !out.Merged || !out.Fresh || out.Admission.ID != id {
		k.Fatalf("did not join: %+v", out)
	}
	k.equal(k.stored(id), out.Admission)
	return out.Admission
}

var joinTests = []test{
	{"an album is one row", func(k kit) { // C071
		a := k.queue(photo("11", "before"))
		k.joined(photo("12", ""), a.ID)
		got := k.joined(photo("13", "after"), a.ID).Submission
		k.equal(got.Text, "Image 1: before\nImage 3: after")
		k.equal(len(got.Attachments), 3)
		k.equal(got.RequestID, core.RequestID("11"))
		k.equal(k.balanced().Accepted, int64(1))
	}},
	{"an album's order is that of its messages", func(k kit) {
		a := k.queue(photo("100", "third"))
		k.joined(photo("99", "second"), a.ID)
		got := k.joined(photo("9", "first"), a.ID).Submission
		k.equal(got.Text, "Image 1: first\nImage 2: second\nImage 3: third")
		k.equal(got.Attachments[0].Ref, "ref9")
	}},
	{"a lone caption on the first picture is the album's", func(k kit) {
		a := k.queue(photo("1", "what is this?"))
		k.equal(k.joined(photo("2", ""), a.ID).Submission.Text, "what is this?")
	}},
	{"a lone caption elsewhere keeps its number", func(k kit) {
		a := k.queue(photo("1", ""))
		k.equal(k.joined(photo("2", "this one"), a.ID).Submission.Text, "Image 2: this one")
	}},
	{"a redelivered part is a repeat", func(k kit) {
		a := k.queue(photo("1", "x"))
		k.joined(photo("2", "y"), a.ID)
		before := k.stored(a.ID)
		for _, r := range []string{"1", "2"} {
			if out := k.admit(photo(r, "z"))[0]; out.Fresh || out.Merged || out.Admission.ID != a.ID {
				k.Fatalf("%+v", out)
			}
		}
		k.equal(k.stored(a.ID), before)
	}},
	{"albums of others, and other albums, stay apart", func(k kit) {
		k.queue(photo("1", "x"))
		e := photo("2", "y")
		e.By = bob
		k.queue(e)
		e = photo("3", "z")
		e.Submission.Album = "a2"
		k.queue(e)
	}},
	{"a claimed album is closed", func(k kit) {
		a := k.queue(photo("1", "x"))
		time.Sleep(2 * time.Second)
		k.start(a.Conversation, "t")
		k.queue(photo("2", "y"))
	}},
	{"an album that only waits behind others is still open", func(k kit) {
		k.queue(said("0", "busy"))
		a := k.queue(photo("1", "x"))
		time.Sleep(time.Hour)
		k.joined(photo("2", ""), a.ID)
	}},
	{"joining extends the hold", func(k kit) {
		a := k.queue(photo("1", "x"))
		time.Sleep(900 * time.Millisecond)
		k.joined(photo("2", ""), a.ID)
		time.Sleep(900 * time.Millisecond)
		k.want(claimErr(k, a.Conversation), core.Busy)
		time.Sleep(200 * time.Millisecond)
		k.ok(claimErr(k, a.Conversation))
	}},
	{"a long paste is joined as it was cut", func(k kit) { // C072
		first, rest := strings.Repeat("x", 4096), strings.Repeat("y", 1904)
		a := k.queue(part("1", first))
		time.Sleep(1177 * time.Millisecond)
		got := k.joined(said("2", rest), a.ID)
		k.equal(got.Submission.Text, first+rest)
		if !got.HoldUntil.IsZero() {
			k.Fatal("the rest has come and the row still waits")
		}
		k.queue(said("3", "an ordinary message after it"))
	}},
	{"a paste of three pieces", func(k kit) {
		a := k.queue(part("1", "a"))
		time.Sleep(1500 * time.Millisecond)
		k.joined(part("2", "b"), a.ID)
		time.Sleep(1500 * time.Millisecond)
		k.equal(k.joined(said("3", "c"), a.ID).Submission.Text, "abc")
		if out := k.admit(said("2", "b"))[0]; out.Fresh {
			k.Fatal("a piece came twice")
		}
	}},
	{"a paste is not joined by what comes later", func(k kit) {
		k.queue(said("0", "busy"))
		k.queue(part("1", "long"))
		time.Sleep(3 * time.Second)
		k.queue(said("2", "something else"))
	}},
	{"a rest that was sent in time but came late joins", func(k kit) {
		e := part("1", "a")
		e.Submission.Sent = time.Now()
		a := k.queue(e)
		e = said("2", "b")
		e.Submission.Sent = time.Now().Add(time.Second)
		time.Sleep(time.Minute) // we were down
		k.equal(k.joined(e, a.ID).Submission.Text, "ab")
	}},
	{"a message that was sent long after a paste does not join it", func(k kit) {
		k.queue(said("0", "busy"))
		e := part("1", "a")
		e.Submission.Sent = time.Now()
		k.queue(e)
		time.Sleep(time.Minute)
		for i, sent := range []time.Duration{-time.Second, 10 * time.Second} {
			e = said(fmt.Sprint("late", i), "b")
			e.Submission.Sent = time.Now().Add(sent - time.Minute)
			k.queue(e)
		}
	}},
	{"a paste is not joined by others, other places or pictures", func(k kit) {
		k.queue(part("1", "long"))
		e := said("2", "x")
		e.By = bob
		k.queue(e)
		k.queue(in("2", said("3", "x")))
		k.queue(photo("4", "x"))
	}},
	{"the text for the model is joined too", func(k kit) {
		a := k.queue(part("1", "see @file:a"))
		e := said("2", " and @file:b")
		e.Submission.APIText = " and B"
		got := k.joined(e, a.ID).Submission
		k.equal(got.Text, "see @file:a and @file:b")
		k.equal(got.APIText, "see @file:a and B")
	}},
	{"short messages are never merged", func(k kit) {
		k.equal(len(k.queues(5)), 5)
	}},
	{"joining is not refused by a cap", func(k kit) {
		a := k.queue(photo("1", "x"))
		e := photo("2", "")
		e.Cap, e.WhenIdle = 1, true
		k.joined(e, a.ID)
	}},
}
