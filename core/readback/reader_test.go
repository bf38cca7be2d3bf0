package readback_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/readback"
	"bellhop/core/store"
)

const (
	ttl    = 300 * time.Second
	key    = core.Key("chat:1")
	author = core.PrincipalID("chat:ann")
)

var route = core.Route{Platform: "chat", Chat: "1"}

// world is a real store with one conversation, and a reader on it.
type world struct {
	*store.Store
	t      *testing.T
	r      *readback.Reader
	c      core.ConversationID
	n      int
	events []core.EventBody
}

func newWorld(t *testing.T, o readback.Options) *world {
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
	w := &world{Store: s, t: t}
	o.Emit = func(_ context.Context, _ core.Admission, b core.EventBody) { w.events = append(w.events, b) }
	w.r = readback.New(s, o)
	return w
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func principal(id core.PrincipalID, caps core.Capability) core.Principal {
	return core.Principal{ID: id, Caps: caps}
}

// say admits a message.
func (w *world) say(by core.Principal, change ...func(*core.Submission)) core.Admission {
	w.t.Helper()
	w.n++
	s := core.Submission{Key: key, Source: "chat:1", RequestID: core.RequestID(fmt.Sprint(w.n)), Text: fmt.Sprint("message ", w.n),
		Surface: "chat", Route: route}
	for _, c := range change {
		c(&s)
	}
	got := must[[]core.Admitted](w.t)(w.Admit(w.t.Context(), core.Intake{Entries: []core.Entry{{By: by, Submission: s}}}))
	w.c = got[0].Admission.Conversation
	return got[0].Admission
}

func (w *world) author() core.Principal { return principal(author, core.CanSubmit) }

// dies claims the head, writes what its turn wrote, and loses the process.
func (w *world) dies(batches ...core.Batch) core.Admission {
	w.t.Helper()
	ctx := w.t.Context()
	l := must[core.Lease](w.t)(w.Acquire(ctx, w.c, core.TurnID(fmt.Sprint("t", w.n)), core.Holder{PID: 1}, ttl, nil))
	claim := must[core.Claim](w.t)(w.ClaimNext(ctx, l.Fence, nil))
	id := claim.Admission.ID
	for _, b := range batches {
		for n := range b.Messages {
			b.Messages[n].Admission = id
		}
		for n := range b.Calls {
			b.Calls[n].Admission = id
		}
		must[[]core.Message](w.t)(w.Append(ctx, l.Fence, b))
	}
	lost := must[[]core.Admission](w.t)(w.Orphan(ctx, func(core.Holder) bool { return false }))
	if len(lost) != 1 || lost[0].Status != core.Unknown {
		w.t.Fatalf("orphans: %+v", lost)
	}
	return lost[0]
}

func (w *world) settle(row core.Admission) readback.Report {
	w.t.Helper()
	return must[readback.Report](w.t)(w.r.Settle(w.t.Context(), row))
}

func (w *world) row(id core.AdmissionID) core.Admission {
	w.t.Helper()
	return must[core.Admission](w.t)(w.Admission(w.t.Context(), id))
}

func (w *world) sent(id core.AdmissionID) []core.Delivery {
	w.t.Helper()
	return must[[]core.Delivery](w.t)(w.Outbox().Of(w.t.Context(), id))
}

// delivered marks the notice of a row.
func (w *world) delivered(id core.AdmissionID) {
	w.t.Helper()
	d := w.sent(id)[0]
	d.State, d.Done = core.DeliveryDelivered, time.Now()
	if err := w.Outbox().Save(w.t.Context(), d); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) balanced() {
	w.t.Helper()
	if c := must[core.Census](w.t)(w.Census(w.t.Context())); !c.Balanced() {
		w.t.Errorf("census %+v", c)
	}
}

func user() core.Batch {
	return core.Batch{Messages: []core.Message{{Role: core.RoleUser, Content: "do it"}}}
}

// calls records calls, and moves them to a state in a second write.
func called(s core.CallState, e core.Effect, ids ...string) []core.Batch {
	m := core.Message{Role: core.RoleAssistant, Interim: true, Content: "I will make it."}
	var rows, moved []core.Call
	for n, id := range ids {
		m.Calls = append(m.Calls, core.ToolCall{ID: id, Name: "shell", Args: json.RawMessage(`{"cmd":"make"}`)})
		c := core.Call{ID: id, Place: n, Name: "shell", Args: json.RawMessage(`{"cmd":"make"}`), Effect: e, State: core.CallRecorded}
		rows = append(rows, c)
		c.State = s
		moved = append(moved, c)
	}
	return []core.Batch{{Messages: []core.Message{m}, Calls: rows}, {Calls: moved, Sync: true}}
}

func TestHarmlessTurnIsRetriedOnceAheadOfLaterRows(t *testing.T) {
	w := newWorld(t, readback.Options{})
	first := w.say(w.author())
	later := w.say(w.author())
	row := w.dies(user())
	report := w.settle(row)
	if report.Retry == nil || report.Retry.RetryOf != first.ID || report.Retry.Resume || report.Unknown {
		t.Fatalf("%+v", report)
	}
	if again := w.settle(row); again.Retry != nil {
		t.Error("retried twice")
	}
	open := must[[]core.Admission](t)(w.Unsettled(t.Context(), w.c))
	if len(open) != 2 || open[0].ID != report.Retry.ID || open[1].ID != later.ID {
		t.Errorf("order: %+v", open)
	}
	if o := w.row(first.ID).Outcome; o.Result != core.Interrupted || o.Reason != core.ReasonRetried {
		t.Errorf("%+v", o)
	}
	if len(w.sent(first.ID)) != 0 || len(w.events) != 0 {
		t.Error("a safe retry is silent")
	}
	w.balanced()
}

func TestChainOfContinuationsKeepsItsEvidence(t *testing.T) {
	w := newWorld(t, readback.Options{})
	w.say(w.author())
	first := w.settle(w.dies(append([]core.Batch{user()}, called(core.CallRecorded, core.Once, "x")...)...))
	if first.Decision.Case != readback.CallsDone || first.Retry == nil || !first.Retry.Resume {
		t.Fatalf("%+v", first)
	}
	// The continuation starts the call and dies: nothing of its own says that there is a call with effects.
	second := w.settle(w.dies(core.Batch{Sync: true, Calls: []core.Call{{ID: "x", Name: "shell", Effect: core.Once, State: core.CallStarted}}}))
	if second.Decision.Case != readback.Effects || !second.Unknown {
		t.Fatalf("the effect of a continued call was forgotten: %+v", second)
	}
}

func TestRepeatableCallsAreSetBack(t *testing.T) {
	w := newWorld(t, readback.Options{})
	row := w.say(w.author())
	report := w.settle(w.dies(append([]core.Batch{user()}, called(core.CallStarted, core.Idempotent, "x")...)...))
	if report.Decision.Case != readback.Repeatable || report.Retry == nil {
		t.Fatalf("%+v", report)
	}
	calls := must[[]core.Call](t)(w.Calls(t.Context(), report.Retry.ID))
	if len(calls) != 1 || calls[0].State != core.CallRecorded {
		t.Errorf("%+v", calls)
	}
	if said := must[[]core.Message](t)(w.Said(t.Context(), row.ID)); len(said) != 2 {
		t.Errorf("reading back wrote to the transcript: %+v", said)
	}
}

func TestStoredAnswerIsDelivered(t *testing.T) {
	w := newWorld(t, readback.Options{})
	row := w.say(w.author())
	w.settle(w.dies(user(), core.Batch{Messages: []core.Message{{Role: core.RoleAssistant, Content: "42"}}}))
	if o := w.row(row.ID).Outcome; o.Result != core.Completed || o.Text != "42" {
		t.Errorf("%+v", o)
	}
	if d := w.sent(row.ID); len(d) != 1 || d[0].Kind != core.DeliverFinal || d[0].State != core.DeliveryOwed || d[0].Text != "42" {
		t.Errorf("%+v", d)
	}
	if len(w.events) != 1 || w.events[0].Type != core.MessageComplete || w.events[0].Status != "complete" {
		t.Errorf("%+v", w.events)
	}
}

// effects makes a turn that died while a call with effects ran.
func (w *world) effects(change ...func(*core.Submission)) core.Admission {
	w.say(w.author(), change...)
	return w.dies(append([]core.Batch{user()}, called(core.CallStarted, core.Once, fmt.Sprint("x", w.n))...)...)
}

func TestAuthorIsToldOnce(t *testing.T) {
	w := newWorld(t, readback.Options{})
	row := w.effects()
	for range 3 {
		if r := w.settle(row); !r.Unknown {
			t.Fatalf("%+v", r)
		}
	}
	d := w.sent(row.ID)
	if len(d) != 1 || d[0].Kind != core.DeliverNotice || d[0].State != core.DeliveryOwed || !strings.Contains(d[0].Text, "make") {
		t.Fatalf("%+v", d)
	}
	for n, as := range []string{"done", "retry", "drop"} {
		if got, want := d[0].Buttons[n].Data, "fate:"+string(row.ID)+":"+as; got != want || len(got) > 64 {
			t.Errorf("button %q, want %q", got, want)
		}
	}
	if w.row(row.ID).Status != core.Unknown {
		t.Error("settled without proof")
	}
}

// What a turn showed while it ran stops looking as if it went on once the turn is settled; one that goes on keeps it.
func TestLiveMessageIsFinished(t *testing.T) {
	for _, as := range []string{readback.AsDone, readback.AsDrop, readback.AsRetry, "a new message"} {
		for _, state := range []core.DeliveryState{core.DeliveryLive, core.DeliveryOwed, core.DeliveryMoved} {
			t.Run(as+" "+string(state), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					finals := finalsOf(t, as, state)
					if as == readback.AsRetry {
						if len(finals) != 0 {
							t.Errorf("taken from the retry: %+v", finals)
						}
						return
					}
					if len(finals) != 1 || finals[0].State != core.DeliveryOwed || len(finals[0].Parts) != 1 ||
						finals[0].Parts[0].Ref != "7" || finals[0].Text != "I will make it." || !finals[0].LiveUntil.IsZero() {
						t.Errorf("%+v", finals)
					}
				})
			})
		}
	}
}

