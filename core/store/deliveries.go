package store

import (
	"context"
	"strconv"
	"time"

	"bellhop/core"
)

// outbox is core.Deliveries.
type outbox struct{ s *Store }

// Outbox implements core.Store.
func (s *Store) Outbox() core.Deliveries { return outbox{s} }

const deliveryColumns = `d.id, d.conversation, d.admission, d.turn, d.kind, d.state, d.route, d.text, d.buttons, d.media,
	d.question, d.parts, d.attempts, d.not_before, d.live_until, d.error, d.created, d.done,
	CASE WHEN d.target LIKE '%` + "\x1f%\x1f%\x1f" + `' || d.id THEN 1 ELSE 0 END`

const selectDeliveries = `SELECT ` + deliveryColumns + ` FROM deliveries d`

func scanDelivery(r scanner) (d core.Delivery, err error) {
	var route, buttons, media, parts string
	var notBefore, liveUntil, created, done, aside int64
	err = r.Scan(&d.ID, &d.Conversation, &d.Admission, &d.Turn, &d.Kind, &d.State, &route, &d.Text, &buttons, &media,
		&d.Question, &parts, &d.Attempts, &notBefore, &liveUntil, &d.Error, &created, &done, &aside)
	if err != nil {
		return d, err
	}
	d.NotBefore, d.LiveUntil, d.Created, d.Done = at(notBefore), at(liveUntil), at(created), at(done)
	d.Aside = aside == 1
	if err := structure(route, &d.Route); err != nil {
		return d, err
	}
	if err := structure(buttons, &d.Buttons); err != nil {
		return d, err
	}
	if err := structure(media, &d.Media); err != nil {
		return d, err
	}
	return d, structure(parts, &d.Parts)
}

func finished(st core.DeliveryState) bool {
	return st == core.DeliveryDelivered || st == core.DeliveryDead || st == core.DeliveryMoved
}

// due is when the worker may take a row: null while it is finished, or live without a deadline.
func due(d core.Delivery) any {
	if finished(d.State) || d.State == core.DeliveryLive && d.LiveUntil.IsZero() {
		return nil
	}
	return max(ms(d.NotBefore), ms(d.LiveUntil))
}

// doneAt is when a row was finished; a row that is finished has a time.
func doneAt(d core.Delivery, now time.Time) int64 {
	if !finished(d.State) {
		return 0
	}
	if d.Done.IsZero() {
		return ms(now)
	}
	return ms(d.Done)
}

// target is the place whose order is kept.
func target(r core.Route) string { return r.Platform + "\x1f" + r.Chat + "\x1f" + r.Thread }

// apart is the target of a row that was set aside: a place of its own. Where it goes is in its route.
func apart(d core.Delivery) string { return target(d.Route) + "\x1f" + string(d.ID) }

// deliver stores a row, or overwrites the unfinished row with its id: a preview becomes its final.
func (t *tx) deliver(d core.Delivery) error {
	n, err := t.insertDelivery(d, ` ON CONFLICT (id) DO UPDATE SET turn = excluded.turn, kind = excluded.kind,
		state = excluded.state, target = excluded.target, route = excluded.route, text = excluded.text, buttons = excluded.buttons,
		media = excluded.media, question = excluded.question,
		parts = CASE WHEN excluded.parts = '' THEN deliveries.parts ELSE excluded.parts END, attempts = excluded.attempts,
		not_before = excluded.not_before, live_until = excluded.live_until, due = excluded.due, error = excluded.error,
		done = excluded.done, node = excluded.node WHERE deliveries.state IN ('live', 'owed', 'sending')`)
	if err == nil && n == 0 {
		err = core.Errorf("deliver", core.Conflict, "delivery %s is finished", d.ID)
	}
	return err
}

func (t *tx) insertDelivery(d core.Delivery, conflict string) (int64, error) {
	route, err := routeText(d.Route)
	if err != nil {
		return 0, err
	}
	buttons, err := text(d.Buttons)
	if err != nil {
		return 0, err
	}
	media, err := text(d.Media)
	if err != nil {
		return 0, err
	}
	parts, err := text(d.Parts)
	if err != nil {
		return 0, err
	}
	if d.ID == "" {
		d.ID = core.DeliveryID(newID())
	}
	if d.State == "" {
		d.State = core.DeliveryOwed
	}
	now := t.now
	if d.Created.IsZero() {
		d.Created = now
	}
	return t.exec(`INSERT INTO deliveries (id, conversation, admission, turn, kind, state, target, route, text, buttons, media,
			question, parts, attempts, not_before, live_until, due, error, created, done, node)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`+conflict,
		d.ID, d.Conversation, d.Admission, d.Turn, d.Kind, d.State, target(d.Route), route, d.Text, buttons, media,
		d.Question, parts, d.Attempts, ms(d.NotBefore), ms(d.LiveUntil), due(d), d.Error, ms(d.Created), doneAt(d, now), t.w.s.node)
}

