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
	} {
		row := core.Admission{ID: "row", By: "p:1", Claimed: claimed, Submission: core.Submission{Group: tc.group}}
		got, err := Stopped(t.Context(), rows{asked("p:1", "/help"), tc.asked}, row)
		if err != nil || got != tc.want {
			t.Errorf("%s: %v %v", tc.name, got, err)
		}
	}
}
