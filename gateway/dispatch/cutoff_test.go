package dispatch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// A stop that comes while a turn that was cut off is not read back yet is for what would go on from there: it does not go
// on, and what waits behind it stays.
func TestStopOfWhatWasCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, answers)
		nobody := func(core.Holder) bool { return false }
		a := g.admit("1")
		if _, claim, err := g.store.Start(t.Context(), a.Conversation, "T1", core.Holder{Instance: "zero"}, time.Minute, nobody, nil); err != nil || claim == nil {
			t.Fatalf("%v %v", claim, err)
		}
		if rows, err := g.store.Orphan(t.Context(), nobody); err != nil || len(rows) != 1 {
			t.Fatalf("%v %v", rows, err)
		}
		waits := g.admit("1")
		g.Wake(a.Conversation)
		if _, ok := g.sessions.Interrupt(a.Conversation, core.Interrupt{Reason: core.ReasonStopped}); !ok {
			t.Fatal("nothing to stop")
		}
		g.start()
		if o := g.ended(waits.ID, time.Second).Outcome; o.Result != core.Completed {
			t.Errorf("what waits: %+v", o)
		}
		rows, err := g.store.Recent(t.Context(), a.Conversation, 8)
		if err != nil || len(rows) != 2 {
			t.Fatalf("it went on: %d rows, %v", len(rows), err)
		}
		if o := g.row(a.ID).Outcome; o.Result != core.Interrupted || o.Reason != core.ReasonStopped {
			t.Errorf("what was cut off: %+v", o)
		}
		g.halt()
		g.balanced()
	})
}