// finalsOf settles a turn that had shown something, and returns its finals.
func finalsOf(t *testing.T, as string, state core.DeliveryState) (finals []core.Delivery) {
	w := newWorld(t, readback.Options{})
	row := w.effects()
	w.settle(row)
	w.delivered(row.ID)
	preview := core.Delivery{ID: "P", Conversation: w.c, Admission: row.ID, Turn: row.Turn, Kind: core.DeliverPreview, State: state,
		Route: route, Parts: []core.Part{{Ref: "7", Hash: "growing", Sent: 1}, {Sent: 1}}}
	if err := w.Outbox().Put(t.Context(), preview); err != nil {
		t.Fatal(err)
	}
	if as == "a new message" {
		<-time.After(time.Second) // the notice was read before
		w.say(w.author())
		w.settle(row)
	} else if _, err := w.r.Resolve(t.Context(), w.author(), row.ID, as); err != nil {
		t.Fatal(err)
	}
	for _, d := range w.sent(row.ID) {
		if d.Kind == core.DeliverFinal {
			finals = append(finals, d)
		}
	}
	w.balanced()
	return finals
}

func TestWithoutARouteClientsAreToldOnce(t *testing.T) {
	w := newWorld(t, readback.Options{})
	row := w.effects(func(s *core.Submission) { s.Route = core.Route{} })
	for range 3 {
		w.settle(row)
	}
	if len(w.events) != 1 || w.events[0].Ask == nil || w.events[0].Ask.Kind != core.Fate {
		t.Errorf("%+v", w.events)
	}
	if due := must[[]core.Delivery](t)(w.Outbox().Due(t.Context(), time.Now().Add(time.Hour), time.Minute, 10)); len(due) != 0 {
		t.Errorf("something is sent to nowhere: %+v", due)
	}
}

