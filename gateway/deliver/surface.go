package deliver

import (
	"context"
	"fmt"
	"math"
	"time"

	"bellhop/adapters"
	"bellhop/core/crash"
	"bellhop/stream"
)

// surface is the stream's view of one chat. A frame that is not final is dropped or put off rather than waited for, and it
// is recorded before it makes a message; a final frame waits for the budget as an answer does.
type surface View

// fenceEvery is how old the knowledge that the turn still holds its conversation may be when something is shown: after a
// suspension of the process somebody else may go on with it.
const fenceEvery = 30 * time.Second

func (s *surface) Size(md string) int { return s.c.adapter.Size(md) }

func (s *surface) Fits(md string, max int) bool {
	f := s.c.caps.Fitter
	return f != nil && f.Fits(md, max)
}

// Max leaves no room for the mark of a repeat: a live message is never repeated, that is the outbox's.
func (s *surface) Max() int {
	if n := s.c.limits.Text; n > 0 {
		return n
	}
	return math.MaxInt
}

// Post creates a message. That a preview is about to be made is recorded here; of a final the stream has told it already.
func (s *surface) Post(ctx context.Context, v stream.View) (string, error) {
	if !v.Final && (s.behind() || !s.grace(ctx)) || !s.start(ctx, v.Final) {
		return "", stream.ErrSkip
	}
	if err := s.allow(ctx, v.Final, forFirst); err != nil {
		s.done(posted)
		return "", s.answer(err)
	}
	if !v.Final {
		if err := s.store(ctx); err != nil {
			s.done(posted)
			return "", fmt.Errorf("%w: %w", stream.ErrSkip, err)
		}
	}
	crash.Point(crash.BeforeSend)
	var ref adapters.Ref
	err := s.fall(ctx, v, func(m adapters.Outgoing) error {
		var err error
		var name string
		if ref, name, err = s.c.sendNow(ctx, s.target(), m); kindOf(err) == adapters.Ambiguous {
			s.lose(name)
		}
		return err
	})
	switch {
	case err == nil:
		crash.Point(crash.AfterSend)
		(*View)(s).appeared()
		s.drew(false)
		s.saw(string(ref), v)
		s.done(posted)
		return string(ref), nil
	case kindOf(err) == adapters.Ambiguous:
		s.done(lost)
	default:
		s.done(posted)
		if !v.Final {
			s.note(ctx)
		}
	}
	return "", s.answer(err)
}

// behind reports whether an earlier answer is still owed here: a message made now would stand above it for good.
func (s *surface) behind() bool {
	s.mu.Lock()
	k, id := laneOf(s.route), s.row.ID
	s.mu.Unlock()
	return s.m.debts.before(k, id)
}

// lose notes by which name a message can be looked for, and since when nobody knows what became of it.
func (s *surface) lose(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mark, s.lostAt = name, time.Now().Truncate(time.Millisecond)
}

// grace waits a moment before the first preview while many turns run: an answer that is there in a moment then is one
// message and one call, which is what a busy gateway needs most. false: ctx has ended.
func (s *surface) grace(ctx context.Context) bool {
	s.mu.Lock()
	first := (*View)(s).unseen() && !s.held && !s.sketch.shown
	s.mu.Unlock()
	n := s.m.pulse.live()
	if !first || n < graceFrom {
		return true
	}
	return sleep(ctx, min(time.Duration(n)*gracePerTurn, maxGrace), nil) == nil
}

const (
	graceFrom    = 4 // turns that run
	gracePerTurn = time.Millisecond
	maxGrace     = 20 * time.Millisecond
)

// fate is how a post ended.
type fate bool

const (
	posted fate = false // there is a message, or certainly none
	lost   fate = true  // nobody knows
)

// start reports whether a message may be made now: not before the commit once the text has ended unseen, and not while the
// fate of another one is unknown.
func (s *surface) start(ctx context.Context, final bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && !final || s.held || s.lost {
		return false
	}
	s.posting = true
	s.under = context.WithoutCancel(ctx)
	return true
}

func (s *surface) done(f fate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posting = false
	s.lost = s.lost || f == lost
}

// Edit changes a message.
func (s *surface) Edit(ctx context.Context, ref string, v stream.View) error {
	if !s.c.canEdit(s.target().Chat) {
		if v.Final {
			return stream.ErrGone
		}
		return stream.ErrSkip
	}
	if s.shows(ref, v) {
		return nil
	}
	if err := s.allow(ctx, v.Final, forPreview); err != nil {
		return s.answer(err)
	}
	err := s.fall(ctx, v, func(m adapters.Outgoing) error {
		return s.c.editNow(ctx, s.target(), adapters.Ref(ref), m)
	})
	if kindOf(err) == adapters.Unsupported {
		s.c.learn(s.target().Chat, lackEdit)
		return s.Edit(ctx, ref, v)
	}
	if err == nil {
		s.saw(ref, v)
		crash.Point(crash.MidStream)
	}
	return s.answer(err)
}

