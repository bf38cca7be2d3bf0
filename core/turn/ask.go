package turn

import (
	"context"
	"errors"
	"strings"

	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/core/prompt"
	"bellhop/core/provider"
	"bellhop/core/tool"
)

// maxContinue is how many times an answer that hit the length limit is continued.
const maxContinue = 2

// ask makes one model call, with as many attempts as the retry table gives it.
func (r *Runner) ask(ctx context.Context, t *state, req provider.Request) (*provider.Reply, core.Reason) {
	a := newTries(r.o.Attempts)
	for {
		if end := interrupted(ctx); end != going {
			return nil, end
		}
		a.made++
		t.shown.begin()
		reply, err := r.attempt(ctx, t, &req)
		if err == nil {
			t.cause = nil
			r.count(t, req, reply)
			if now, differs := t.shown.settle(); differs {
				t.news.tell(core.EventBody{Type: core.MessageReset, Text: now})
			}
			return reply, going
		}
		if next := r.recover(ctx, t, &req, a, err); next != going {
			return nil, next
		}
	}
}

// attempt makes one call. Text is news as it comes; calls count only when the reply is complete.
func (r *Runner) attempt(ctx context.Context, t *state, req *provider.Request) (*provider.Reply, error) {
	t.alive("thinking")
	reply, mused := new(provider.Reply), false
	err := r.listen(ctx, t.model().Provider, req, func(p provider.Part) {
		p.Text, p.Reasoning = tool.Repair(p.Text), tool.Repair(p.Reasoning)
		if p.Text == "" { // what is visible is in t.shown
			reply.Add(p)
		}
		if mused && p.Reasoning == "" {
			mused = false
			t.news.tell(core.EventBody{Type: core.ReasoningReady})
		}
		switch {
		case p.Text != "":
			t.alive("writing")
			t.show(t.shown.add(p.Text))
			crash.Point(crash.MidStream)
		case p.Reasoning != "":
			mused = true
			t.alive("thinking")
			t.news.tell(core.EventBody{Type: core.ReasoningDelta, Text: p.Reasoning})
		case p.Recant:
			reply.Add(provider.Part{Reasoning: t.shown.said.String()})
			t.show(t.shown.recant(), true)
		case p.Naming != "":
			t.alive("choosing a tool")
			t.news.tell(core.EventBody{Type: core.ToolGenerating, Name: p.Naming})
		}
	})
	if err == nil && reply.Done == nil {
		err = &provider.Error{Kind: provider.Transport, Text: "the reply has no end"}
	}
	return reply, err
}

// show tells people of text: a piece more, or all of it instead of what they see.
func (t *state) show(text string, instead bool) {
	switch {
	case instead:
		t.news.tell(core.EventBody{Type: core.MessageReset, Text: text})
	case text != "":
		t.news.tell(core.EventBody{Type: core.MessageDelta, Text: text})
	}
}

// count adds what a reply cost, estimated where the endpoint does not tell.
func (r *Runner) count(t *state, req provider.Request, reply *provider.Reply) {
	u := reply.Done.Usage
	r.meter.Learn(req, u)
	if u.Input == 0 && u.Output == 0 {
		u = core.Usage{Input: prompt.Tokens(req), Output: (t.shown.said.Len() + len(reply.Reasoning()) + 3) / 4, Estimated: true}
	}
	u.Calls = max(u.Calls, 1)
	t.usage = t.usage.Add(u)
	if r.o.Spent != nil {
		r.o.Spent(t.model().Name, t.model().Model, u)
	}
}

// Said to the model when its reply is not yet an answer.
const (
	urgeAnswer   = "You have thought, but said nothing that the person can see. Give them the answer now."
	urgeContinue = "You were cut off at the length limit. Go on exactly where you stopped, without repeating anything."
	urgeClose    = "You may not use tools any more in this turn. Tell the person what you have done, what you found, and what is left to do."
)

const cutMark = "\n\n*(This answer was cut off at the model's length limit.)*"

var (
	errEmpty    = errors.New("the model answered with nothing, twice")
	errFiltered = errors.New("the endpoint's filter refused the answer")
)

// accept decides whether a reply without calls is the answer.
func (r *Runner) accept(t *state, reply *provider.Reply) core.Reason {
	text := t.shown.text()
	length := reply.Done.Finish == provider.FinishLength
	switch empty := strings.TrimSpace(text) == ""; {
	case !empty && length && t.continued < maxContinue:
		t.continued++
		t.shown.keep()
		said := t.message(core.RoleAssistant)
		said.Content = text
		t.aside = []core.Message{said, urge(urgeContinue)}
		return going
	case !empty:
		if t.final = text; length {
			t.final += cutMark
		}
		t.thought = reply.Reasoning()
		return core.ReasonAnswered
	case reply.Done.Finish == provider.FinishFiltered:
		t.cause = &provider.Error{Kind: provider.Filtered, Err: errFiltered}
		return core.ReasonProvider
	case t.spoke:
		return core.ReasonSilent
	case !t.urged:
		t.urged = true
		t.aside = []core.Message{urge(urgeAnswer)}
		return going
	case t.at+1 < len(t.models):
		t.urged = false
		r.switchTo(t, t.at+1, "it gave no answer")
		return going
	}
	t.cause = errEmpty
	return core.ReasonProvider
}

// urge is something said to the model alone.
func urge(text string) core.Message {
	return core.Message{Role: core.RoleUser, Content: text, Synthetic: true}
}

// grace makes one more call, without tools, when the budget has ended, so that the person learns how far it got.
func (r *Runner) grace(ctx context.Context, t *state) core.Reason {
	spent := t.budget.spent
	t.aside = append(t.aside, urge(urgeClose))
	for range len(t.models) {
		if t.cause = r.tooLong(t, t.at, r.request(t, nil)); t.cause != nil {
			return spent
		}
		reply, end := r.ask(ctx, t, r.request(t, nil))
		switch {
		case end == refit:
			continue
		case interrupted(ctx) != going:
			return end
		case end == going && strings.TrimSpace(t.shown.text()) != "":
			t.final, t.thought = t.shown.text(), reply.Reasoning()
		}
		return spent
	}
	return spent
}
