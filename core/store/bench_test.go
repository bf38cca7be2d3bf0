package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/store"
)

func open(tb testing.TB, o store.Options) *store.Store {
	tb.Helper()
	if o.DSN == "" {
		o.DSN = filepath.Join(tb.TempDir(), "bellhop.db")
	}
	s, err := store.Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func entry(chat, request int) core.Entry {
	place := fmt.Sprint(chat)
	key := core.Key("chat:" + place)
	return core.Entry{By: core.Principal{ID: core.PrincipalID("chat:u" + place), Caps: core.CanSubmit}, Submission: core.Submission{
		Key: key, Source: string(key), RequestID: core.RequestID(fmt.Sprint(request)), Surface: "chat",
		Text: "Could you tell me what changed since yesterday, and whether anything needs me?", MessageID: fmt.Sprint(request),
		Route: core.Route{Platform: "chat", Chat: place, ReplyTo: fmt.Sprint(request)}, Author: "Ada"}}
}

// turn is what the gateway does with the store for one message.
type turn struct {
	s     *store.Store
	tb    testing.TB
	lease core.Lease
	claim core.Claim
}

func (t *turn) admit(ctx context.Context, e core.Entry) core.ConversationID {
	out, err := t.s.Admit(ctx, core.Intake{Entries: []core.Entry{e}, Cursor: &core.Cursor{Name: "chat", Value: "1"}})
	if err != nil || out[0].Err != nil {
		t.tb.Fatal(err, out)
	}
	return out[0].Admission.Conversation
}

func (t *turn) open(ctx context.Context, c core.ConversationID, id string) {
	var err error
	if t.lease, err = t.s.Acquire(ctx, c, core.TurnID(id), core.Holder{Host: "h", PID: 1, Instance: "i"}, time.Minute, nil); err != nil {
		t.tb.Fatal(err)
	}
	if t.claim, err = t.s.ClaimNext(ctx, t.lease.Fence, nil); err != nil {
		t.tb.Fatal(err)
	}
	if _, err = t.s.OpenSession(ctx, t.lease.Fence, core.Session{ID: t.claim.Session, SystemPrompt: "You are helpful."}); err != nil {
		t.tb.Fatal(err)
	}
	if _, err = t.s.Append(ctx, t.lease.Fence, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Admission: t.claim.Admission.ID,
		Content: t.claim.Admission.Submission.Text}}, Events: []core.Event{{Seq: t.claim.Events, EventBody: core.EventBody{Type: core.MessageStart}}}}); err != nil {
		t.tb.Fatal(err)
	}
}

func (t *turn) settle(ctx context.Context) {
	id := t.claim.Admission.ID
	_, err := t.s.Settle(ctx, t.lease.Fence, id, core.Settlement{
		Outcome: core.Outcome{Result: core.Completed, Reason: core.ReasonAnswered, Text: "Nothing changed.", Usage: core.Usage{Calls: 1, Input: 100}},
		Tail:    []core.Message{{Role: core.RoleAssistant, Admission: id, Content: "Nothing changed."}},
		Events:  []core.Event{{Seq: t.claim.Events + 1, Admission: id, EventBody: core.EventBody{Type: core.MessageComplete, Text: "Nothing changed."}}},
		Deliveries: []core.Delivery{{ID: core.DeliveryID("d" + id), Kind: core.DeliverFinal, State: core.DeliveryLive, LiveUntil: time.Now().Add(time.Minute),
			Route: t.claim.Admission.Submission.Route, Text: "Nothing changed."}},
	})
	if err != nil {
		t.tb.Fatal(err)
	}
}

func BenchmarkAdmit(b *testing.B) {
	t := &turn{s: open(b, store.Options{}), tb: b}
	n := 0
	for b.Loop() {
		n++
		t.admit(b.Context(), entry(n%200, n))
	}
}

// BenchmarkBegin is what stands between a message that is woken and its model call.
func BenchmarkBegin(b *testing.B) {
	t := &turn{s: open(b, store.Options{}), tb: b}
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		c := t.admit(b.Context(), entry(n%200, n))
		b.StartTimer()
		t.open(b.Context(), c, fmt.Sprint("turn", n))
		b.StopTimer()
		t.settle(b.Context())
		b.StartTimer()
	}
}

func BenchmarkSettle(b *testing.B) {
	t := &turn{s: open(b, store.Options{}), tb: b}
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		t.open(b.Context(), t.admit(b.Context(), entry(n%200, n)), fmt.Sprint("turn", n))
		b.StartTimer()
		t.settle(b.Context())
	}
}

