package dispatch_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/lease"
	"bellhop/core/readback"
	"bellhop/core/store"
	"bellhop/core/turn"
	"bellhop/gateway/dispatch"
	"bellhop/gateway/session"
	"bellhop/stream"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type emitFunc = func(core.EventBody)

// runner is a scripted turn.
type runner func(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message)

func (r runner) Run(ctx context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
	return r(ctx, in, emit)
}

// answers completes each turn with an echo.
func answers(_ context.Context, in turn.Input, emit emitFunc) (core.Outcome, []core.Message) {
	text := "re: " + in.Claim.Admission.Submission.Text
	emit(core.EventBody{Type: core.MessageDelta, Text: text})
	return completed(in, text)
}

func completed(in turn.Input, text string) (core.Outcome, []core.Message) {
	a := in.Claim.Admission
	return core.Outcome{Result: core.Completed, Reason: core.ReasonAnswered, Text: text}, []core.Message{
		{Admission: a.ID, Role: core.RoleUser, Content: a.Submission.Text}, {Admission: a.ID, Role: core.RoleAssistant, Content: text}}
}

// interrupted closes a turn the way a well-behaved one does.
func interrupted(ctx context.Context) (core.Outcome, []core.Message) {
	i, ok := core.InterruptOf(ctx)
	if !ok {
		return core.Outcome{Result: core.Failed, Reason: core.ReasonPanic, Error: "ended without a cause"}, nil
	}
	return core.Outcome{Result: core.Interrupted, Reason: i.Reason}, nil
}

// stores is the real store, whose calls can be made to fail or counted.
type stores struct {
	*store.Store
	settle func(n int64, s core.Settlement) error
	renew  func() error
	look   func() error // of Unsettled
	n      struct{ settle, claim atomic.Int64 }
}

func (s *stores) Settle(ctx context.Context, f core.Fence, id core.AdmissionID, v core.Settlement) (bool, error) {
	n := s.n.settle.Add(1)
	if s.settle != nil {
		if err := s.settle(n, v); err != nil {
			return false, err
		}
	}
	return s.Store.Settle(ctx, f, id, v)
}

func (s *stores) Unsettled(ctx context.Context, c core.ConversationID) ([]core.Admission, error) {
	if s.look != nil {
		if err := s.look(); err != nil {
			return nil, err
		}
	}
	return s.Store.Unsettled(ctx, c)
}

func (s *stores) ClaimNext(ctx context.Context, f core.Fence, open func(core.Admission) core.Opening) (core.Claim, error) {
	s.n.claim.Add(1)
	return s.Store.ClaimNext(ctx, f, open)
}

func (s *stores) Start(ctx context.Context, c core.ConversationID, t core.TurnID, h core.Holder, ttl time.Duration,
	alive func(core.Holder) bool, open func(core.Admission) core.Opening) (core.Lease, *core.Claim, error) {
	l, claim, err := s.Store.Start(ctx, c, t, h, ttl, alive, open)
	if claim != nil {
		s.n.claim.Add(1)
	}
	return l, claim, err
}

func (s *stores) Renew(ctx context.Context, f core.Fence, ttl time.Duration) (core.Lease, error) {
	if s.renew != nil {
		if err := s.renew(); err != nil {
			return core.Lease{}, err
		}
	}
	return s.Store.Renew(ctx, f, ttl)
}

// gateway is a dispatcher on a real store and hub, with everything else scripted.
type gateway struct {
	*dispatch.Dispatcher
	t        testing.TB
	store    *stores
	hub      *stream.Hub
	sessions *session.Registry
	outlet   *outlet
	reader   *readback.Reader
	cfg      dispatch.Config
	stop     context.CancelFunc
	running  sync.WaitGroup
	n        int

	mu    sync.Mutex
	told  []string // through Notify
	quiet int
}

// newGateway makes a gateway that does not run yet.
func newGateway(t testing.TB, r runner, change ...func(*dispatch.Config)) *gateway {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "bellhop.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	g := &gateway{t: t, store: &stores{Store: s}, outlet: &outlet{}}
	g.cfg = dispatch.Config{Runner: r, Drain: time.Second,
		Notify: func(_ context.Context, _ core.Route, _ core.ConversationID, text string) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.told = append(g.told, text)
		},
		Quiet: func(context.Context, core.ConversationID) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.quiet++
		}}
	g.process("one", change...)
	return g
}

// process gives the gateway the memory of a new process on the same store.
func (g *gateway) process(instance string, change ...func(*dispatch.Config)) {
	alive := func(h core.Holder) bool { return h.Instance == instance }
	g.sessions = session.New()
	g.hub = stream.NewHub(g.store, stream.HubOptions{})
	c := g.cfg
	c.Store, c.Hub, c.Sessions, c.Outlet, c.Alive = g.store, g.hub, g.sessions, g.outlet, alive
	c.Holder = core.Holder{Host: "here/boot", PID: 1, Instance: instance}
	c.Keeper = lease.New(g.store, lease.Options{Alive: alive})
	g.reader = readback.New(g.store, readback.Options{Emit: func(ctx context.Context, a core.Admission, b core.EventBody) {
		g.hub.Emit(ctx, a.Conversation, a.ID, a.Turn, b)
	}})
	c.Readback = g.reader
	for _, f := range change {
		f(&c)
	}
	g.Dispatcher = dispatch.New(c)
}

