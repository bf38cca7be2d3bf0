//go:build crashtest

package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"bellhop/core/crash"
)

// atDoor is what a row comes to at the JSON-RPC door, where nothing is sent whose fate could be in doubt.
func (w row) atDoor() fate {
	if w.want == marked {
		return answered
	}
	return w.want
}

func TestKillMatrixAtTheDoor(t *testing.T) {
	for _, on := range storeKinds {
		for _, row := range matrix {
			if row.chat {
				continue
			}
			t.Run(on.name+"/"+row.point, func(t *testing.T) {
				t.Parallel()
				k := &doorKill{row: row, r: newRig(t, scripted).on(on)}
				k.kill()
				k.check()
			})
		}
	}
}

// doorKill is one row of the matrix as a client sees it.
type doorKill struct {
	row
	r        *rig
	w        *webClient // hears events, and asks for no snapshots, which would stand for them
	look     *webClient // asks for snapshots
	text     string
	first    receipt // of the first submit, if it came
	known    bool
	question news
}

const requestID = "request-1"

func (k *doorKill) kill() {
	k.r.t.Helper()
	if k.text = "hello"; k.tool {
		k.text = "work please"
	}
	points := []string{k.point}
	if k.row.first != "" {
		points = []string{k.row.first, k.point}
	}
	for i, p := range points {
		g := k.r.launch("BELLHOP_CRASH=" + p)
		if i == 0 {
			g.ready()
			k.w, k.look = k.r.web("kill"), k.r.web("kill")
			k.first, k.known = k.w.submit(requestID, k.text)
		}
		k.approve(g)
		if !k.isPoint() {
			k.end(g)
			return
		}
		g.dies()
	}
}

// approve answers the question as soon as it is heard, unless the process dies first or is to die over it.
func (k *doorKill) approve(g *process) {
	k.r.t.Helper()
	if !k.tool {
		return
	}
	k.r.until("a question or the end", func() bool {
		select {
		case <-g.died:
			return true
		default:
			return len(k.w.heard("approval.request")) > 0
		}
	})
	asked := k.w.heard("approval.request")
	if len(asked) == 0 {
		return
	}
	k.question = asked[0]
	if !k.isPoint() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-g.died: // nobody will answer
			cancel()
		case <-ctx.Done():
		}
	}()
	_ = k.w.c.Call(ctx, "approval.respond", map[string]any{"request_id": asked[0].Request, "choice": "once"}, nil) // it may die first
}

func (k *doorKill) check() {
	k.r.t.Helper()
	g := k.r.start()
	again := k.w.insist(requestID, k.text)
	if k.known && (!again.Duplicate || again.Admission != k.first.Admission) {
		k.r.t.Errorf("the same request id was given %+v first and %+v after the restart", k.first, again)
	}
	if k.point == crash.AfterAdmit && !again.Duplicate {
		k.r.t.Error("what was stored before the kill was admitted once more")
	}
	k.decide()
	k.w.insist("request-2", "ping")
	k.r.until("the next message is answered", func() bool { return k.look.resume().finals("PONG") == 1 })
	k.count()
	g.stop()
	if out := k.r.must("verify"); !strings.Contains(out, "ok") {
		k.r.t.Errorf("verify: %s", out)
	}
}

// decide does what the person has to do after the restart until the message has its end.
func (k *doorKill) decide() {
	k.r.t.Helper()
	if k.want == undecided {
		k.drop()
		return
	}
	if k.tool && !k.answeredBefore() {
		k.r.until("the question or the answer", func() bool {
			s := k.look.resume()
			if len(s.Questions) == 0 {
				return s.finals("END") > 0
			}
			k.same(s.Questions)
			return k.w.call("approval.respond", map[string]any{"request_id": s.Questions[0].Request, "choice": "once"}, nil) == nil
		})
	}
	k.r.until("the answer", func() bool { return k.look.resume().finals("END") > 0 })
}