// saw notes what a message shows since its last acknowledged call; shows compares.
func (s *surface) saw(ref string, v stream.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seenRef, s.seenHash = ref, stream.Hash(v)
}

func (s *surface) shows(ref string, v stream.View) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seenRef == ref && s.seenHash == stream.Hash(v)
}

// Delete removes a message.
func (s *surface) Delete(ctx context.Context, ref string) error {
	if s.c.caps.Deleter == nil || s.c.lacks(s.target().Chat, lackDelete) {
		return stream.ErrSkip
	}
	if err := s.c.now(s.target(), forPreview); err != nil {
		return s.answer(err)
	}
	err := s.c.deleteNow(ctx, s.target(), adapters.Ref(ref))
	if kindOf(err) == adapters.Unsupported {
		s.c.learn(s.target().Chat, lackDelete)
	}
	return s.answer(err)
}

func (s *surface) target() adapters.Target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return targetOf(s.route)
}

// allow spends one call of the budget and asks the fence where that is due.
func (s *surface) allow(ctx context.Context, final bool, frame priority) error {
	if final {
		return s.c.wait(ctx, s.target(), forFinal, patience)
	}
	if err := s.holds(ctx); err != nil {
		return err
	}
	return s.c.now(s.target(), frame)
}

// holds asks whether the turn may still speak when that was not asked for a while.
func (s *surface) holds(ctx context.Context) error {
	s.mu.Lock()
	fresh := s.m.cfg.Leases == nil || time.Now().Round(0).Sub(s.checked.Round(0)) < fenceEvery
	s.mu.Unlock()
	if fresh {
		return nil
	}
	if err := s.m.cfg.Leases.Holds(ctx, s.fence); err != nil {
		return &storeError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = time.Now()
	return nil
}

// fall makes one call and follows it where a fallback leads: without markup, to the chat's new id, without its topic.
func (s *surface) fall(ctx context.Context, v stream.View, call func(adapters.Outgoing) error) error {
	m := outgoing(v)
	m.Plain = s.plain && !v.Final
	if s.c.lacks(s.target().Chat, lackButtons) {
		m.Buttons = nil
	}
	for range 4 {
		err := call(m)
		switch k := kindOf(err); {
		case k == adapters.Markup && !m.Plain:
			m.Plain, s.plain = true, true
		case k == adapters.Moved && movedTo(err) != "":
			if err := s.move(ctx, movedTo(err)); err != nil {
				return err
			}
		case k == adapters.NoThread && s.target().Thread != "":
			s.mu.Lock()
			s.route.Thread = ""
			s.mu.Unlock()
		default:
			return err
		}
		if err := s.c.wait(ctx, s.target(), forPreview, time.Second); err != nil {
			return err
		}
	}
	return errForms
}

func (s *surface) move(ctx context.Context, to string) error {
	r := s.route
	if err := s.m.follow(ctx, s.c, &r, to); err != nil {
		return &storeError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.route.Chat = to
	return nil
}

// answer is what the stream understands of err. From the first call of a settled answer that does not work, the answer is
// owed: the next turn of the target, which may run already, shows nothing before it.
func (s *surface) answer(err error) error {
	s.mu.Lock()
	late, row := s.ending && err != nil, s.row
	s.mu.Unlock()
	if late {
		s.m.debts.owe(row)
	}
	switch kindOf(err) {
	case none:
		return nil
	case kindLater:
		return &stream.Wait{Until: laterAt(err)}
	case adapters.Limited:
		return &stream.Wait{Until: time.Now().Add(retryAfter(err))}
	case adapters.Temporary:
		return &stream.Wait{Until: time.Now().Add(firstPause)}
	case adapters.Gone:
		return fmt.Errorf("%w: %w", stream.ErrGone, err)
	case adapters.NoTarget:
		return fmt.Errorf("%w: %w", stream.ErrDead, err)
	case adapters.TooLong:
		return fmt.Errorf("%w: %w", stream.ErrTooLong, err)
	case adapters.Empty, adapters.Ambiguous, kindStore:
		return fmt.Errorf("%w: %w", stream.ErrSkip, err)
	}
	return err
}
