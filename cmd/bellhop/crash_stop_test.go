//go:build crashtest

package main

import (
	"strings"
	"testing"
	"time"

	"bellhop/core/crash"
	"bellhop/core/provider/providertest"
)

// hanging begins an answer to "hello" and goes on only once the gateway was killed and asks again, if it does.
func hanging(r *providertest.Request) providertest.Reply {
	if strings.Contains(r.Last(), "ping") {
		return providertest.Reply{providertest.Text("PONG")}
	}
	return providertest.Reply{providertest.Text("ANSWER begins"), providertest.Wait(200 * time.Millisecond), providertest.Text(" and grows"), providertest.Hang()}
}

// stops are the points at which a gateway may die while it takes a stop. The message passes those of admission once, the
// stop for the second time.
var stops = []struct {
	point string
	again int // how often at most the next process asks the model before it obeys
}{
	{crash.BeforeAdmit + ":2", 1}, // nobody knows of the stop before the platform delivers it again
	{crash.AfterAdmit + ":2", 0},
	{crash.AfterAck + ":2", 0},
	{crash.BeforeSettle, 1}, // perhaps before the stop is stored
	{crash.AfterSettle, 0},
}

// Wherever the process dies on the way of a stop, the turn ends, the person is told, and the next message is answered.
func TestKillDuringAStop(t *testing.T) {
	for _, on := range storeKinds {
		t.Run(on.name, func(t *testing.T) { killDuringAStop(t, on) })
	}
}

func killDuringAStop(t *testing.T, on storeKind) {
	ways := map[string]func(r *rig){
		"command": func(r *rig) { r.chat.Say(r.owner, "/stop") },
		"button":  func(r *rig) { r.until("the button", func() bool { return r.press("stop:", "") }) },
	}
	for way, stop := range ways {
		for _, s := range stops {
			t.Run(way+"/"+s.point, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, hanging).on(on)
				g := r.launch("BELLHOP_CRASH=" + s.point)
				g.ready()
				r.chat.Say(r.owner, "hello")
				r.until("the answer grows", func() bool { return r.says("and grows") > 0 }) // its message is known by then
				stop(r)
				g.dies()
				before := len(r.model.Requests())
				g = r.start()
				r.until("the turn has ended", func() bool { return idle(r) })
				if n := len(r.model.Requests()) - before; n > s.again {
					t.Errorf("the model was asked to go on %d times", n)
				}
				if way == "command" {
					r.until("an answer to the command", func() bool { return r.says("Stopped.")+r.says("Nothing is running.") > 0 })
				}
				r.until("no message looks as if it went on", func() bool { return r.says("▉") == 0 && !hasButton(r, "stop:") })
				r.chat.Say(r.owner, "ping")
				r.until("the next message is answered", func() bool { return r.says("PONG") > 0 })
				g.stop()
				if out := r.must("verify"); !strings.Contains(out, "ok") {
					t.Errorf("verify: %s", out)
				}
			})
		}
	}
}

// idle reports whether nothing is unsettled.
func idle(r *rig) bool {
	out := r.must("verify")
	return strings.Contains(out, "queued 0") && strings.Contains(out, "started 0") && strings.Contains(out, "unknown 0")
}

// A command whose process dies after it stored it and before it ran is run by the next one, and answered.
func TestKillBeforeACommandRuns(t *testing.T) {
	question := func(r *rig) {
		r.chat.Say(r.owner, "work please")
		r.until("the question", func() bool { return hasButton(r, "ans:") })
	}
	answer := func(r *rig) {
		r.chat.Say(r.owner, "ping")
		r.until("an answer", func() bool { return r.says("PONG") > 0 })
	}
	for _, c := range []struct {
		text    string
		before  func(r *rig)
		want    string // of the answer
		effects int
	}{
		{"/approve", question, "Allowed once", 1},
		{"/deny", question, "Denied", 0},
		{"/new", answer, "A new conversation", 0},
		{"/queue", answer, "Nothing is waiting", 0},
		{"/help", answer, "/whoami", 0},
	} {
		t.Run(c.text[1:], func(t *testing.T) {
			t.Parallel()
			r := newRig(t, scripted)
			g := r.launch("BELLHOP_CRASH=" + crash.AfterAck + ":2")
			g.ready()
			c.before(r)
			r.chat.Say(r.owner, c.text)
			g.dies()
			g = r.start()
			r.until("the answer to the command", func() bool { return r.says(c.want) > 0 })
			r.until("nothing is left", func() bool { return idle(r) })
			if n := r.lines(effectsFile); n != c.effects {
				t.Errorf("%d effects, want %d", n, c.effects)
			}
			g.stop()
			if out := r.must("verify"); !strings.Contains(out, "ok") {
				t.Errorf("verify: %s", out)
			}
		})
	}
}
