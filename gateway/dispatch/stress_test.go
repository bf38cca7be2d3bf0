package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/turn"
	"bellhop/gateway/dispatch"
)

func TestStartStop(t *testing.T) {
	g := newGateway(t, answers)
	for round := range 10 {
		g.process(fmt.Sprint("p", round))
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if err := g.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		for n := range 50 {
			a := g.admit(fmt.Sprint(n % 7))
			wg.Go(func() { g.Wake(a.Conversation) })
			if n == 25+round {
				cancel()
			}
		}
		cancel()
		wg.Wait()
		if running := g.sessions.Running(); len(running) != 0 {
			t.Errorf("still running: %+v", running)
		}
	}
	g.process("last")
	g.start()
	g.until("the queue is empty", func() bool {
		open, err := g.store.Unsettled(t.Context(), "")
		return err == nil && len(open) == 0
	})
	g.halt()
	g.balanced()
}

// TestSimulation throws everything at the dispatcher at random: messages, stops, newer input, panics, turns that hang, lost
// leases, a failing store, restarts. In the end every accepted row has exactly one receipt, and each conversation ran in
// order.
func TestSimulation(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { simulate(t, seed) })
		})
	}
}

// simulation is one run and what it noted.
type simulation struct {
	t *testing.T
	g *gateway

	mu      sync.Mutex
	rng     *rand.Rand
	calm    bool // no more faults
	order   map[core.ConversationID][]int64
	release chan struct{}
}

func (s *simulation) chance(percent int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.calm && s.rng.IntN(100) < percent
}

func (s *simulation) pick(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(n)
}

// run is a turn that may do anything. A place in the order is noted when it begins; a retry keeps the place of its row.
func (s *simulation) run(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
	a := in.Claim.Admission
	s.mu.Lock()
	s.order[a.Conversation] = append(s.order[a.Conversation], a.Seq)
	s.mu.Unlock()
	in.Active("thinking")
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(s.pick(3000)) * time.Millisecond):
	}
	switch {
	case s.chance(8):
		panic("a bug")
	case s.chance(5):
		<-s.release // hangs
	}
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	return answers(ctx, in, emit)
}

func simulate(t *testing.T, seed uint64) {
	s := &simulation{t: t, rng: rand.New(rand.NewPCG(seed, 1)), order: map[core.ConversationID][]int64{}, release: make(chan struct{})}
	fast := func(c *dispatch.Config) { c.MaxParallel, c.Liveness = 4, time.Minute }
	s.g = newGateway(t, s.run, fast)
	s.g.store.settle = func(int64, core.Settlement) error {
		switch {
		case s.chance(3):
			return core.Errorf("settle", core.NoSpace, "full")
		case s.chance(2):
			return core.Errorf("settle", core.Stale, "taken over")
		case s.chance(2):
			return errors.New("odd")
		}
		return nil
	}
	s.g.start()
	var rows []core.Admission
	for step := range 120 {
		chat := fmt.Sprint(s.pick(5))
		a := s.g.say(chat)
		rows = append(rows, a)
		switch {
		case s.chance(15):
			s.g.sessions.Interrupt(a.Conversation, core.Interrupt{Reason: core.ReasonStopped})
		case s.chance(10):
			s.g.sessions.Interrupt(a.Conversation, core.Interrupt{Reason: core.ReasonReplaced})
		case s.chance(4):
			s.g.halt()
			s.g.process(fmt.Sprint("p", step), fast)
			s.g.start()
		}
		<-time.After(time.Duration(s.pick(1500)) * time.Millisecond)
	}
	s.mu.Lock()
	s.calm = true
	s.mu.Unlock()
	close(s.release)
	for _, a := range rows {
		s.g.ended(a.ID, 2*time.Hour)
	}
	s.g.until("retries are done", func() bool {
		open, err := s.g.store.Unsettled(t.Context(), "")
		return err == nil && len(open) == 0
	})
	s.g.halt()
	s.check(rows)
}

func (s *simulation) check(rows []core.Admission) {
	s.g.balanced()
	census, err := s.g.store.Census(s.t.Context())
	if err != nil || census.Terminal < int64(len(rows)) || census.Queued+census.Started+census.Unknown != 0 {
		s.t.Errorf("census %+v %v", census, err)
	}
	for c, order := range s.order {
		if !slices.IsSorted(order) {
			s.t.Errorf("%s ran in the order %v", c, order)
		}
	}
	ends := map[core.AdmissionID]int{}
	for c := range s.order {
		events, err := s.g.store.Since(s.t.Context(), c, 0, 10_000)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range events {
			if e.Type == core.MessageComplete {
				ends[e.Admission]++
			}
		}
	}
	for id, n := range ends {
		if n != 1 {
			s.t.Errorf("%s ended %d times", id, n)
		}
	}
	for _, a := range rows {
		if row := s.g.row(a.ID); row.Outcome.Result == core.Completed && ends[a.ID] != 1 {
			s.t.Errorf("%s completed and %d ends are stored", a.ID, ends[a.ID])
		}
	}
}

// BenchmarkTurn is what a turn costs beside its work: wake, lease, claim, settlement and news, on a real store.
func BenchmarkTurn(b *testing.B) {
	for _, chats := range []int{1, 16} {
		b.Run(fmt.Sprint(chats, " conversations"), func(b *testing.B) {
			const deep = 8 // rows that wait in each
			done := make(chan struct{}, chats*deep)
			g := newGateway(b, answers, func(c *dispatch.Config) {
				c.Observe = func(core.Outcome, time.Duration) { done <- struct{}{} }
				c.Outlet = nil
				c.Quiet = nil
			})
			rows := make([]core.Admission, chats)
			g.start()
			b.ReportAllocs()
			b.ResetTimer()
			for left := b.N; left > 0; left -= chats * deep {
				b.StopTimer()
				for n := range chats * deep {
					rows[n%chats] = g.admit(fmt.Sprint(n % chats))
				}
				b.StartTimer()
				for _, a := range rows {
					g.Wake(a.Conversation)
				}
				for range chats * deep {
					<-done
				}
			}
			b.StopTimer()
			g.halt()
		})
	}
}