func TestWhatLetsTheQueueMove(t *testing.T) {
	member := principal("chat:bob", core.CanSubmit)
	control := principal("chat:eve", core.CanSubmit|core.CanControl)
	produced := func(s *core.Submission) { s.Producer, s.Source = "cron", "internal:cron" }
	for _, tc := range []struct {
		name      string
		delivered bool
		by        core.Principal
		change    func(*core.Submission)
		wait      time.Duration
		moves     bool
	}{
		{"the author, after the notice arrived", true, principal(author, core.CanSubmit), nil, 0, true},
		{"the author, before it arrived", false, principal(author, core.CanSubmit), nil, 0, false},
		{"another member", true, member, nil, time.Hour, false},
		{"another member, a day later", true, member, nil, 24 * time.Hour, true},
		{"somebody with control", true, control, nil, 0, true},
		{"an internal event, too early", true, principal("internal:cron", core.CanSubmit), produced, 9 * time.Minute, false},
		{"an internal event, after its time", true, principal("internal:cron", core.CanSubmit), produced, 10 * time.Minute, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, readback.Options{})
				row := w.effects()
				before := w.say(w.author()) // queued before anybody could know
				if r := w.settle(row); !r.Unknown || r.Again.IsZero() {
					t.Fatalf("%+v", r)
				}
				<-time.After(time.Second)
				if tc.delivered {
					w.delivered(row.ID)
				}
				<-time.After(time.Second)
				change := tc.change
				if change == nil {
					change = func(*core.Submission) {}
				}
				w.say(tc.by, change)
				<-time.After(tc.wait)
				r := w.settle(row)
				if r.Unknown == tc.moves {
					t.Fatalf("unknown %v, want %v (again %v)", r.Unknown, !tc.moves, time.Until(r.Again))
				}
				if !tc.moves {
					if r.Again.IsZero() {
						t.Error("nobody looks again")
					}
					return
				}
				o := w.row(row.ID).Outcome
				if o.Result != core.Interrupted || o.Reason != core.ReasonMoved || !o.Uncertain {
					t.Errorf("%+v", o)
				}
				said := must[[]core.Message](t)(w.Said(t.Context(), row.ID))
				if n := len(said); n != 4 || said[2].Content != readback.Unseen || !said[2].Synthetic {
					t.Errorf("%+v", said)
				}
				l := must[core.Lease](t)(w.Acquire(t.Context(), w.c, "next", core.Holder{PID: 1}, ttl, nil))
				if c := must[core.Claim](t)(w.ClaimNext(t.Context(), l.Fence, nil)); c.Admission.ID != before.ID {
					t.Errorf("claimed %s", c.Admission.ID)
				}
				w.balanced()
			})
		})
	}
}

