package ask

import (
	"context"
	"time"

	"bellhop/core"
)

// Run expires questions that nobody waits for, at once and then every few seconds, until ctx ends, which is not an error.
func (d *Desk) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		d.expire(ctx)
		d.tidy()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// expire ends the questions whose time is over. The store says which; each is ended by one caller only.
func (d *Desk) expire(ctx context.Context) {
	expired, err := d.rows.Expire(ctx, time.Now())
	if err != nil {
		if ctx.Err() == nil {
			d.log.Warn("questions could not be expired; it is tried again", "err", err)
		}
		return
	}
	for _, q := range expired {
		d.end(ctx, q)
	}
}

// tidy forgets secrets that no turn came for.
func (d *Desk) tidy() {
	const grace = time.Minute // a turn that waits takes its secret at once
	d.giving.Lock()
	defer d.giving.Unlock()
	for id, s := range d.secrets {
		if time.Since(s.until) > grace {
			delete(d.secrets, id)
		}
	}
}

// request is the news that a question is open.
func request(q core.Question) core.EventBody {
	types := map[core.QuestionKind]core.EventType{core.Approval: core.ApprovalRequest, core.Clarify: core.ClarifyRequest,
		core.Sudo: core.SudoRequest, core.Secret: core.SecretRequest}
	a := q.Ask
	return core.EventBody{Type: types[a.Kind], Call: a.Call, Name: a.Tool, Text: a.Title, Detail: a.Detail,
		Question: q.ID, Ask: &a}
}

// Resolved is the news that a question ended: Status is its state, Name who answered, Detail the answer where it may be
// shown, Text the sentence for people.
func Resolved(q core.Question) core.EventBody {
	a := q.Ask
	b := core.EventBody{Type: core.QuestionResolved, Call: a.Call, Name: q.ByName, Question: q.ID, Ask: &a,
		Status: string(q.State), Text: words(q)}
	if q.State == core.QuestionAnswered && !hidden(a.Kind) {
		b.Detail = q.Answer
		if choice, reason := core.ReadChoice(q.Answer); a.Kind == core.Approval && reason != "" {
			b.Detail = string(choice)
		}
	}
	return b
}

// words tell a person how a question ended.
func words(q core.Question) string {
	switch q.State {
	case core.QuestionAnswered:
		return answered(q)
	case core.QuestionDropped:
		return "Not needed any more: the turn ended."
	}
	switch q.Ask.Kind {
	case core.Approval:
		return "Nobody answered in time: denied, it was not run."
	case core.Clarify:
		return "Nobody answered in time: the agent decides."
	case core.Sudo:
		return "Nobody answered in time: no password was given."
	}
	return "Nobody answered in time: skipped."
}

func answered(q core.Question) string {
	by := ""
	if q.ByName != "" {
		by = " by " + q.ByName
	}
	if q.Ask.Kind != core.Approval {
		return "Answered" + by + "."
	}
	switch core.Choice(q.Answer) {
	case core.ChoiceOnce:
		return "Allowed once" + by + "."
	case core.ChoiceSession:
		return "Allowed for this session" + by + "."
	case core.ChoiceAlways:
		return "Always allowed" + by + "."
	}
	if _, reason := core.ReadChoice(q.Answer); reason != "" {
		return "Denied" + by + ": " + reason
	}
	return "Denied" + by + "."
}