// BenchmarkTurns are whole turns, each in a conversation of its own, with so many of them at once.
func BenchmarkTurns(b *testing.B) {
	for _, n := range []int{1, 8, 128} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, store.Options{})
			var chats, turns atomic.Int64
			b.SetParallelism(max(1, n/2))
			b.RunParallel(func(pb *testing.PB) {
				t := &turn{s: s, tb: b}
				chat := int(chats.Add(1))
				for pb.Next() {
					n := int(turns.Add(1))
					t.open(b.Context(), t.admit(b.Context(), entry(chat, n)), fmt.Sprint("turn", n))
					t.settle(b.Context())
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// BenchmarkFlood is what a flood asks of the store: messages are admitted by the hundred, and the turns of many conversations
// begin, settle and mark their answers together. cpu-µs/turn is the processor time of all that.
func BenchmarkFlood(b *testing.B) {
	const chats, poll = 500, 100
	s := open(b, store.Options{})
	waiting := make(chan core.ConversationID, poll)
	var turns atomic.Int64
	begun := processor(b)
	b.ResetTimer()
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			t := &turn{s: s, tb: b}
			for c := range waiting {
				t.flood(b.Context(), c, turns.Add(1))
			}
		})
	}
	for done := 0; done < b.N; done += poll {
		in := core.Intake{Cursor: &core.Cursor{Name: "chat", Value: fmt.Sprint(done)}}
		for n := done; n < min(done+poll, b.N); n++ {
			in.Entries = append(in.Entries, entry(n%chats, n))
		}
		out, err := s.Admit(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		for _, a := range out {
			waiting <- a.Admission.Conversation
		}
	}
	close(waiting)
	all.Wait()
	b.ReportMetric(float64((processor(b)-begun).Microseconds())/float64(b.N), "cpu-µs/turn")
}

// flood is one turn as the dispatcher runs it.
func (t *turn) flood(ctx context.Context, c core.ConversationID, n int64) {
	l, claim, err := t.s.Start(ctx, c, core.TurnID(fmt.Sprint("turn", n)), core.Holder{Host: "h", PID: 1, Instance: "i"}, time.Minute, nil, heard)
	if err != nil || claim == nil {
		return // another worker has the conversation: the row is taken later, by whoever comes next
	}
	t.lease, t.claim = l, *claim
	if claim.Opened == nil {
		if _, err := t.s.OpenSession(ctx, l.Fence, core.Session{ID: claim.Session, SystemPrompt: "You are helpful."}); err != nil {
			t.tb.Error(err)
		}
	}
	t.settle(ctx)
	d := core.Delivery{ID: core.DeliveryID("d" + claim.Admission.ID), State: core.DeliveryDelivered, Done: time.Now(),
		Parts: []core.Part{{Ref: "1", Sent: 1}}}
	if err := t.s.Outbox().Save(ctx, d); err != nil {
		t.tb.Error(err)
	}
}

// heard is what is stored with a claim.
func heard(a core.Admission) core.Opening {
	return core.Opening{Events: []core.EventBody{{Type: core.MessageStart}},
		Messages: []core.Message{{Role: core.RoleUser, Admission: a.ID, Content: a.Submission.Text}}}
}

// processor is the processor time of this process.
func processor(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRows are synced admissions, with so many producers.
func BenchmarkRows(b *testing.B) {
	for _, n := range []int{1, 8, 128} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, store.Options{})
			var rows atomic.Int64
			b.SetParallelism(max(1, n/2))
			b.RunParallel(func(pb *testing.PB) {
				t := &turn{s: s, tb: b}
				for pb.Next() {
					n := int(rows.Add(1))
					t.admit(b.Context(), entry(n%1000, n))
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprint("sync=", sync), func(b *testing.B) {
			t := &turn{s: open(b, store.Options{}), tb: b}
			t.open(b.Context(), t.admit(b.Context(), entry(1, 1)), "turn")
			m := []core.Message{{Role: core.RoleTool, CallID: "c", Content: "some output of a tool", Admission: t.claim.Admission.ID}}
			for b.Loop() {
				if _, err := t.s.Append(b.Context(), t.lease.Fence, core.Batch{Messages: m, Sync: sync}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoad200(b *testing.B) {
	t := &turn{s: open(b, store.Options{}), tb: b}
	c := t.admit(b.Context(), entry(1, 1))
	t.open(b.Context(), c, "turn")
	m := make([]core.Message, 199)
	for i := range m {
		m[i] = core.Message{Role: core.RoleAssistant, Content: "A sentence of usual length, as models write them all day long."}
	}
	if _, err := t.s.Append(b.Context(), t.lease.Fence, core.Batch{Messages: m}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		got, err := t.s.Load(b.Context(), c)
		if err != nil || len(got) != 200 {
			b.Fatal(len(got), err)
		}
	}
}
