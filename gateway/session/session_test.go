package session

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

const conv = core.ConversationID("c")

func begin(t *testing.T) (*Registry, *Live) {
	t.Helper()
	r := New()
	l, ok := r.Begin(conv)
	if !ok {
		t.Fatal("not begun")
	}
	return r, l
}

func reasonOf(ctx context.Context) core.Reason {
	i, ok := core.InterruptOf(ctx)
	if !ok {
		return ""
	}
	return i.Reason
}

func stop() core.Interrupt    { return core.Interrupt{Reason: core.ReasonStopped, By: "p:1"} }
func replace() core.Interrupt { return core.Interrupt{Reason: core.ReasonReplaced} }

func TestOneLivePerConversation(t *testing.T) {
	r, l := begin(t)
	if _, ok := r.Begin(conv); ok {
		t.Error("two at once")
	}
	l.End()
	again, ok := r.Begin(conv)
	if !ok {
		t.Fatal("not again after the end")
	}
	again.End()
	if _, ok := r.Status(conv); ok || len(r.live) != 0 {
		t.Error("something stays after the end")
	}
}

func TestInterruptInEveryPhase(t *testing.T) {
	for _, tc := range []struct {
		name            string
		phase           func(l *Live) (wait, turn context.Context)
		i               core.Interrupt
		admission       core.AdmissionID
		ok              bool
		wait, turn      core.Reason // causes afterwards
		stopped, atTurn core.Reason // kept for Stopped, or for the turn that begins
	}{
		{"a stop while it waits", phaseWait, stop(), "", true, core.ReasonStopped, "", core.ReasonStopped, ""},
		{"newer input while it waits", phaseWait, replace(), "", false, "", "", "", ""},
		{"a stop before it waits", phaseNone, stop(), "", true, core.ReasonStopped, "", core.ReasonStopped, ""},
		{"a stop during the claim", phaseClaim, stop(), "", true, "", core.ReasonStopped, "", core.ReasonStopped},
		{"newer input during the claim", phaseClaim, replace(), "", true, "", core.ReasonReplaced, "", core.ReasonReplaced},
		{"a stop during the turn", phaseTurn, stop(), "a1", true, "", core.ReasonStopped, "", ""},
		{"newer input during the turn", phaseTurn, replace(), "a1", true, "", core.ReasonReplaced, "", ""},
		{"a stop during the settlement", phaseClose, stop(), "a1", true, "", "", "", ""},
		{"a stop between turns", phaseRest, stop(), "", true, core.ReasonStopped, "", core.ReasonStopped, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, l := begin(t)
			defer l.End()
			wait, turn := tc.phase(l)
			id, ok := r.Interrupt(conv, tc.i)
			if id != tc.admission || ok != tc.ok {
				t.Errorf("Interrupt = %q, %v", id, ok)
			}
			if wait == nil || tc.name == "a stop between turns" {
				wait, _ = l.Wait(t.Context())
			}
			if got := reasonOf(wait); got != tc.wait {
				t.Errorf("the wait's cause is %q, want %q", got, tc.wait)
			}
			var kept core.Reason
			if l.phase == waiting {
				if i := l.Stopped(); i != nil {
					kept = i.Reason
				}
			}
			if kept != tc.stopped {
				t.Errorf("kept %q, want %q", kept, tc.stopped)
			}
			if l.phase == claiming {
				turn, _ = l.Turn(t.Context(), "a1", "t1")
			}
			if turn != nil && reasonOf(turn) != tc.turn {
				t.Errorf("the turn's cause is %q, want %q", reasonOf(turn), tc.turn)
			}
		})
	}
}

func phaseNone(*Live) (context.Context, context.Context) { return nil, nil }

func phaseWait(l *Live) (context.Context, context.Context) {
	wait, _ := l.Wait(context.Background())
	return wait, nil
}

func phaseClaim(l *Live) (context.Context, context.Context) {
	wait, _ := phaseWait(l)
	l.Claim()
	return wait, nil
}

