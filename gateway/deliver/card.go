package deliver

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"bellhop/core"
)

// cards shows questions and, when they are answered anywhere or run out, what became of them. Its memory is the ids of
// questions with news that was not looked at yet; everything else is read from the store.
type cards struct {
	m    *Mouth
	kick chan struct{}

	mu   sync.Mutex
	news []core.QuestionID
	seen map[core.QuestionID]bool // those in news
}

func newCards(m *Mouth) *cards {
	return &cards{m: m, kick: make(chan struct{}, 1), seen: map[core.QuestionID]bool{}}
}

func (c *cards) on(e core.Event) {
	switch e.Type {
	case core.ApprovalRequest, core.ClarifyRequest, core.SudoRequest, core.SecretRequest, core.QuestionResolved:
		c.look(e.Question)
	}
}

// look asks for a question to be brought up to date.
func (c *cards) look(q core.QuestionID) {
	if q == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.seen[q] {
		c.seen[q] = true
		c.news = append(c.news, q)
	}
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

func (c *cards) take() (core.QuestionID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.news) == 0 {
		return "", false
	}
	q := c.news[0]
	c.news = c.news[1:]
	delete(c.seen, q)
	return q, true
}

func (c *cards) run(ctx context.Context) error {
	c.catchUp(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.kick:
		}
		for q, ok := c.take(); ok; q, ok = c.take() {
			if err := c.update(ctx, q); err != nil && ctx.Err() == nil {
				c.m.log.Warn("a question could not be shown", "question", q, "err", err)
				if !core.Is(err, core.NotFound) {
					c.look(q)
					if sleep(ctx, storePause, nil) != nil {
						return nil
					}
				}
			}
		}
	}
}

// recent is how far back cards are looked at whose question may have ended while nobody could say so.
const recent = 24 * time.Hour

// catchUp looks at the cards of the process before this one, which may have died between an answer and its card.
func (c *cards) catchUp(ctx context.Context) {
	ended, err := c.m.cfg.Turns.Ended(ctx, time.Now().Add(-recent))
	if err != nil && ctx.Err() == nil {
		c.m.log.Warn("the questions of before could not be looked at; their buttons may stay", "err", err)
	}
	for _, q := range ended {
		c.look(q.ID)
	}
}

// update makes what is shown of a question fit its state.
func (c *cards) update(ctx context.Context, id core.QuestionID) error {
	q, err := c.m.cfg.Turns.Question(ctx, id)
	if err != nil {
		return err
	}
	rows, err := c.m.cfg.Store.For(ctx, id)
	if err != nil {
		return err
	}
	if q.State == core.QuestionOpen {
		if len(rows) > 0 {
			return nil
		}
		return c.show(ctx, q)
	}
	return c.close(ctx, q, rows)
}

// show puts the card where it can be answered, and a word into the chat of the turn where that is another place.
func (c *cards) show(ctx context.Context, q core.Question) error {
	a, err := c.m.cfg.Turns.Admission(ctx, q.Admission)
	if err != nil {
		return err
	}
	own := a.Submission.Route
	place := own
	if needsOwner(q, a) {
		place = core.Route{}
		if c.m.cfg.Home != nil {
			place, _ = c.m.cfg.Home(ctx)
		}
		if place.IsZero() {
			c.m.log.Warn("nobody can be asked: the gateway has no owner, or the owner no chat", "question", q.ID)
		}
	}
	away := place.Platform != own.Platform || place.Chat != own.Chat
	if !place.IsZero() {
		d := core.Delivery{Conversation: q.Conversation, Admission: q.Admission, Turn: q.Turn, Kind: core.DeliverQuestion,
			Route: place, Question: q.ID, Text: cardText(q, a, away), Buttons: cardButtons(q)}
		if err := c.m.Say(ctx, d); err != nil {
			return err
		}
	}
	if !away || own.IsZero() {
		return nil
	}
	return c.m.Say(ctx, core.Delivery{Conversation: q.Conversation, Admission: q.Admission, Turn: q.Turn, Route: own,
		Question: q.ID, Text: awayText(place)})
}