func TestPersonDecides(t *testing.T) {
	for _, tc := range []struct {
		as     string
		result core.Result
		reason core.Reason
		retry  bool
	}{
		{readback.AsDone, core.Completed, core.ReasonDone, false},
		{readback.AsDrop, core.Interrupted, core.ReasonDropped, false},
		{readback.AsRetry, core.Interrupted, core.ReasonRetried, true},
	} {
		t.Run(tc.as, func(t *testing.T) {
			w := newWorld(t, readback.Options{})
			row := w.effects()
			w.settle(row)
			ctx := t.Context()
			if _, err := w.r.Resolve(ctx, principal("chat:bob", core.CanSubmit), row.ID, tc.as); !core.Is(err, core.Denied) {
				t.Errorf("somebody else: %v", err)
			}
			if _, err := w.r.Resolve(ctx, w.author(), row.ID, "maybe"); !core.Is(err, core.Invalid) {
				t.Errorf("nonsense: %v", err)
			}
			retry, err := w.r.Resolve(ctx, w.author(), row.ID, tc.as)
			if err != nil || (retry != nil) != tc.retry {
				t.Fatalf("%+v %v", retry, err)
			}
			if o := w.row(row.ID).Outcome; o.Result != tc.result || o.Reason != tc.reason {
				t.Errorf("%+v", o)
			}
			if _, err := w.r.Resolve(ctx, w.author(), row.ID, tc.as); !core.Is(err, core.Conflict) {
				t.Errorf("twice: %v", err)
			}
			calls := must[[]core.Call](t)(w.Calls(ctx, row.ID))
			if want := map[bool]core.CallState{true: core.CallRecorded, false: core.CallDone}[tc.retry]; calls[0].State != want {
				t.Errorf("the call is %s", calls[0].State)
			}
			w.balanced()
		})
	}
}

