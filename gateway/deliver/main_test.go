package deliver

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/store"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Starting and stopping under load leaks nothing and loses nothing.
func TestStartStopStress(t *testing.T) {
	for range 10 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, unlimited)
			for i := range 20 {
				var g sync.WaitGroup
				g.Go(func() { w.say(notice(fmt.Sprint(i), "hello")) })
				c := w.turn("t" + fmt.Sprint(i))
				c.say("one ")
				w.stop()
				g.Wait()
				w.start()
				// The view is of the Mouth before: what it leaves the new one may have sent already.
				_, err := c.show(core.Outcome{Result: core.Completed, Reason: core.ReasonAnswered, Text: "one two"})
				if err != nil && !core.Is(err, core.Conflict) {
					t.Error(err)
				}
			}
			w.settleDown()
			w.close()
			for i := range 20 {
				wantTexts(t, w.p, fmt.Sprint(i), "hello")
				if shown := w.p.texts(fmt.Sprint("t", i)); !slices.ContainsFunc(shown, func(s string) bool { return strings.HasSuffix(s, "one two") }) {
					t.Errorf("the answer %d is not there: %q", i, shown)
				}
			}
		})
	}
}

// settleDown waits until nothing is owed any more.
func (w *world) settleDown() {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		owed, err := w.s.Outbox().Owed(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if owed[core.DeliveryOwed]+owed[core.DeliverySending]+owed[core.DeliveryLive] == 0 {
			return
		}
		<-tick.C
	}
	w.t.Fatal("something is still owed")
}

// One short answer: open, one delta, final, settled; the store is a stub, so this is deliver's own share.
func BenchmarkShortAnswer(b *testing.B) {
	p := &platform{limits: adapters.Limits{Text: 4096}}
	m := New(Config{Store: stub{}, Turns: nothing{}, Adapters: []adapters.Adapter{silent{p}}, Platforms: map[string]Platform{"": {Mode: "edit", Limits: Limits{Off: true}}}})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	for !m.running() {
		time.Sleep(time.Millisecond)
	}
	claim := core.Claim{Admission: core.Admission{ID: "A", Conversation: "C", Submission: core.Submission{Route: core.Route{Platform: "fake", Chat: "1"}}}}
	b.ReportAllocs()
	for b.Loop() {
		v := m.Open(ctx, &claim, core.Fence{Turn: "T"})
		v.On(core.Event{Turn: "T", EventBody: core.EventBody{Type: core.MessageDelta, Text: "Hello there"}})
		v.End("Hello there")
		d, _ := v.Final(core.Outcome{Result: core.Completed, Text: "Hello there"})
		if err := v.Settled(ctx, d); err != nil {
			b.Fatal(err)
		}
	}
	cancel()
	<-done
}

type stub struct{ core.Deliveries }

func (stub) Put(context.Context, ...core.Delivery) error  { return nil }
func (stub) Save(context.Context, ...core.Delivery) error { return nil }
func (stub) Due(context.Context, time.Time, time.Duration, int) ([]core.Delivery, error) {
	return nil, nil
}
func (stub) Owing(context.Context, core.DeliveryKind, int) ([]core.Delivery, error) { return nil, nil }
func (stub) Next(context.Context) (time.Time, error)                                { return time.Time{}, nil }

// nothing is known of any turn.
type nothing struct{ Turns }

func (nothing) Ended(context.Context, time.Time) ([]core.Question, error) { return nil, nil }

// silent remembers nothing.
type silent struct{ *platform }

func (silent) Send(context.Context, adapters.Target, adapters.Outgoing) (adapters.Ref, error) {
	return "1", nil
}
func (silent) Edit(context.Context, adapters.Target, adapters.Ref, adapters.Outgoing) error {
	return nil
}

// The same with the store: what a flood of short answers costs.
func BenchmarkShortAnswerStored(b *testing.B) {
	s, err := store.Open(b.Context(), store.Options{DSN: filepath.Join(b.TempDir(), "b.db"), Sync: "normal"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	m := New(Config{Store: s.Outbox(), Chats: s, Adapters: []adapters.Adapter{silent{&platform{limits: adapters.Limits{Text: 4096}}}},
		Platforms: map[string]Platform{"": {Limits: Limits{Off: true}}}})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := m.Say(b.Context(), core.Delivery{Route: core.Route{Platform: "fake", Chat: "1"}, Text: "x"}); err != nil {
				b.Error(err)
			}
		}
	})
}