// needsOwner reports whether somebody else than the turn's author must answer: approvals of who is no admin, and what
// comes through a door without a face.
func needsOwner(q core.Question, a core.Admission) bool {
	switch q.Ask.Kind {
	case core.Approval, core.Sudo, core.Secret:
		faceless := a.Submission.Route.IsZero() && a.Submission.Surface != "rpc"
		return !a.Admin || faceless
	}
	return false
}

// close replaces what is shown by the end of the story: who, what and when; the buttons go.
func (c *cards) close(ctx context.Context, q core.Question, rows []core.Delivery) error {
	closed := map[string]bool{} // messages that tell it already
	for _, d := range rows {
		if d.Text == closedText(q) && len(d.Parts) > 0 {
			closed[d.Parts[0].Ref] = true
		}
	}
	for _, d := range rows {
		switch {
		case d.State == core.DeliveryOwed && len(d.Parts) == 0: // never shown
			d.State, d.Done = core.DeliveryMoved, time.Now()
			if err := c.m.save(ctx, d); err != nil && !core.Is(err, core.Conflict) {
				return err
			}
		case d.State == core.DeliveryDelivered && len(d.Parts) > 0 && !closed[d.Parts[0].Ref] && d.Text != closedText(q):
			ref := d.Parts[0].Ref
			closed[ref] = true
			err := c.m.Say(ctx, core.Delivery{Conversation: q.Conversation, Admission: q.Admission, Turn: q.Turn,
				Route: d.Route, Question: q.ID, Text: closedText(q), Parts: []core.Part{{Ref: ref, Sent: 1}}})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sent is told of every row that was written: a question may have been answered while its card was on its way.
func (c *cards) sent(d core.Delivery) {
	if d.Kind == core.DeliverQuestion {
		c.look(d.Question)
	}
}

func cardButtons(q core.Question) []core.Button {
	data := func(choice string) string { return "ans:" + string(q.ID) + ":" + choice }
	switch q.Ask.Kind {
	case core.Approval:
		b := []core.Button{{Label: "Allow once", Data: data(string(core.ChoiceOnce)), Style: "primary"}}
		if q.Ask.Key != "" {
			b = append(b, core.Button{Label: "This session", Data: data(string(core.ChoiceSession))},
				core.Button{Label: "Always", Data: data(string(core.ChoiceAlways)), Row: 1})
		}
		return append(b, core.Button{Label: "Deny", Data: data(string(core.ChoiceDeny)), Style: "danger", Row: b[len(b)-1].Row})
	case core.Clarify:
		var b []core.Button
		for i, label := range q.Ask.Choices {
			b = append(b, core.Button{Label: label, Data: data(itoa(i)), Row: i})
		}
		return b
	}
	return nil
}

func nameOfPerson(q core.Question) string { return cmp.Or(q.ByName, string(q.By), "somebody") }

// Replace puts text in the place of delivered messages of an admission whose first button's data begins with data; their
// buttons go. It is a row like any other, so it happens in any case.
func (m *Mouth) Replace(ctx context.Context, a core.AdmissionID, data, text string) error {
	rows, err := m.cfg.Store.Of(ctx, a)
	if err != nil {
		return err
	}
	for _, d := range rows {
		if len(d.Buttons) == 0 || !strings.HasPrefix(d.Buttons[0].Data, data) || d.State != core.DeliveryDelivered {
			continue
		}
		err := m.Say(ctx, core.Delivery{Conversation: d.Conversation, Admission: a, Turn: d.Turn, Route: d.Route,
			Text: d.Text + "\n\n" + text, Parts: slices.Clone(d.Parts)})
		if err != nil {
			return err
		}
	}
	return nil
}
