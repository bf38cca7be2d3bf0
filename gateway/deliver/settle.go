package deliver

import (
	"context"
	"errors"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/crash"
	"bellhop/stream"

	"github.com/oklog/ulid/v2"
)

// Final returns the outbox row to settle the turn with. false: nothing is owed.
func (v *View) Final(o core.Outcome) (core.Delivery, bool) {
	if v.route.IsZero() {
		return core.Delivery{}, false
	}
	if o.Result == core.Failed && v.claim.Admission.Submission.Display["author"] == "bot" {
		return core.Delivery{}, false // bots are not told of failures: they would answer
	}
	v.mu.Lock()
	shown := !v.unseen() || v.sketch.shown
	v.mu.Unlock()
	text := o.Text
	if shown && o.Result != core.Completed {
		text = v.paint.Stands(o.Text) // what was seen is not overwritten
	}
	text, media := stream.Extract(text)
	if text == "" && len(media) == 0 && !shown {
		return core.Delivery{}, false
	}
	return v.final(text, media), true
}

// final makes the row: the live message's own, if it has one. When there is no message yet and the call can be made right
// after the commit, the row is born as being sent, so that the commit is the record of the attempt too.
func (v *View) final(text string, media []core.Media) core.Delivery {
	owes := v.paint != nil && v.paint.Owes()
	v.mu.Lock()
	defer v.mu.Unlock()
	a, now := &v.claim.Admission, time.Now()
	v.row.LiveUntil = now.Add(liveFor)
	d := core.Delivery{ID: v.row.ID, Conversation: a.Conversation, Admission: a.ID, Turn: v.fence.Turn,
		Kind: core.DeliverFinal, State: core.DeliveryLive, Route: v.route, Text: text, Media: media, Parts: v.parts(),
		LiveUntil: v.row.LiveUntil, Created: now}
	if d.ID == "" {
		d.ID = core.DeliveryID(ulid.Make().String())
	}
	if v.c == nil {
		return d
	}
	if v.held = !owes && v.unseen(); !v.held {
		v.row.ID = d.ID // what is made before the commit is recorded in the same row
	}
	if v.held && text != "" && !v.m.debts.before(laneOf(v.route), d.ID) && v.c.now(targetOf(v.route), forFinal) == nil {
		v.marked = true
		d.State, d.Parts = core.DeliverySending, []core.Part{{Sent: 1}}
	}
	return d
}

// Settled finishes the message after the commit and marks the row, when nobody else writes to the target. What the
// platform does not take now is left to the outbox, and so is what stands behind an answer that is owed. The error is of
// the store.
func (v *View) Settled(ctx context.Context, d core.Delivery) error {
	if v.paint == nil {
		return v.m.write(ctx, d, false)
	}
	release, err := v.m.lanes.hold(ctx, v.m, laneOf(d.Route), d.ID)
	if err != nil {
		v.stop()
		return v.leave(ctx, d)
	}
	defer release()
	if v.m.debts.before(laneOf(d.Route), d.ID) {
		v.stop()
		return v.leave(ctx, d)
	}
	d.LiveUntil = time.Now().Add(liveFor)
	return v.finish(ctx, d)
}

// leave gives the row to the outbox.
func (v *View) leave(ctx context.Context, d core.Delivery) error {
	d.State, d.LiveUntil = core.DeliveryOwed, time.Time{}
	v.mu.Lock()
	d.Route, d.Parts = v.route, v.parts()
	v.mu.Unlock()
	return v.m.save(ctx, v.rows(d)...)
}

func (v *View) finish(ctx context.Context, d core.Delivery) error {
	v.mu.Lock()
	held, marked, unsure := v.held, v.marked, v.lost
	v.mu.Unlock()
	if held || unsure {
		if held && !marked {
			marked = v.linger(ctx, &d)
		}
		v.stop()
		return v.hand(ctx, d, marked)
	}
	v.own(ctx, d)
	parts, err := v.paint.Finish(ctx, d.Text)
	v.stop()
	v.mu.Lock()
	v.row.Parts = parts
	v.mu.Unlock()
	return v.close(ctx, d, err)
}

// own makes d the row of the live message where there is none yet, so that what Finish makes is recorded before it is made.
func (v *View) own(ctx context.Context, d core.Delivery) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.born {
		d.Parts = v.row.Parts
		v.row, v.born = d, true
	}
	v.ending = v.row.ID == d.ID // else its row was settled beside that of the live message
	if v.under == nil {
		v.under = context.WithoutCancel(ctx)
	}
}

// close records what Finish did, or goes on where it could not.
func (v *View) close(ctx context.Context, d core.Delivery, err error) error {
	var wait *stream.Wait
	switch {
	case err == nil && len(d.Media) == 0:
		d.State, d.Done = core.DeliveryDelivered, time.Now()
	case errors.As(err, &wait):
		d.State, d.NotBefore = core.DeliveryOwed, wait.Until
	case kindOf(err) == adapters.Ambiguous || kindOf(err) == adapters.Temporary:
		d.State, d.NotBefore, d.Error = core.DeliveryOwed, time.Now().Add(firstPause), err.Error()
	default:
		return v.hand(ctx, d, false)
	}
	v.mu.Lock()
	d.Route, d.Parts, d.LiveUntil = v.route, v.parts(), time.Time{}
	v.mu.Unlock()
	if err := v.m.save(ctx, v.rows(d)...); err != nil {
		return err
	}
	if d.State == core.DeliveryDelivered {
		crash.Point(crash.AfterDelivered)
		v.m.sweep(ctx, v.c, d.Route)
	}
	return nil
}

// hand goes on as the outbox does, with every fallback.
func (v *View) hand(ctx context.Context, d core.Delivery, marked bool) error {
	v.mu.Lock()
	d.Route = v.route
	if !marked {
		d.Parts = v.parts()
	}
	v.mu.Unlock()
	if rows := v.rows(d); len(rows) > 1 {
		if err := v.m.save(ctx, rows[1]); err != nil {
			return err
		}
	}
	return v.m.writeTelling(ctx, d, marked, v.appeared)
}

// rows are d and, when the turn was settled with a row of its own, that of the live message, which is then over.
func (v *View) rows(d core.Delivery) []core.Delivery {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.row.ID == "" || v.row.ID == d.ID {
		return []core.Delivery{d}
	}
	over := v.row
	over.State, over.Done, over.LiveUntil = core.DeliveryMoved, time.Now(), time.Time{}
	return []core.Delivery{d, over}
}
