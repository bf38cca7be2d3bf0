package turn

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/core/provider"
	"bellhop/core/tool"
)

// Results of calls that have none of their own.
const (
	textUnknown = "Unknown: the process died while this ran. Check before repeating it."
	textCut     = "[It was interrupted. What it had done until then is not known; check before repeating it.]"
	textLost    = "[It did not end when it was told to, and may still go on. Its outcome is not known; check before repeating it.]"
	textSkipped = "Skipped: the turn ended before this was run."
)

// record stores a reply with its calls, before anything of it is done.
func (r *Runner) record(ctx context.Context, t *state, reply *provider.Reply) core.Reason {
	t.aside, t.note, t.urged, t.continued = nil, "", false, 0
	round := r.plans(ctx, t, reply.Calls)
	m := t.message(core.RoleAssistant)
	m.Content, m.Reasoning = t.shown.text(), reply.Reasoning()
	m.Interim = strings.TrimSpace(m.Content) != ""
	b := core.Batch{}
	for _, c := range round {
		m.Calls = append(m.Calls, c.ToolCall)
		b.Calls = append(b.Calls, c.row(t, core.CallRecorded))
	}
	b.Messages = []core.Message{m}
	crash.Point(crash.BeforeRecord)
	stored, end := r.append(ctx, t, b)
	if end != going {
		return end
	}
	crash.Point(crash.AfterRecord)
	t.history = append(t.history, stored...)
	t.round = round
	t.shown.reset()
	if m.Interim {
		t.news.tell(core.EventBody{Type: core.MessageInterim, Text: m.Content})
	}
	return going
}

// act answers the calls of the round: those that may run together do, the rest one after the other. Time in which a
// person is asked does not count.
func (r *Runner) act(ctx context.Context, t *state) core.Reason {
	left := r.o.Batch
	for rest := t.round; len(rest) > 0; {
		part := together(rest)
		rest = rest[len(part):]
		if end := r.permit(ctx, t, part); end != going {
			return end
		}
		if end := r.start(ctx, t, part); end != going {
			return end
		}
		begun := time.Now()
		if end := r.execute(ctx, t, part, left); end != going {
			return end
		}
		left -= time.Since(begun)
	}
	return t.roundOver()
}

// roundOver draws the sum of a round whose results are all stored.
func (t *state) roundOver() core.Reason {
	if len(t.round) == 0 {
		return going
	}
	t.spoke = false
	looked := true
	for _, c := range t.round {
		t.spoke = t.spoke || c.begun && c.ended.Result.Spoke && !c.ended.Result.Failed
		looked = looked && c.begun && c.effect == core.ReadOnly
	}
	if looked {
		t.budget.free()
	}
	t.round = nil
	if t.repeats.count >= haltAt {
		return core.ReasonGuard
	}
	return going
}

// together returns the calls at the head of a round that may run beside one another. One about which a person may be
// asked stands alone.
func together(round []*call) []*call {
	n := 1
	for ; n < len(round); n++ {
		if !round[n-1].beside() || !round[n].beside() {
			break
		}
	}
	return round[:n]
}

func (c *call) beside() bool { return c.ended != nil || c.spec.Parallel && !c.asks() }

// start commits, with a sync, that calls which may have an effect begin. A ReadOnly call is not marked: if it is lost,
// nothing is.
func (r *Runner) start(ctx context.Context, t *state, part []*call) core.Reason {
	var rows []core.Call
	for _, c := range part {
		if c.ended == nil && c.effect != core.ReadOnly && c.state != core.CallDone && c.state != core.CallStarted {
			rows = append(rows, c.row(t, core.CallStarted))
			c.state = core.CallStarted
		}
	}
	if len(rows) == 0 {
		return interrupted(ctx)
	}
	if _, end := r.append(ctx, t, core.Batch{Calls: rows, Sync: true}); end != going {
		return end
	}
	crash.Point(crash.AfterStart)
	return going
}

// execute runs calls and stores their results in order, each as soon as those before it are stored. When one cannot be
// stored, the others are ended.
func (r *Runner) execute(ctx context.Context, t *state, part []*call, left time.Duration) core.Reason {
	limited, cancel := context.WithTimeoutCause(ctx, left, fmt.Errorf("the time for the tools of one reply, %s, is used up", r.o.Batch))
	defer cancel()
	next, end := 0, going
	store := func() {
		for ; end == going && next < len(part) && part[next].ended != nil; next++ {
			end = r.keep(ctx, t, part[next])
		}
		if end != going {
			cancel()
		}
	}
	var run []*call
	var jobs []tool.Job
	for _, c := range part {
		if c.ended == nil {
			run, jobs = append(run, c), append(jobs, tool.Job{Tool: c.tool, Env: c.env, Args: c.Args})
		}
	}
	if store(); end != going {
		return end
	}
	runner := tool.Runner{MaxResult: r.o.MaxResult, Log: t.log}
	runner.Run(limited, jobs, tool.Watch{
		Began: func(i int) { t.begin(run[i]) },
		Ended: func(i int, e tool.Ended) {
			run[i].came(e, ctx, limited)
			t.uncertain = t.uncertain || run[i].status == fateUnknown && ctx.Err() != nil
			store()
		},
		Beat: func() { t.alive(doing(run[0].spec)) },
	})
	return end
}