// start runs the dispatcher and the hub until halt.
func (g *gateway) start() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(g.t.Context()))
	hub, hubCancel := context.WithCancel(context.WithoutCancel(ctx))
	var flushed sync.WaitGroup
	flushed.Go(func() { _ = g.hub.Run(hub) })
	g.running.Go(func() {
		if err := g.Run(ctx); err != nil {
			g.t.Error(err)
		}
		hubCancel()
		flushed.Wait()
	})
	g.stop = cancel
	g.t.Cleanup(g.halt)
}

// halt stops the dispatcher and waits for it.
func (g *gateway) halt() {
	g.stop()
	g.running.Wait()
}

// bubble runs a test on a running gateway in a bubble of its own time.
func bubble(t *testing.T, r runner, f func(t *testing.T, g *gateway), change ...func(*dispatch.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, r, change...)
		g.start()
		synctest.Wait() // the first sweep must not find what the test is about to admit
		f(t, g)
		g.halt()
		g.balanced()
	})
}

var ann = core.Principal{ID: "chat:ann", Caps: core.CanRead | core.CanSubmit}

// admit stores a message without waking anybody.
func (g *gateway) admit(chat string, change ...func(*core.Entry)) core.Admission {
	g.t.Helper()
	g.n++
	e := core.Entry{By: ann, Submission: core.Submission{Key: core.Key("chat:" + chat), Source: "chat:" + chat,
		RequestID: core.RequestID(fmt.Sprint(g.n)), Text: fmt.Sprint("m", g.n), Surface: "chat", Route: core.Route{Platform: "chat", Chat: chat}}}
	for _, c := range change {
		c(&e)
	}
	got, err := g.store.Admit(g.t.Context(), core.Intake{Entries: []core.Entry{e}})
	if err == nil {
		err = got[0].Err
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return got[0].Admission
}

// say admits a message and wakes.
func (g *gateway) say(chat string, change ...func(*core.Entry)) core.Admission {
	g.t.Helper()
	a := g.admit(chat, change...)
	g.Wake(a.Conversation)
	return a
}

func (g *gateway) row(id core.AdmissionID) core.Admission {
	g.t.Helper()
	a, err := g.store.Admission(g.t.Context(), id)
	if err != nil {
		g.t.Fatal(err)
	}
	return a
}

// ended waits until a row is terminal. In a bubble time passes meanwhile.
func (g *gateway) ended(id core.AdmissionID, most time.Duration) core.Admission {
	g.t.Helper()
	deadline := time.After(most)
	step := max(5*time.Millisecond, most/500)
	for {
		a := g.row(id)
		if a.Status == core.Terminal {
			return a
		}
		select {
		case <-deadline:
			g.t.Fatalf("%s is still %s after %v", id, a.Status, most)
		case <-time.After(step):
		}
	}
}

// until waits for a condition.
func (g *gateway) until(what string, ok func() bool) {
	g.t.Helper()
	deadline := time.After(30 * time.Minute)
	for step := time.Millisecond; !ok(); step = min(2*step, time.Second) {
		select {
		case <-deadline:
			g.t.Fatalf("never: %s", what)
		case <-time.After(step):
		}
	}
}

func (g *gateway) balanced() {
	g.t.Helper()
	c, err := g.store.Census(context.WithoutCancel(g.t.Context()))
	if err != nil || !c.Balanced() {
		g.t.Errorf("census %+v %v", c, err)
	}
}

func (g *gateway) notices() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.told)
}

// outlet opens views that note what happens to them.
type outlet struct {
	mu    sync.Mutex
	views []*view
	panic string // the method that panics
	wait  chan struct{}
}

func (o *outlet) Open(_ context.Context, c *core.Claim, f core.Fence) dispatch.View {
	v := &view{o: o, claim: c, fence: f}
	v.note("open")
	o.mu.Lock()
	o.views = append(o.views, v)
	o.mu.Unlock()
	return v
}

// of returns the newest view of a row.
func (o *outlet) of(id core.AdmissionID) *view {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range slices.Backward(o.views) {
		if v.claim.Admission.ID == id {
			return v
		}
	}
	return nil
}

type view struct {
	o     *outlet
	claim *core.Claim
	fence core.Fence

	mu  sync.Mutex
	log []string
}

func (v *view) note(what string) {
	v.mu.Lock()
	v.log = append(v.log, what)
	v.mu.Unlock()
	if v.o.panic == what {
		panic("the view's " + what)
	}
}

// story is what happened to the view, in order.
func (v *view) story() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.log)
}

func (v *view) did(what string) bool { return slices.Contains(v.story(), what) }

func (v *view) On(e core.Event) { v.note("on " + string(e.Type)) }

func (v *view) End(string) { v.note("end") }

func (v *view) Final(o core.Outcome) (core.Delivery, bool) {
	v.note("final")
	a := v.claim.Admission
	return core.Delivery{ID: core.DeliveryID("d-" + a.ID), Conversation: a.Conversation, Admission: a.ID, Turn: v.fence.Turn, Kind: core.DeliverFinal,
		State: core.DeliveryLive, LiveUntil: time.Now().Add(30 * time.Second), Route: a.Submission.Route, Text: o.Text}, !a.Submission.Route.IsZero()
}

func (v *view) Settled(ctx context.Context, _ core.Delivery) error {
	if v.o.wait != nil {
		<-v.o.wait
	}
	v.note("settled")
	return ctx.Err()
}

func (v *view) Abandon() { v.note("abandon") }
