package store

import (
	"context"
	"strings"

	"bellhop/core"
)

// Rekey implements core.Sessions. Keys below from (its threads, its members) move too. Where both keys are bound the
// older place wins: that is where the history is.
func (s *Store) Rekey(ctx context.Context, from, to core.Key, chat string) error {
	const op = "rekey"
	if from == "" || to == "" || from == to {
		return core.Errorf(op, core.Invalid, "cannot move %q to %q", from, to)
	}
	return s.write(ctx, op, synced, func(t *tx) error {
		m := mover{t: t, from: string(from), to: string(to), chat: chat}
		bound, err := m.bindings()
		if err != nil {
			return err
		}
		for key, c := range bound {
			if err := m.binding(key, c); err != nil {
				return err
			}
		}
		return nil
	})
}

type mover struct {
	t        *tx
	from, to string
	chat     string
}

// moved returns where a key goes; ok is false when it is not below from.
func (m mover) moved(key string) (string, bool) {
	if key == m.from {
		return m.to, true
	}
	rest, ok := strings.CutPrefix(key, m.from+":")
	return m.to + ":" + rest, ok
}

func (m mover) bindings() (map[string]core.ConversationID, error) {
	bound := map[string]core.ConversationID{}
	_, err := all(m.t, func(r scanner) (struct{}, error) {
		var key string
		var c core.ConversationID
		err := r.Scan(&key, &c)
		bound[key] = c
		return struct{}{}, err
	}, `SELECT key, conversation FROM keys WHERE key = ? OR (key >= ? AND key < ?)`, m.from, m.from+":", m.from+";")
	return bound, err
}

// binding moves one key, the conversation's own place, and everything of it that still has to happen.
func (m mover) binding(key string, c core.ConversationID) error {
	to, _ := m.moved(key)
	if err := m.t.bind(core.Key(to), c); err != nil {
		return err
	}
	if _, err := m.t.exec(`DELETE FROM keys WHERE key = ?`, key); err != nil {
		return err
	}
	v, err := conversation(m.t, "rekey", c)
	if err != nil {
		return err
	}
	if moved, ok := m.moved(string(v.Key)); ok {
		v.Key = core.Key(moved)
	}
	route, err := routeText(m.route(v.Route))
	if err != nil {
		return err
	}
	if _, err := m.t.exec(`UPDATE conversations SET key = ?, route = ? WHERE id = ?`, v.Key, route, c); err != nil {
		return err
	}
	if err := m.admissions(c); err != nil {
		return err
	}
	return m.deliveries(c)
}

func (m mover) route(r core.Route) core.Route {
	if !r.IsZero() {
		r.Chat = m.chat
	}
	return r
}

func (m mover) admissions(c core.ConversationID) error {
	open, err := all(m.t, scanAdmission, selectAdmissions+` WHERE a.conversation = ? AND a.open = 1`, c)
	if err != nil {
		return err
	}
	for _, a := range open {
		to, ok := m.moved(string(a.Submission.Key))
		if !ok {
			continue
		}
		a.Submission.Key, a.Submission.Route = core.Key(to), m.route(a.Submission.Route)
		if err := m.t.resubmit(a); err != nil {
			return err
		}
	}
	return nil
}

func (m mover) deliveries(c core.ConversationID) error {
	open, err := all(m.t, scanDelivery, selectDeliveries+` WHERE d.conversation = ? AND d.done = 0`, c)
	if err != nil {
		return err
	}
	for _, d := range open {
		d.Route = m.route(d.Route)
		route, err := routeText(d.Route)
		if err != nil {
			return err
		}
		place := target(d.Route)
		if d.Aside {
			place = apart(d)
		}
		_, err = m.t.exec(`UPDATE deliveries SET route = ?, target = ? WHERE id = ?`, route, place, d.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// routeText is a route as it is stored.
func routeText(r core.Route) (string, error) { return text(r) }
