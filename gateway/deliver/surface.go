package deliver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/stream"

	"github.com/oklog/ulid/v2"
)

// surface is the stream's view of one chat. A frame that is not final is dropped or put off rather than waited for, and it
// is recorded before it makes a message; a final frame waits for the budget as an answer does.
type surface View

// fenceEvery is how old the knowledge that the turn still holds its conversation may be when something is shown: after a
// suspension of the process somebody else may go on with it.
const fenceEvery = 30 * time.Second

func (s *surface) Size(md string) int { return s.c.adapter.Size(md) }

// Max leaves no room for the mark of a repeat: a live message is never repeated, that is the outbox's.
func (s *surface) Max() int { return s.c.limits.Text }

// Post creates a message.
func (s *surface) Post(ctx context.Context, v stream.View) (string, error) {
	if !s.start(ctx, v.Final) {
		return "", stream.ErrSkip
	}
	defer s.done()
	if err := s.allow(ctx, v.Final); err != nil {
		return "", s.answer(err)
	}
	if err := s.mark(ctx); err != nil {
		return "", fmt.Errorf("%w: %w", stream.ErrSkip, err)
	}
	crash.Point(crash.BeforeSend)
	var ref adapters.Ref
	err := s.fall(ctx, v, func(m adapters.Outgoing) error {
		var err error
		ref, err = s.c.sendNow(ctx, s.target(), m)
		return err
	})
	if err != nil {
		if kindOf(err) != adapters.Ambiguous {
			s.unmark(ctx)
		}
		return "", s.answer(err)
	}
	crash.Point(crash.AfterSend)
	s.sent(ref, v)
	return string(ref), nil
}

// start reports whether a message may be made now: not before the commit once the text has ended unseen, and not while the
// fate of another one is unknown.
func (s *surface) start(ctx context.Context, final bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posted = context.WithoutCancel(ctx)
	if s.closed && !final || s.held || s.unknownFate() {
		return false
	}
	s.posting = true
	return true
}

func (s *surface) unknownFate() bool {
	return slices.ContainsFunc(s.row.Parts, func(p core.Part) bool { return p.Ref == "" && p.Sent > 0 })
}

func (s *surface) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posting = false
}

// Edit changes a message.
func (s *surface) Edit(ctx context.Context, ref string, v stream.View) error {
	if !s.c.canEdit(s.target().Chat) {
		if v.Final {
			return stream.ErrGone
		}
		return stream.ErrSkip
	}
	if err := s.allow(ctx, v.Final); err != nil {
		return s.answer(err)
	}
	err := s.fall(ctx, v, func(m adapters.Outgoing) error {
		return s.c.editNow(ctx, s.target(), adapters.Ref(ref), m)
	})
	if kindOf(err) == adapters.Unsupported {
		s.c.learn(s.target().Chat, lackEdit)
		return s.Edit(ctx, ref, v)
	}
	if err == nil && !v.Final {
		crash.Point(crash.MidStream)
	}
	return s.answer(err)
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
func (s *surface) allow(ctx context.Context, final bool) error {
	if final {
		return s.c.wait(ctx, s.target(), forFinal, patience)
	}
	if err := s.holds(ctx); err != nil {
		return err
	}
	return s.c.now(s.target(), forPreview)
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
	return errFate
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

// answer is what the stream understands of err.
func (s *surface) answer(err error) error {
	switch k := kindOf(err); k {
	case none:
		return nil
	case kindLater:
		return &stream.Wait{Until: laterAt(err)}
	case adapters.Limited:
		return &stream.Wait{Until: time.Now().Add(retryAfter(err))}
	case adapters.Temporary:
		return &stream.Wait{Until: time.Now().Add(firstPause)}
	case adapters.Gone, adapters.NoTarget, adapters.TooLong, adapters.Empty, adapters.Ambiguous, kindStore:
		return fmt.Errorf("%w: %w", map[adapters.ErrorKind]error{
			adapters.Gone: stream.ErrGone, adapters.NoTarget: stream.ErrDead, adapters.TooLong: stream.ErrTooLong,
			adapters.Empty: stream.ErrSkip, adapters.Ambiguous: stream.ErrSkip, kindStore: stream.ErrSkip}[k], err)
	}
	return err
}

// mark stores that a message is about to be made.
func (s *surface) mark(ctx context.Context) error {
	s.mu.Lock()
	s.row.Parts = append(s.row.Parts, core.Part{Sent: 1})
	s.mu.Unlock()
	err := s.store(ctx)
	if err != nil {
		s.mu.Lock()
		s.row.Parts = s.row.Parts[:len(s.row.Parts)-1]
		s.mu.Unlock()
	}
	return err
}

// unmark takes back a mark whose message was certainly not made.
func (s *surface) unmark(ctx context.Context) {
	s.mu.Lock()
	s.row.Parts = s.row.Parts[:len(s.row.Parts)-1]
	s.mu.Unlock()
	if err := s.store(ctx); err != nil {
		s.c.log.Warn("a preview's failure could not be recorded", "turn", s.fence.Turn, "err", err)
	}
}

func (s *surface) sent(ref adapters.Ref, v stream.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row.Parts[len(s.row.Parts)-1] = core.Part{Ref: string(ref), Hash: stream.Hash(v), Sent: 1}
}

// record stores the list of messages that show the answer. It is called by the stream right after the list changed.
func (v *View) record(parts []core.Part) {
	v.mu.Lock()
	v.row.Parts = slices.Clone(parts)
	for i := range v.row.Parts {
		v.row.Parts[i].Sent = max(v.row.Parts[i].Sent, 1)
	}
	ctx := v.posted
	v.mu.Unlock()
	if err := (*surface)(v).store(ctx); err != nil {
		v.c.log.Warn("a preview could not be recorded", "turn", v.fence.Turn, "err", err)
	}
	crash.Point(crash.MidStream)
}

// store writes the preview's row, which is made the first time.
func (s *surface) store(ctx context.Context) error {
	s.mu.Lock()
	fresh := s.row.ID == ""
	if fresh {
		a := s.claim.Admission
		s.row.ID, s.row.Created = core.DeliveryID(ulid.Make().String()), time.Now()
		s.row.Conversation, s.row.Admission, s.row.Turn = a.Conversation, a.ID, s.fence.Turn
		s.row.Kind = core.DeliverPreview
	}
	s.row.State, s.row.Route = core.DeliveryLive, s.route
	row := s.row
	row.Parts = slices.Clone(row.Parts)
	s.mu.Unlock()
	if !fresh {
		return s.m.cfg.Store.Save(ctx, row)
	}
	err := s.m.cfg.Store.Put(ctx, row)
	if err != nil {
		s.mu.Lock()
		s.row.ID = ""
		s.mu.Unlock()
	}
	return err
}
