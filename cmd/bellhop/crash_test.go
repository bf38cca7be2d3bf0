//go:build crashtest

package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/core/provider/providertest"
)

// fate is what a row of the kill matrix must come to.
type fate string

const (
	answered  fate = "answered once"
	marked    fate = "answered; if a message was just being sent, the second copy is marked"
	undecided fate = "told with buttons, not repeated"
)

// row is one line of the kill matrix: where the process dies and what must be true afterwards.
type row struct {
	point   string
	first   string // a kill before it, to bring the gateway to a state that the point needs
	tool    bool   // the turn runs a tool with an effect, after an approval
	want    fate
	effects int  // how often the tool's effect must have happened before anybody decides
	chat    bool // the point is passed on the way through a chat platform only
}

// These are no crash.Points: once the person sees the question, the test kills the process, or stops it in an orderly way.
const (
	shown   = "question-shown"
	drained = "SIGTERM"
)

// isPoint reports whether the process dies by itself.
func (w row) isPoint() bool { return w.point != shown && w.point != drained }

// end ends a process whose question is shown. One that only waits for a person has no reason to stay.
func (w row) end(g *process) {
	g.r.t.Helper()
	if w.point == shown {
		g.kill()
		return
	}
	begun := time.Now()
	g.stop()
	if took := time.Since(begun); took > drainTime/2 {
		g.r.t.Errorf("it took %s to end while a person was asked:\n%s", took, g.log)
	}
}

// drainTime is the default of turns.drain.
const drainTime = 25 * time.Second

var matrix = []row{
	{point: crash.BeforeAdmit, want: answered},
	{point: crash.AfterAdmit, want: answered},
	{point: crash.AfterAck, want: answered, chat: true},
	{point: crash.AfterAcquire, want: answered},
	{point: crash.AfterClaim, want: answered},
	{point: crash.AfterOpen, want: answered},
	{point: crash.MidStream, want: marked},
	{point: crash.BeforeRecord, tool: true, want: marked, effects: 1},
	{point: crash.AfterRecord, tool: true, want: marked, effects: 1},
	{point: crash.AfterAsk, tool: true, want: marked, effects: 1},
	{point: crash.AfterQuestion, tool: true, want: marked, effects: 1},
	{point: shown, tool: true, want: answered, effects: 1},
	{point: drained, tool: true, want: answered, effects: 1},
	{point: crash.AfterAnswer, tool: true, want: answered, effects: 1},
	{point: crash.AfterStart, tool: true, want: undecided, effects: 0},
	{point: crash.AfterEffect, tool: true, want: undecided, effects: 1},
	{point: crash.AfterResult, tool: true, want: marked, effects: 1},
	{point: crash.BeforeSettle, want: marked},
	{point: crash.AfterSettle, want: marked},
	{point: crash.BeforeSend, want: marked, chat: true},
	{point: crash.AfterSend, want: marked, chat: true},
	{point: crash.AfterDelivered, want: answered, chat: true},
	{point: crash.BeforeReadback, first: crash.AfterClaim, want: answered},
	{point: crash.AfterResolve, first: crash.AfterClaim, want: answered},
}

const effectsFile = "effects.log"

// scripted answers "work" with a tool call that appends a line to a file, and anything else with a text that ends in END.
func scripted(r *providertest.Request) providertest.Reply {
	last := r.Last()
	switch {
	case strings.Contains(last, "work") && len(r.Results()) == 0:
		return providertest.Reply{providertest.Text("On it. "), providertest.Call("call_1", "shell", `{"command":"echo done >> `+effectsFile+`"}`)}
	case strings.Contains(last, "ping"):
		return providertest.Reply{providertest.Text("PONG")}
	}
	return providertest.Reply{providertest.Text("ANSWER ", "begins, ", "goes ", "on, and ", "comes ", "to its END")}
}

func TestEveryPointIsInTheMatrix(t *testing.T) {
	have := map[string]bool{}
	for _, r := range matrix {
		have[r.point] = true
	}
	for _, p := range crash.Points {
		if !have[p] {
			t.Errorf("the kill matrix has no row for %s", p)
		}
	}
}

func TestKillMatrix(t *testing.T) {
	for _, on := range storeKinds {
		for _, row := range matrix {
			t.Run(on.name+"/"+row.point, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, scripted).on(on)
				row.kill(r)
				row.check(r)
			})
		}
	}
}

// kill brings the gateway to the row's point on behalf of one message.
func (w row) kill(r *rig) {
	r.t.Helper()
	text := "hello"
	if w.tool {
		text = "work please"
	}
	points := []string{w.point}
	if w.first != "" {
		points = []string{w.first, w.point}
	}
	for i, p := range points {
		g := r.launch("BELLHOP_CRASH=" + p)
		if i == 0 {
			g.ready()
			r.chat.Say(r.owner, text)
		}
		if !w.isPoint() {
			r.until("the question", func() bool { return hasButton(r, "ans:") })
			r.until("it is recorded", func() bool { return strings.Contains(r.must("verify"), "deliveries delivered 1") })
			w.end(g)
			return
		}
		w.approve(r, g)
		g.dies()
	}
}