// begin tells that a call runs now.
func (t *state) begin(c *call) {
	c.begun = true
	t.alive(doing(c.spec))
	t.news.tell(core.EventBody{Type: core.ToolStart, Call: c.ID, Name: c.Name, Detail: tool.Line(tool.Repair(c.risk.Summary), 300)})
}

// came takes the end of an executed call and makes its result say what the model must know.
func (c *call) came(e tool.Ended, turn, batch context.Context) {
	c.ended, c.status = &e, fateOK
	if e.Result.Failed {
		c.status = fateError
	}
	if e.State == tool.Ran {
		return
	}
	note := map[tool.Fate]string{tool.Cut: textCut, tool.Lost: textLost, tool.Skipped: textSkipped}[e.State]
	if turn.Err() == nil && batch.Err() != nil {
		note = "[" + context.Cause(batch).Error() + "]\n" + note
	}
	if e.State == tool.Skipped && turn.Err() == nil {
		note = "Not run: " + context.Cause(batch).Error() + "."
	}
	e.Result.Failed = true
	e.Result.Text = strings.TrimSpace(e.Result.Text + "\n" + note)
	switch {
	case e.State == tool.Skipped:
		c.status = fateSkipped
	case c.effect != core.ReadOnly:
		c.status = fateUnknown
	default:
		c.status = fateError
	}
}

// keep stores a result, and only then lets anybody know of it. The last one of a round carries what the model must hear
// beside it: that it repeats itself, and what the person wrote meanwhile.
func (r *Runner) keep(ctx context.Context, t *state, c *call) core.Reason {
	b := core.Batch{Messages: []core.Message{c.message(t)}, Calls: []core.Call{c.row(t, core.CallDone)},
		Sync: c.begun && c.effect != core.ReadOnly}
	plain := b.Messages[0].Content
	if c == t.round[len(t.round)-1] {
		plain += t.repeats.after(t.round) + aside(t.note)
		b.Messages[0].Content = plain + t.steered(&b)
	}
	if c.begun {
		crash.Point(crash.AfterEffect)
	}
	stored, end := r.append(ctx, t, b)
	if end == core.ReasonPersistence && len(b.Consume) > 0 && core.Is(t.cause, core.Conflict) {
		b.Messages[0].Content, b.Consume = plain, nil // a row was taken back meanwhile; the others run by themselves
		stored, end = r.append(ctx, t, b)
	}
	if end != going {
		return end
	}
	c.stored, t.cause = true, nil
	t.history = append(t.history, stored...)
	crash.Point(crash.AfterResult)
	if !c.begun {
		t.news.tell(core.EventBody{Type: core.ToolStart, Call: c.ID, Name: c.Name, Detail: tool.Line(tool.Repair(c.risk.Summary), 300)})
	}
	res := c.ended.Result
	t.news.tell(core.EventBody{Type: core.ToolComplete, Call: c.ID, Name: c.Name, Detail: tool.Line(tool.Repair(res.Summary), 300),
		Diff: tool.Repair(res.Diff), Seconds: c.ended.Took.Seconds(), Status: string(c.status)})
	return going
}

// message is the result as a row of the transcript.
func (c *call) message(t *state) core.Message {
	m := t.message(core.RoleTool)
	m.CallID, m.Content, m.Synthetic = c.ID, tool.Repair(c.ended.Result.Text), !c.begun
	return m
}

// steered returns what the person wrote while the turn ran, and notes in the batch whose rows it consumes. A turn that
// halts takes nothing: its rows run by themselves.
func (t *state) steered(b *core.Batch) string {
	if t.in.Steer == nil || t.repeats.count >= haltAt {
		return ""
	}
	var out strings.Builder
	for _, s := range t.in.Steer() {
		b.Consume = append(b.Consume, s.ID)
		out.WriteString(aside("The person writes, while you work: " + tool.Repair(s.Text)))
	}
	return out.String()
}

// aside sets a note of ours apart from what a tool said.
func aside(note string) string {
	if note == "" {
		return ""
	}
	return "\n\n[" + note + "]"
}