// Put implements core.Deliveries. Conflict: a row with such an id exists.
func (o outbox) Put(ctx context.Context, list ...core.Delivery) error {
	const op = "put delivery"
	sync := unsynced // a preview is only remembered so that it can be found again
	for _, d := range list {
		sync = sync || durability(d.Kind != core.DeliverPreview)
	}
	return o.s.write(ctx, op, sync, func(t *tx) error {
		for _, d := range list {
			n, err := t.insertDelivery(d, ` ON CONFLICT (id) DO NOTHING`)
			if err == nil && n == 0 {
				err = core.Errorf(op, core.Conflict, "delivery %s exists", d.ID)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, placesOf(list)...)
}

// placesOf are the conversations of deliveries.
func placesOf(list []core.Delivery) (out []string) {
	for _, d := range list {
		if d.Conversation != "" {
			out = append(out, string(d.Conversation))
		}
	}
	return out
}

// Save implements core.Deliveries. A row that was moved to another turn never changes either.
func (o outbox) Save(ctx context.Context, list ...core.Delivery) error {
	return o.s.write(ctx, "save delivery", unsynced, func(t *tx) error {
		for _, d := range list {
			if err := t.save(d); err != nil {
				return err
			}
		}
		return nil
	}, placesOf(list)...)
}

func (t *tx) save(d core.Delivery) error {
	parts, err := text(d.Parts)
	if err != nil {
		return err
	}
	n, err := t.exec(`UPDATE deliveries SET state = ?, parts = ?, attempts = ?, not_before = ?, live_until = ?, due = ?, error = ?, done = ?, node = ?
		WHERE id = ? AND state IN ('live', 'owed', 'sending')`,
		d.State, parts, d.Attempts, ms(d.NotBefore), ms(d.LiveUntil), due(d), d.Error, doneAt(d, t.now), t.w.s.node, d.ID)
	if err != nil || n == 1 {
		return err
	}
	stored, found, err := one(t, scanDelivery, selectDeliveries+` WHERE d.id = ?`, d.ID)
	switch {
	case err != nil:
		return err
	case !found:
		return core.Errorf("save delivery", core.NotFound, "no delivery %s", d.ID)
	}
	return core.Errorf("save delivery", core.Conflict, "delivery %s is %s", d.ID, stored.State)
}

// first are rows that nothing of their target comes before: an older row that waits for the worker, or will when this one
// does. A live row that its consumer still owns stands in nobody's way.
const first = ` NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.target = d.target AND e.due IS NOT NULL
	AND e.n < d.n AND (e.state <> 'live' OR e.due <= `

// Due implements core.Deliveries. What has waited longest past its time comes first. A live row that is taken becomes owed: its consumer's time is over. A row that is
// sending stays so, because the fate of its last attempt is unknown.
func (o outbox) Due(ctx context.Context, now time.Time, lease time.Duration, limit int) (out []core.Delivery, err error) {
	const op = "take due deliveries"
	var n int
	found, err := o.s.read(ctx, op).row(`SELECT 1 FROM deliveries WHERE due <= ? LIMIT 1`, ms(now)).scan(&n)
	if err != nil || !found {
		return nil, err
	}
	until := at(ms(now.Add(lease)))
	err = o.s.write(ctx, op, unsynced, func(t *tx) error {
		if out, err = all(t, scanDelivery, selectDeliveries+` WHERE d.due <= ? AND`+first+`?)) ORDER BY d.due, d.n LIMIT ?{skip}`, ms(now), ms(now), limit); err != nil {
			return err
		}
		for i := range out {
			d := &out[i]
			if d.State == core.DeliveryLive {
				d.State = core.DeliveryOwed
			}
			d.LiveUntil = until
			if _, err := t.exec(`UPDATE deliveries SET state = ?, live_until = ?, due = ?, node = ? WHERE id = ?`, d.State, ms(until), due(*d), t.w.s.node, d.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Seize implements core.Deliveries. A row that is sending stays so, because the fate of its last attempt is unknown.
func (o outbox) Seize(ctx context.Context, nodes ...string) error {
	const seize = `UPDATE deliveries SET state = CASE state WHEN 'live' THEN 'owed' ELSE state END, live_until = 0, due = not_before
		WHERE due IS NOT NULL AND live_until > 0`
	return o.s.write(ctx, "seize deliveries", unsynced, func(t *tx) error {
		if len(nodes) == 0 {
			_, err := t.exec(seize)
			return err
		}
		for _, n := range nodes {
			if _, err := t.exec(seize+` AND node = ?`, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// Next implements core.Deliveries.
func (o outbox) Next(ctx context.Context) (time.Time, error) {
	var v *int64
	_, err := o.s.read(ctx, "next delivery").row(`SELECT MIN(d.due) FROM deliveries d WHERE d.due IS NOT NULL AND` + first + `d.due))`).scan(&v)
	if err != nil || v == nil {
		return time.Time{}, err
	}
	return time.UnixMilli(*v), nil
}

// Of implements core.Deliveries.
func (o outbox) Of(ctx context.Context, id core.AdmissionID) ([]core.Delivery, error) {
	return all(o.s.read(ctx, "list deliveries"), scanDelivery, selectDeliveries+` WHERE d.admission = ? AND d.admission <> '' ORDER BY d.n`, id)
}

// For implements core.Deliveries.
func (o outbox) For(ctx context.Context, q core.QuestionID) ([]core.Delivery, error) {
	return all(o.s.read(ctx, "list deliveries"), scanDelivery, selectDeliveries+` WHERE d.question = ? AND d.question <> '' ORDER BY d.n`, q)
}

// Owed implements core.Deliveries.
func (o outbox) Owed(ctx context.Context) (map[core.DeliveryState]int64, error) {
	out := map[core.DeliveryState]int64{}
	_, err := all(o.s.read(ctx, "count deliveries"), func(r scanner) (struct{}, error) {
		var st core.DeliveryState
		var n int64
		err := r.Scan(&st, &n)
		out[st] = n
		return struct{}{}, err
	}, `SELECT state, COUNT(*) FROM deliveries GROUP BY state`)
	return out, err
}

// forgotten is the fact that says since when the outbox is complete.
const forgotten = "store.outbox since"

// Undelivered implements core.Deliveries.
func (o outbox) Undelivered(ctx context.Context) ([]core.AdmissionID, error) {
	r := o.s.read(ctx, "list undelivered")
	since, err := fact(r, forgotten)
	if err != nil {
		return nil, err
	}
	from, _ := strconv.ParseInt(since, 10, 64) // "" is from the beginning
	bare, err := all(r, scanAdmission, selectAdmissions+`
		WHERE a.status = 'terminal' AND a.routed = 1 AND a.turn <> '' AND a.settled >= ?
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.admission = a.id AND d.admission <> ''
				AND d.kind IN ('final', 'preview', 'notice', 'reply') AND d.state <> 'moved')
		ORDER BY a.n`, from)
	var out []core.AdmissionID
	for _, a := range bare {
		if answers(a) {
			out = append(out, a.ID)
		}
	}
	return out, err
}

// answers reports whether a turn that ran in a chat owes it an answer. It owes none when it ended without words, when a
// tool had spoken, when another row goes on or a person settled it, and when it failed for a bot, which would only reply.
func answers(a core.Admission) bool {
	switch a.Outcome.Reason {
	case core.ReasonSilent, core.ReasonRetried, core.ReasonSteered, core.ReasonMerged, core.ReasonDone, core.ReasonDropped, core.ReasonMoved:
		return false
	}
	bot := a.Outcome.Result == core.Failed && a.Submission.Display["author"] == "bot"
	return a.Outcome.Text != "" && !bot
}

// Forget implements core.Deliveries.
func (o outbox) Forget(ctx context.Context, before time.Time) (int, error) {
	const op = "forget deliveries"
	err := o.s.write(ctx, op, unsynced, func(t *tx) error {
		return t.setFact(forgotten, strconv.FormatInt(ms(before), 10))
	})
	if err != nil {
		return 0, err
	}
	return o.s.prune(ctx, op, `DELETE FROM deliveries WHERE n IN (SELECT n FROM deliveries
		WHERE done > 0 AND done < ? AND state NOT IN ('owed', 'sending', 'live') LIMIT ?)`, ms(before))
}
