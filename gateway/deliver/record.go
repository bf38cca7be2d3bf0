package deliver

import (
	"cmp"
	"context"
	"slices"
	"time"

	"bellhop/core"
	"bellhop/core/crash"

	"github.com/oklog/ulid/v2"
)

// record takes the list of messages that show the answer, and stores it.
func (v *View) record(parts []core.Part) {
	v.mu.Lock()
	v.row.Parts = parts
	ctx := v.under
	v.mu.Unlock()
	if ctx == nil { // nothing was posted by this turn
		return
	}
	(*surface)(v).note(ctx)
	crash.Point(crash.MidStream)
}

// note stores the row; that it could not be stored is only logged, because what is shown is shown.
func (s *surface) note(ctx context.Context) {
	if err := s.store(ctx); err != nil {
		s.c.log.Warn("a live message could not be recorded", "turn", s.fence.Turn, "err", err)
	}
}

// store writes the row of the live message, which is made the first time. A message that is being made, and one whose fate
// is unknown, stand in it as a part without an id.
func (s *surface) store(ctx context.Context) error {
	s.mu.Lock()
	fresh := !s.born
	if fresh {
		a := &s.claim.Admission
		s.row.ID, s.row.Created = cmp.Or(s.row.ID, core.DeliveryID(ulid.Make().String())), time.Now()
		s.row.Conversation, s.row.Admission, s.row.Turn = a.Conversation, a.ID, s.fence.Turn
		s.row.Kind, s.row.State = core.DeliverPreview, core.DeliveryLive
	}
	s.row.Route = s.route
	if !s.row.LiveUntil.IsZero() { // it may be the settled one, and its view is alive
		s.row.LiveUntil = time.Now().Add(liveFor)
	}
	row := s.row
	row.Parts = (*View)(s).parts()
	s.mu.Unlock()
	if !fresh {
		return s.m.cfg.Store.Save(ctx, row)
	}
	err := s.m.cfg.Store.Put(ctx, row)
	if core.KindOf(err) == core.Conflict { // the turn was just settled with it
		err = s.m.cfg.Store.Save(ctx, row)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.born = err == nil
	return err
}

// parts are the messages as they are recorded. mu is held.
func (v *View) parts() []core.Part {
	parts := slices.Clone(v.row.Parts)
	if !v.posting && !v.lost {
		return parts
	}
	if !pending(parts) {
		parts = append(parts, core.Part{Sent: 1})
	}
	last := &parts[len(parts)-1]
	last.Mark, last.Lost = v.mark, v.lostAt
	return parts
}

// pending reports whether the last part is being made.
func pending(parts []core.Part) bool {
	n := len(parts)
	return n > 0 && parts[n-1].Ref == "" && parts[n-1].Sent > 0
}
