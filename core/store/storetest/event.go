package storetest

import (
	"time"

	"bellhop/core"
)

var eventTests = []test{
	{"record and replay", func(k kit) {
		a := k.queue(said("1", "x"))
		e := func(n int64, t core.EventType) core.Event {
			return core.Event{Conversation: a.Conversation, Seq: n, Admission: a.ID, Turn: "t", EventBody: core.EventBody{Type: t, Name: "shell",
				Usage: &core.Usage{Input: 1}}, At: time.Now().Truncate(time.Millisecond)}
		}
		k.ok(k.Record(k.Context(), e(1, core.ToolStart), e(2, core.MessageDelta), e(3, core.ToolComplete), e(9, core.ErrorEvent)))
		k.ok(k.Record(k.Context(), e(3, core.ErrorEvent))) // a number is taken once
		k.equal(must(k.Since(k.Context(), a.Conversation, 0, 99))(k), []core.Event{e(1, core.ToolStart), e(3, core.ToolComplete), e(9, core.ErrorEvent)})
		k.equal(must(k.Since(k.Context(), a.Conversation, 1, 1))(k), []core.Event{e(3, core.ToolComplete)})
		k.want(k.Record(k.Context(), e(0, core.ErrorEvent)), core.Invalid)
		k.want(k.Record(k.Context(), core.Event{Conversation: "none", Seq: 1, EventBody: core.EventBody{Type: core.ErrorEvent}}), core.NotFound)
	}},
	{"numbers", func(k kit) {
		a := k.queue(said("1", "x"))
		k.equal(must(k.Reserve(k.Context(), a.Conversation, 1))(k), int64(1))
		k.equal(must(k.Reserve(k.Context(), a.Conversation, 10))(k), int64(2))
		k.equal(must(k.Reserve(k.Context(), a.Conversation, 1))(k), int64(12))
		_, err := k.Reserve(k.Context(), "none", 1)
		k.want(err, core.NotFound)
		_, err = k.Reserve(k.Context(), a.Conversation, 0)
		k.want(err, core.Invalid)
	}},
	{"trim", func(k kit) {
		a, b := k.queue(said("1", "x")), k.queue(in("2", said("2", "y")))
		f, c := k.start(a.Conversation, "t")
		k.answer(f, c)
		for _, id := range []core.ConversationID{a.Conversation, b.Conversation} {
			k.ok(k.Record(k.Context(), core.Event{Conversation: id, Seq: 1, EventBody: core.EventBody{Type: core.ErrorEvent}}))
		}
		if n := must(k.Trim(k.Context(), time.Now().Add(-time.Hour)))(k); n != 0 {
			k.Fatalf("trimmed %d young events", n)
		}
		time.Sleep(time.Hour)
		k.equal(must(k.Trim(k.Context(), time.Now()))(k), 1) // b is not at rest
		k.equal(len(must(k.Since(k.Context(), b.Conversation, 0, 9))(k)), 1)
		k.equal(must(k.Reserve(k.Context(), a.Conversation, 1))(k), int64(1+core.EventBlock)) // numbers go on
	}},
}
