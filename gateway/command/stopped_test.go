package command

import (
	"context"
	"testing"
	"time"

	"bellhop/core"
)

// rows is a store with the newest rows of one conversation.
type rows []core.Admission

func (r rows) Recent(context.Context, core.ConversationID, int) ([]core.Admission, error) {
	return r, nil
}

// What a command or a press says about a turn whose process died after it was asked to stop.
func TestStopped(t *testing.T) {
	claimed := time.Now()
	asked := func(by core.PrincipalID, text string, change ...func(*core.Admission)) core.Admission {
		a := core.Admission{ID: "c", By: by, Created: claimed.Add(time.Second), Submission: core.Submission{Text: text},
			Outcome: core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}}
		for _, f := range change {
			f(&a)
		}
		return a
	}
	control := func(a *core.Admission) { a.Caps = core.CanControl }
	before := func(a *core.Admission) { a.Created = claimed.Add(-time.Second) }
	names := func(id core.AdmissionID) func(*core.Admission) {
		return func(a *core.Admission) { a.Submission.Stops = id }
	}
	message := func(a *core.Admission) { a.Outcome = core.Outcome{} }
	for _, tc := range []struct {
		name  string
		group bool
		asked core.Admission
		want  bool
	}{
		{"the author", false, asked("p:1", "/stop"), true},
		{"all of it", false, asked("p:1", "/stop all"), true},
		{"as it is written in groups", true, asked("p:1", "/Stop@a_bot"), true},
		{"a new conversation", false, asked("p:1", "/new"), true},
		{"somebody else in a chat of two", false, asked("p:2", "/stop"), true},
		{"somebody else in a group", true, asked("p:2", "/stop"), false},
		{"somebody in control", true, asked("p:2", "/stop", control), true},
		{"its button", true, asked("p:1", "stop:row"), true},
		{"its button, by somebody else", false, asked("p:2", "stop:row"), false},
		{"another's button", false, asked("p:1", "stop:other"), false},
		{"before it was claimed", false, asked("p:1", "/stop", before), false},
		{"a message that reads so", false, asked("p:1", "/stop", message), false},
		{"another command", false, asked("p:1", "/status"), false},
		{"named, before it was stored", true, asked("p:2", "/stop", names("row")), true},
		{"another named, before this was claimed", false, asked("p:1", "/stop", names("other")), false},
	} {
		row := core.Admission{ID: "row", By: "p:1", Claimed: claimed, Submission: core.Submission{Group: tc.group}}
		got, err := Stopped(t.Context(), rows{asked("p:1", "/help"), tc.asked}, row)
		if err != nil || got != tc.want {
			t.Errorf("%s: %v %v", tc.name, got, err)
		}
	}
}

// The button of a turn that was cut off ends what goes on from it, and not the row of somebody else that was moved in front.
func TestPressSparesWhoWasMovedInFront(t *testing.T) {
	w := newWorld(t)
	a := w.submit(ann, "work")
	l, err := w.s.Acquire(t.Context(), a.Conversation, "T0", core.Holder{}, time.Minute, func(core.Holder) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.s.ClaimNext(t.Context(), l.Fence, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.s.Orphan(t.Context(), func(core.Holder) bool { return false }); err != nil {
		t.Fatal(err)
	}
	heir, err := w.s.Resolve(t.Context(), a.ID, core.Resolution{Retry: true,
		Outcome: core.Outcome{Result: core.Interrupted, Reason: core.ReasonRetried}})
	if err != nil || heir == nil {
		t.Fatal(heir, err)
	}
	b := w.submit(bob, "urgent")
	if err := w.s.Move(t.Context(), b.ID, 0); err != nil {
		t.Fatal(err)
	}
	turn, row := w.run(a.Conversation)
	if row.ID != b.ID {
		t.Fatalf("%q runs", row.Submission.Text)
	}
	if got, err := w.table.Press(t.Context(), w.call(ann, ""), "stop:"+string(a.ID)); err != nil || got != PressStopped {
		t.Errorf("%q %v", got, err)
	}
	if turn.Err() != nil {
		t.Error("somebody else's turn was stopped")
	}
	if now, err := w.s.Admission(t.Context(), heir.ID); err != nil || now.Status != core.Terminal {
		t.Errorf("what goes on is %s, %v", now.Status, err)
	}
	if len(w.forsaken) != 1 || w.forsaken[0] != heir.ID {
		t.Errorf("forsaken: %q", w.forsaken)
	}
}