func TestInputThatKillsIsGivenUp(t *testing.T) {
	w := newWorld(t, readback.Options{Chain: 3})
	w.say(w.author())
	var last readback.Report
	for n := range 3 {
		last = w.settle(w.dies(user()))
		if retried := last.Retry != nil; retried != (n < 2) {
			t.Fatalf("try %d: %+v", n+1, last)
		}
	}
	if last.Decision.Outcome.Result != core.Failed || last.Decision.Deliver == nil || last.Decision.Deliver.Text == "" {
		t.Errorf("%+v", last.Decision)
	}
	if open := must[[]core.Admission](t)(w.Unsettled(t.Context(), w.c)); len(open) != 0 {
		t.Errorf("still open: %+v", open)
	}
	w.balanced()
}

// What was asked to stop does not go on; what has an open effect still asks, and an answer that is there is given.
func TestStopped(t *testing.T) {
	answered := user()
	answered.Messages = append(answered.Messages, core.Message{Role: core.RoleAssistant, Content: "done"})
	for _, tc := range []struct {
		name    string
		batches []core.Batch
		want    core.Reason
		unknown bool
	}{
		{"nothing was done", []core.Batch{user()}, core.ReasonStopped, false},
		{"a call was recorded", append([]core.Batch{user()}, called(core.CallRecorded, core.Once, "x")...), core.ReasonStopped, false},
		{"a call may be repeated", append([]core.Batch{user()}, called(core.CallStarted, core.Idempotent, "x")...), core.ReasonStopped, false},
		{"a call has an open effect", append([]core.Batch{user()}, called(core.CallStarted, core.Once, "x")...), "", true},
		{"the answer is stored", []core.Batch{answered}, core.ReasonAnswered, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, readback.Options{Stopped: func(context.Context, core.Admission) (bool, error) { return true, nil }})
			w.say(w.author())
			row := w.dies(tc.batches...)
			rep := w.settle(row)
			if rep.Retry != nil || rep.Unknown != tc.unknown || w.row(row.ID).Outcome.Reason != tc.want {
				t.Errorf("%+v %+v", rep, w.row(row.ID).Outcome)
			}
			said := must[[]core.Message](t)(w.Said(t.Context(), row.ID))
			if last := said[len(said)-1]; tc.want == core.ReasonStopped && (last.Role != core.RoleAssistant || !last.Synthetic) {
				t.Errorf("the tail is not closed: %+v", said)
			}
			w.balanced()
		})
	}
}

// A turn that was to go on and was cancelled first leaves no message behind that looks as if it grew.
func TestForsaken(t *testing.T) {
	w := newWorld(t, readback.Options{})
	w.say(w.author())
	row := w.dies(user())
	preview := core.Delivery{ID: "p", Conversation: row.Conversation, Admission: row.ID, Turn: row.Turn, Kind: core.DeliverPreview,
		State: core.DeliveryLive, Route: route, Parts: []core.Part{{Ref: "7"}}}
	if err := w.Outbox().Put(t.Context(), preview); err != nil {
		t.Fatal(err)
	}
	retry := w.settle(row).Retry
	if retry == nil {
		t.Fatal("it does not go on")
	}
	must[[]core.Admission](t)(w.Cancel(t.Context(), row.Conversation, core.Outcome{Result: core.Cancelled, Reason: core.ReasonStopped}, retry.ID))
	if err := w.r.Forsaken(t.Context(), *retry); err != nil {
		t.Fatal(err)
	}
	sent := w.sent(row.ID)
	if len(sent) != 2 || sent[0].State != core.DeliveryMoved || sent[1].Kind != core.DeliverFinal ||
		sent[1].State != core.DeliveryOwed || sent[1].Parts[0].Ref != "7" {
		t.Errorf("%+v", sent)
	}
	if err := w.r.Forsaken(t.Context(), row); err != nil { // it goes on from nothing
		t.Error(err)
	}
	w.balanced()
}