// same asserts that a question kept its id and its deadline across the kill.
func (k *doorKill) same(open []news) {
	k.r.t.Helper()
	if len(open) != 1 {
		k.r.t.Errorf("%d questions are open: %+v", len(open), open)
	}
	if old := k.question; old.Request != "" && old.Request != open[0].Request {
		k.r.t.Errorf("the question was %s and is %s after the restart", old.Request, open[0].Request)
	}
}

// drop is the person deciding about a turn with an open effect, which the client was told.
func (k *doorKill) drop() {
	k.r.t.Helper()
	var told []news
	k.r.until("the turn's fate is asked", func() bool {
		for _, n := range k.look.stored() {
			if n.Kind == "fate" {
				told = append(told, n)
			}
		}
		return len(told) > 0
	})
	if len(told) != 1 || strings.Join(told[0].Choices, " ") != "done retry drop" {
		k.r.t.Errorf("the person was told %+v", told)
	}
	if n := k.r.lines(effectsFile); n != k.effects {
		k.r.t.Errorf("%d effects before anybody decided, want %d", n, k.effects)
	}
	if got := k.w.insist("request-drop", "/resolve drop"); got.Status != "command" {
		k.r.t.Errorf("/resolve: %+v", got)
	}
}

// count asserts that the message has one end, in the history and in the events, and that nothing ran twice.
func (k *doorKill) count() {
	k.r.t.Helper()
	want := 1
	if k.want == undecided {
		want = 0
	}
	if n := k.look.resume().finals("END"); n != want {
		k.r.t.Errorf("the history holds the answer %d times, want %d", n, want)
	}
	ends, stored := map[string]int{}, 0
	for _, n := range k.look.stored() {
		if n.Type == "message.complete" {
			ends[n.Admission]++
			if strings.Contains(n.Text, "END") && n.Status == "complete" {
				stored++
			}
		}
	}
	if stored != want {
		k.r.t.Errorf("the events hold the answer %d times, want %d: %v", stored, want, ends)
	}
	for id, n := range ends {
		if n != 1 {
			k.r.t.Errorf("admission %s ended %d times", id, n)
		}
	}
	heard := func() (n int) {
		for _, e := range k.w.heard("message.complete") {
			if strings.Contains(e.Text, "END") {
				n++
			}
		}
		return n
	}
	k.r.until("the client hears the next answer", func() bool {
		return slices.ContainsFunc(k.w.heard("message.complete"), func(n news) bool { return n.Text == "PONG" })
	})
	if n := heard(); n != want {
		k.r.t.Errorf("the client heard the answer %d times, want %d", n, want)
	}
	if n := k.r.lines(effectsFile); k.tool && n != k.effects {
		k.r.t.Errorf("%d effects, want %d", n, k.effects)
	}
}

// TestChatOutlivesAKill: the terminal client that waits for its answer prints it once and whole, although another row gives
// it, and tells on the other stream what went on.
func TestChatOutlivesAKill(t *testing.T) {
	for _, point := range []string{crash.AfterOpen, crash.MidStream, crash.MidStream + ":3", crash.BeforeSettle, crash.AfterSettle} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, scripted)
			g := r.launch("BELLHOP_CRASH=" + point)
			g.ready()
			chat := r.command("chat", "hello")
			var out, told bytes.Buffer
			chat.Stdout, chat.Stderr = &out, &told
			if err := chat.Start(); err != nil {
				t.Fatal(err)
			}
			g.dies()
			g = r.start()
			if err := chat.Wait(); err != nil {
				t.Errorf("chat ended with %v:\n%s", err, told.String())
			}
			if out.String() != "ANSWER begins, goes on, and comes to its END\n" {
				t.Errorf("printed %q", out.String())
			}
			if !strings.Contains(told.String(), "The connection to the gateway broke. ") || strings.Contains(told.String(), "Nothing of yours") ||
				!strings.Contains(told.String(), "Connected.") {
				t.Errorf("told %q", told.String())
			}
			g.stop()
		})
	}
}