// answeredBefore reports whether the person's answer comes before the process dies.
func (w row) answeredBefore() bool {
	switch w.point {
	case crash.AfterAnswer, crash.AfterStart, crash.AfterEffect, crash.AfterResult:
		return true
	}
	return false
}

// approve presses "once" as soon as the question is visible, unless the process dies first. A row that is about what
// happens after the answer waits until all that is visible is recorded, too: what is in doubt then is not its matter.
func (w row) approve(r *rig, g *process) {
	if !w.tool {
		return
	}
	r.until("a question or the end", func() bool {
		select {
		case <-g.died:
			return true
		default:
			return hasButton(r, "ans:") && (!w.answeredBefore() || r.recorded()) && r.press("ans:", ":once")
		}
	})
}

// recorded reports whether the store knows each message that was made for what is not over, and a question among them.
func (r *rig) recorded() bool {
	asked, doubt := false, false
	r.open(func(s core.Store) {
		ctx := context.Background()
		rows, err := s.Unsettled(ctx, "")
		if err != nil {
			r.t.Fatal(err)
		}
		questions, err := s.Asking(ctx, "")
		if err != nil {
			r.t.Fatal(err)
		}
		var made []core.Delivery
		for _, q := range questions {
			list, err := s.Outbox().For(ctx, q.ID)
			made, doubt = append(made, list...), doubt || err != nil
			asked = asked || len(list) > 0
		}
		for _, a := range rows {
			list, err := s.Outbox().Of(ctx, a.ID)
			made, doubt = append(made, list...), doubt || err != nil
		}
		for _, d := range made {
			known := !slices.ContainsFunc(d.Parts, func(p core.Part) bool { return p.Ref == "" })
			doubt = doubt || !known || d.State != core.DeliveryLive && d.State != core.DeliveryDelivered
		}
	})
	return asked && !doubt
}

// check starts the gateway again and holds the outcome against the row.
func (w row) check(r *rig) {
	r.t.Helper()
	g := r.start()
	if w.tool && !w.answeredBefore() {
		r.until("the question or the answer", func() bool { return r.says("END") > 0 || r.press("ans:", ":once") })
	}
	switch w.want {
	case undecided:
		r.until("a notice with buttons", func() bool { return hasButton(r, "fate:") })
		if n := r.lines(effectsFile); n != w.effects {
			r.t.Errorf("%d effects before anybody decided, want %d", n, w.effects)
		}
		r.press("fate:", ":drop")
	default:
		r.until("the answer", func() bool { return r.says("END") > 0 })
	}
	r.chat.Say(r.owner, "ping")
	r.until("the next message is answered", func() bool { return r.says("PONG") > 0 })
	w.count(r)
	w.countQuestions(r)
	g.stop()
	if out := r.must("verify"); !strings.Contains(out, "ok") {
		r.t.Errorf("verify: %s", out)
	}
}

// count asserts that nothing stands twice and nothing ran twice.
func (w row) count(r *rig) {
	r.t.Helper()
	whole, repeated := 0, 0
	for _, m := range r.chat.Visible() {
		if !m.Own || !strings.Contains(m.Text, "END") {
			continue
		}
		if strings.Contains(m.Text, "repeated") {
			repeated++
		} else {
			whole++
		}
	}
	switch {
	case w.want == answered && (whole != 1 || repeated != 0):
		r.t.Errorf("the answer stands %d times and %d times marked, want once:\n%s", whole, repeated, r.screen())
	case w.want == marked && (whole > 1 || repeated > 1 || whole+repeated == 0):
		r.t.Errorf("the answer stands %d times unmarked and %d times marked:\n%s", whole, repeated, r.screen())
	case w.want == undecided && whole+repeated != 0:
		r.t.Errorf("an answer appeared although nobody decided:\n%s", r.screen())
	}
	if n := r.lines(effectsFile); w.tool && n != w.effects {
		r.t.Errorf("%d effects, want %d", n, w.effects)
	}
}

// countQuestions asserts that one question stayed one: the same row, and one message for it unless a send was in doubt.
func (w row) countQuestions(r *rig) {
	r.t.Helper()
	if !w.tool {
		return
	}
	posts, ids := 0, map[string]bool{}
	for _, c := range r.tg.Calls("sendMessage") {
		if _, rest, ok := strings.Cut(c.Args["reply_markup"], "ans:"); ok {
			posts++
			id, _, _ := strings.Cut(rest, ":")
			ids[id] = true
		}
	}
	most := 1
	if w.want == marked && !w.answeredBefore() {
		most = 2
	}
	if len(ids) != 1 || posts > most {
		r.t.Errorf("%d questions in %d messages, want one:\n%s", len(ids), posts, r.screen())
	}
	if posts == 1 && hasButton(r, "ans:") { // of two, the gateway knows the id of one only
		r.t.Errorf("an answered question still has its buttons:\n%s", r.screen())
	}
}

func hasButton(r *rig, prefix string) bool {
	for _, m := range r.chat.Visible() {
		for _, row := range m.Buttons {
			for _, b := range row {
				if strings.HasPrefix(b.Data, prefix) {
					return true
				}
			}
		}
	}
	return false
}