func phaseTurn(l *Live) (context.Context, context.Context) {
	wait, _ := phaseClaim(l)
	turn, _ := l.Turn(context.Background(), "a1", "t1")
	return wait, turn
}

func phaseClose(l *Live) (context.Context, context.Context) {
	wait, turn := phaseTurn(l)
	l.Close()
	return wait, turn
}

func phaseRest(l *Live) (context.Context, context.Context) {
	wait, turn := phaseClose(l)
	l.Rest()
	return wait, turn
}

func TestFirstInterruptWins(t *testing.T) {
	r, l := begin(t)
	_, turn := phaseTurn(l)
	r.Interrupt(conv, replace())
	r.Interrupt(conv, stop())
	if got := reasonOf(turn); got != core.ReasonReplaced {
		t.Errorf("cause %q", got)
	}
}

func TestAnOldButtonStopsNoNewerTurn(t *testing.T) {
	r, l := begin(t)
	_, turn := phaseTurn(l)
	if r.InterruptTurn(conv, "a0", stop()) || turn.Err() != nil {
		t.Error("the turn was stopped for another admission")
	}
	if !r.InterruptTurn(conv, "a1", stop()) || reasonOf(turn) != core.ReasonStopped {
		t.Error("the turn was not stopped")
	}
	if r.InterruptTurn("other", "a1", stop()) || r.InterruptTurn(conv, "", stop()) {
		t.Error("something else was stopped")
	}
}

func TestHaltSparesARunningTurn(t *testing.T) {
	_, l := begin(t)
	_, turn := phaseTurn(l)
	l.Halt(&core.Interrupt{Reason: core.ReasonShutdown})
	if turn.Err() != nil {
		t.Error("the turn was ended")
	}
	l.Close()
	l.Rest()
	wait, _ := l.Wait(t.Context())
	l.Halt(&core.Interrupt{Reason: core.ReasonShutdown})
	if reasonOf(wait) != core.ReasonShutdown || l.Claim() {
		t.Error("the wait was not ended")
	}
}

func TestWaiveEndsOnlyAWait(t *testing.T) {
	_, l := begin(t)
	i := &core.Interrupt{Reason: core.ReasonShutdown}
	_, turn := phaseTurn(l)
	if l.Waive(i) || turn.Err() != nil {
		t.Error("a turn that works was ended")
	}
	l.Waiting(true)
	l.Waiting(false)
	if l.Waive(i) || turn.Err() != nil {
		t.Error("a turn that has its answer was ended")
	}
	l.Waiting(true)
	if !l.Waive(i) || reasonOf(turn) != core.ReasonShutdown {
		t.Error("a turn that waits was not ended")
	}
	l.Close()
	if l.Waive(i) {
		t.Error("a turn that is over was ended")
	}
}

func TestSteering(t *testing.T) {
	r, l := begin(t)
	if r.Steer(conv, "a2", "early") {
		t.Error("steered what does not run")
	}
	phaseTurn(l)
	for n, text := range []string{"one", "two", "three"} {
		if !r.Steer(conv, core.AdmissionID(rune('a'+n)), text) {
			t.Fatal("refused")
		}
	}
	if !r.Withdraw(conv, "b") || r.Withdraw(conv, "b") || !r.Reword(conv, "c", "3") || r.Reword(conv, "b", "2") {
		t.Error("offers are not what they should be")
	}
	want := []Steered{{ID: "a", Text: "one"}, {ID: "c", Text: "3"}}
	if d := cmp.Diff(want, r.Steered(conv)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, l.TakeSteered()); d != "" {
		t.Error(d)
	}
	if len(l.TakeSteered()) != 0 {
		t.Error("taken twice")
	}
	if s := l.Status(); r.Steer(conv, s.Admission, "x") {
		t.Error("a turn was offered its own row")
	}
	for n := range MaxSteered {
		r.Steer(conv, core.AdmissionID(rune(n)), "x")
	}
	if r.Steer(conv, "more", "x") {
		t.Error("no bound")
	}
	l.TakeSteered()
	r.Steer(conv, "untaken", "y")
	offered := l.Close()
	if n := len(offered); n != 2+MaxSteered+1 || offered[0].ID != "a" || offered[n-1].ID != "untaken" {
		t.Errorf("%d were offered: %+v", n, offered)
	}
	if len(r.Steered(conv)) != 0 || r.Steer(conv, "late", "x") {
		t.Error("offers outlive the turn")
	}
}

func TestActivityAndWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := begin(t)
		phaseTurn(l)
		l.Active("running shell")
		<-time.After(time.Minute)
		if l.Idle() != time.Minute {
			t.Errorf("idle %v", l.Idle())
		}
		l.Waiting(true)
		l.Waiting(true) // two questions at once
		<-time.After(time.Hour)
		l.Waiting(false)
		if s, _ := r.Status(conv); l.Idle() != 0 || !s.WaitingForPerson || s.Doing != "running shell" {
			t.Errorf("idle %v, status %+v", l.Idle(), s)
		}
		if w := l.Waited(); w != time.Hour {
			t.Errorf("waited %v so far", w)
		}
		l.Waiting(false)
		l.Waiting(false) // one too many changes nothing
		<-time.After(time.Second)
		if s, _ := r.Status(conv); l.Idle() != time.Second || s.WaitingForPerson || l.Waited() != time.Hour {
			t.Errorf("idle %v waited %v, status %+v", l.Idle(), l.Waited(), s)
		}
	})
}

func TestRunningListsTurnsOnly(t *testing.T) {
	r, l := begin(t)
	waits, _ := r.Begin("waits")
	waits.Wait(t.Context())
	phaseTurn(l)
	got := r.Running()
	if len(got) != 1 || got[0].Conversation != conv || got[0].Admission != "a1" || got[0].Turn != "t1" {
		t.Errorf("%+v", got)
	}
	l.Close()
	l.Rest()
	if len(r.Running()) != 0 {
		t.Error("it rests")
	}
}

// A stop of one row hits its turn, or its claim, or what goes on from it, and nothing else that runs or comes next.
func TestForestall(t *testing.T) {
	for _, tc := range []struct {
		name    string
		claimed core.Admission
		hit     bool
	}{
		{"the row", core.Admission{ID: "a"}, true},
		{"what goes on from it", core.Admission{ID: "b", RetryOf: "a"}, true},
		{"another", core.Admission{ID: "b"}, false},
	} {
		r, l := begin(t)
		l.Claim()
		if !r.Forestall(conv, "a", stop()) {
			t.Errorf("%s: not kept", tc.name)
		}
		l.Claimed(tc.claimed)
		turn, cancel := l.Turn(t.Context(), tc.claimed.ID, "T")
		if hit := reasonOf(turn) == core.ReasonStopped; hit != tc.hit {
			t.Errorf("%s: stopped %v while it was claimed", tc.name, hit)
		}
		cancel(nil)
		l.End()

		r, l = begin(t)
		turn, cancel = l.Turn(t.Context(), tc.claimed.ID, "T")
		own := tc.claimed.ID == "a"
		if ok := r.Forestall(conv, "a", stop()); ok != own || (reasonOf(turn) == core.ReasonStopped) != own {
			t.Errorf("%s: while it runs: %v, %q", tc.name, ok, reasonOf(turn))
		}
		cancel(nil)
		l.End()
	}
	r, l := begin(t)
	wait, cancel := l.Wait(t.Context())
	defer cancel(nil)
	if !r.Forestall(conv, "a", stop()) || wait.Err() == nil {
		t.Error("a wait goes on")
	}
	if i := l.Stopped(); i == nil || i.Of != "a" {
		t.Errorf("it is kept as %+v", i)
	}
}
