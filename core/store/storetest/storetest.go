package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// Run runs the suite. open returns an empty store, which it closes when the test ends.
func Run(t *testing.T, open func(t *testing.T) core.Store) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"admit", admitTests}, {"join", joinTests}, {"amend", amendTests}, {"queue", queueTests}, {"lease", leaseTests},
		{"claim", claimTests}, {"settle", settleTests}, {"resolve", resolveTests}, {"transcript", transcriptTests},
		{"delivery", deliveryTests}, {"question", questionTests}, {"event", eventTests}, {"session", sessionTests},
		{"grant", grantTests}, {"node", nodeTests}, {"model", modelTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.tests {
				t.Run(c.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { c.run(kit{tb: t, Store: open(t)}) })
				})
			}
		})
	}
}

type test struct {
	name string
	run  func(k kit)
}

// kit is a store with the words the tests are written in. Its methods end the test on an unexpected error.
type kit struct {
	tb
	core.Store
}

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	Helper()
	Context() context.Context
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

var (
	ada    = core.Principal{ID: "chat:ada", Name: "Ada", Caps: core.CanSubmit | core.CanControl, Admin: true}
	bob    = core.Principal{ID: "chat:bob", Name: "Bob", Caps: core.CanSubmit}
	holder = core.Holder{Host: "here", PID: 7, Namespace: "n", StartTime: 9, Instance: "one"}
	other  = core.Holder{Host: "here", PID: 8, Namespace: "n", StartTime: 9, Instance: "two"}
	ttl    = 5 * time.Minute
	here   = core.Route{Platform: "chat", Chat: "1"}

	answered = core.Outcome{Result: core.Completed, Reason: core.ReasonAnswered, Text: "done"}
	lost     = core.Outcome{Result: core.Interrupted, Reason: core.ReasonRetried}
	gone     = core.Outcome{Result: core.Cancelled, Reason: core.ReasonStopped}
)

// said is an entry of ada in chat 1.
func said(request, text string) core.Entry {
	return core.Entry{By: ada, Digest: [32]byte{byte(len(text))}, Submission: core.Submission{Key: "chat:1", Source: "chat:1",
		RequestID: core.RequestID(request), MessageID: request, Text: text, Surface: "chat", Route: here}}
}

// in moves an entry to another chat.
func in(chat string, e core.Entry) core.Entry {
	e.Submission.Key, e.Submission.Source = core.Key("chat:"+chat), "chat:"+chat
	e.Submission.Route.Chat = chat
	return e
}

func (k kit) ok(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// want ends the test unless err has the kind.
func (k kit) want(err error, kind core.Kind) {
	k.Helper()
	if !core.Is(err, kind) {
		k.Fatalf("error %v, want kind %v", err, kind)
	}
}

func (k kit) equal(got, want any) {
	k.Helper()
	if d := cmp.Diff(want, got); d != "" {
		k.Fatalf("(-want +got)\n%s", d)
	}
}

func must[T any](v T, err error) func(k kit) T {
	return func(k kit) T {
		k.Helper()
		k.ok(err)
		return v
	}
}

// admit admits entries in one batch.
func (k kit) admit(es ...core.Entry) []core.Admitted {
	k.Helper()
	out := must(k.Admit(k.Context(), core.Intake{Entries: es}))(k)
	if len(out) != len(es) {
		k.Fatalf("%d results for %d entries", len(out), len(es))
	}
	return out
}

// queue admits one entry, which must get a row of its own.
func (k kit) queue(e core.Entry) core.Admission {
	k.Helper()
	a := k.admit(e)[0]
	k.ok(a.Err)
	if !a.Fresh || a.Merged {
		k.Fatalf("not a fresh row: %+v", a)
	}
	return a.Admission
}

// queues admits n messages in chat 1.
func (k kit) queues(n int) (out []core.Admission) {
	for i := range n {
		out = append(out, k.queue(said(fmt.Sprint(i+1), fmt.Sprint("message ", i+1))))
	}
	return out
}

func (k kit) acquire(c core.ConversationID, turn core.TurnID) core.Fence {
	k.Helper()
	return must(k.Acquire(k.Context(), c, turn, holder, ttl, nil))(k).Fence
}

// start takes the lease and claims the head.
func (k kit) start(c core.ConversationID, turn core.TurnID) (core.Fence, core.Claim) {
	k.Helper()
	f := k.acquire(c, turn)
	return f, must(k.ClaimNext(k.Context(), f, nil))(k)
}

// answer settles a claim with an answer.
func (k kit) answer(f core.Fence, c core.Claim) {
	k.Helper()
	must(k.Settle(k.Context(), f, c.Admission.ID, core.Settlement{Outcome: answered}))(k)
}

// vanish lets the holder of everything die and returns what became unknown.
func (k kit) vanish() []core.Admission {
	k.Helper()
	return must(k.Orphan(k.Context(), func(core.Holder) bool { return false }))(k)
}

func (k kit) stored(id core.AdmissionID) core.Admission {
	k.Helper()
	return must(k.Admission(k.Context(), id))(k)
}

// balanced checks the conservation invariant and returns the census.
func (k kit) balanced() core.Census {
	k.Helper()
	c := must(k.Census(k.Context()))(k)
	if !c.Balanced() {
		k.Fatalf("not balanced: %+v", c)
	}
	return c
}

func ids(as []core.Admission) (out []core.AdmissionID) {
	for _, a := range as {
		out = append(out, a.ID)
	}
	return out
}

// waiting are the ids of the open rows of a conversation, in order.
func (k kit) waiting(c core.ConversationID) []core.AdmissionID {
	k.Helper()
	return ids(must(k.Unsettled(k.Context(), c))(k))
}

func texts(ms []core.Message) (out []string) {
	for _, m := range ms {
		out = append(out, m.Content)
	}
	return slices.Clip(out)
}
