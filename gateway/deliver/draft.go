package deliver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/stream"
)

// draftTime is the longest that showing a draft may take: the message behind it waits for the call.
const draftTime = 10 * time.Second

const lackDraft = "draft"

// sketch is what is shown of the answer without a message. It has no row: nothing is left of it after a crash.
type sketch struct {
	id    int64 // of the draft under way, one for each message; never 0
	shown bool  // it is there, below the messages
}

func newSketch() sketch { return sketch{id: 1 + int64(rand.Int32())} }

// canDraft reports whether answers to a target can be shown as drafts.
func (c *channel) canDraft(r core.Route) bool {
	return c.caps.Drafter != nil && !r.Group && !c.lacks(r.Chat, lackDraft)
}

// draftRates are the allowance of drafts, as rates are that of everything else; for the whole bot none is known.
func draftRates(o Limits, l adapters.Limits) (chat, group, bot Rate) {
	if o.Off {
		return Rate{}, Rate{}, Rate{}
	}
	chat = Rate{Every: l.DraftRate + l.DraftRate*3/100, Burst: l.DraftBurst}
	return chat, chat, Rate{}
}

// nowDraft spends one draft if that is allowed at once and nothing was refused in the chat; otherwise it is a *later.
func (c *channel) nowDraft(to adapters.Target) error {
	if c.drafts == nil {
		return c.now(to, forPreview)
	}
	if at := c.budget.refused(to.Chat); time.Now().Before(at) {
		return &later{At: at}
	}
	if at, ok := c.drafts.try(to.Chat, to.Group, forNotice); !ok {
		return &later{At: at}
	}
	return nil
}

// refused is until when the platform wants no calls to a chat.
func (b *budget) refused(chat string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, ok := b.chats[chat]; ok {
		return c.until
	}
	return time.Time{}
}

// draftNow shows a draft. It is called after nowDraft.
func (c *channel) draftNow(ctx context.Context, to adapters.Target, id int64, m adapters.Outgoing) error {
	ctx, cancel := context.WithTimeout(ctx, draftTime)
	defer cancel()
	err := c.spent(ctx, to, "draft", func(ctx context.Context) error { return c.caps.Drafter.Draft(ctx, to, id, m) })
	if c.drafts != nil && kindOf(err) == adapters.Limited {
		c.drafts.cool(to.Chat, to.Group, retryAfter(err))
	}
	return err
}

// Draft shows the message under way before there is one, also while the commit of its whole text is pending. A peer that
// lacks drafts is remembered.
func (s *surface) Draft(ctx context.Context, v stream.View) error {
	s.mu.Lock()
	closed, id, route := s.closed, s.sketch.id, s.route
	s.mu.Unlock()
	switch {
	case !s.c.canDraft(route):
		return stream.ErrNoDraft
	case closed || !s.grace(ctx):
		return stream.ErrSkip
	}
	if err := s.holds(ctx); err != nil {
		return s.answer(err)
	}
	if err := s.c.nowDraft(s.target()); err != nil {
		return s.answer(err)
	}
	err := s.fall(ctx, v, func(m adapters.Outgoing) error { return s.c.draftNow(ctx, s.target(), id, m) })
	switch kindOf(err) {
	case none:
		(*View)(s).appeared()
		s.drew(true)
	case adapters.Unsupported:
		s.c.learn(s.target().Chat, lackDraft)
		return fmt.Errorf("%w: %w", stream.ErrNoDraft, err)
	}
	return s.answer(err)
}

// drew notes that a draft is shown, or that a message took its place: what follows is another draft.
func (s *surface) drew(shown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sketch.shown = shown; !shown {
		s.sketch.id++
	}
}

// linger lets a draft show the whole text while its message waits for the budget. It reports whether the call is paid for
// and recorded in d.
func (v *View) linger(ctx context.Context, d *core.Delivery) bool {
	v.mu.Lock()
	shown, to := v.sketch.shown, targetOf(v.route)
	v.mu.Unlock()
	if !shown || d.Text == "" || v.c.wait(ctx, to, forFinal, patience) != nil {
		return false
	}
	row := *d
	row.State, row.Parts, row.LiveUntil = core.DeliverySending, []core.Part{{Sent: 1}}, time.Now().Add(ownFor)
	if err := v.m.save(ctx, row); err != nil {
		return false // the outbox says so, too
	}
	*d = row
	return true
}
