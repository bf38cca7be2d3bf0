package store

import (
	"cmp"
	"context"
	"time"

	"bellhop/core"
)

const conversationColumns = `c.id, c.key, c.owner, c.title, c.surface, c.grouped, c.model, c.busy, c.route, c.approved,
	c.created, c.updated, c.turns, c.history,
	c.calls, c.input, c.output, c.cache_read, c.cache_write, c.reasoning, c.cost, c.estimated`

func scanConversation(r scanner) (c core.Conversation, err error) {
	var route, approved string
	var created, updated int64
	u := &c.Usage
	err = r.Scan(&c.ID, &c.Key, &c.Owner, &c.Title, &c.Surface, &c.Group, &c.Model, &c.Busy, &route, &approved,
		&created, &updated, &c.Turns, &c.History,
		&u.Calls, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &u.Cost, &u.Estimated)
	if err != nil {
		return c, err
	}
	c.Created, c.Updated = at(created), at(updated)
	if err := structure(route, &c.Route); err != nil {
		return c, err
	}
	return c, structure(approved, &c.Approved)
}

func conversation(q querier, op string, c core.ConversationID) (core.Conversation, error) {
	v, found, err := one(q, scanConversation, `SELECT `+conversationColumns+` FROM conversations c WHERE c.id = ?`, c)
	if err == nil && !found {
		err = core.Errorf(op, core.NotFound, "no conversation %s", c)
	}
	return v, err
}

// Lookup implements core.Sessions.
func (s *Store) Lookup(ctx context.Context, k core.Key) (core.Conversation, error) {
	const op = "look up key"
	v, found, err := one(s.read(ctx, op), scanConversation,
		`SELECT `+conversationColumns+` FROM keys k JOIN conversations c ON c.id = k.conversation WHERE k.key = ?`, k)
	if err == nil && !found {
		err = core.Errorf(op, core.NotFound, "nobody spoke at %s yet", k)
	}
	return v, err
}

// Bind implements core.Sessions. A conversation that it makes takes over from the one that the key pointed to where people
// talk: whether that is a group, and where answers go.
func (s *Store) Bind(ctx context.Context, k core.Key, c core.ConversationID, owner core.PrincipalID, surface string) (v core.Conversation, err error) {
	const op = "bind key"
	if k == "" {
		return v, core.Errorf(op, core.Invalid, "no key")
	}
	err = s.write(ctx, op, synced, func(t *tx) error {
		n := newcomer{id: c, key: k, owner: owner, surface: surface, now: t.now}
		if err := t.inherit(&n); err != nil {
			return err
		}
		id, err := t.create(n)
		if err != nil {
			return err
		}
		if err := t.bind(k, id); err != nil {
			return err
		}
		v, err = conversation(t, op, id)
		return err
	}, string(k), string(c))
	return v, err
}

func (t *tx) bind(k core.Key, c core.ConversationID) error {
	_, err := t.exec(`INSERT INTO keys (key, conversation) VALUES (?, ?)
		ON CONFLICT (key) DO UPDATE SET conversation = excluded.conversation`, k, c)
	return err
}

// newcomer is a conversation that may have to be made.
type newcomer struct {
	id             core.ConversationID // empty: a fresh one
	key            core.Key
	owner          core.PrincipalID
	surface, title string
	group          bool
	route          string
	now            time.Time
}

// inherit fills in what is known of the place from the conversation that n's key points to, if there is one.
func (t *tx) inherit(n *newcomer) error {
	var surface string
	found, err := t.row(`SELECT c.grouped, c.route, c.surface FROM keys k JOIN conversations c ON c.id = k.conversation WHERE k.key = ?`,
		n.key).scan(&n.group, &n.route, &surface)
	if found {
		n.surface = cmp.Or(n.surface, surface)
	}
	return err
}

// create makes a conversation unless its id exists, and returns its id.
func (t *tx) create(n newcomer) (core.ConversationID, error) {
	for {
		id := n.id
		if id == "" {
			id = newConversation(n.now)
		}
		made, err := t.exec(`INSERT INTO conversations (id, session, key, owner, title, surface, grouped, route, created, updated)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			id, id, n.key, n.owner, n.title, n.surface, bit(n.group), n.route, ms(n.now), ms(n.now))
		if err != nil || made == 1 || n.id != "" {
			return id, err
		}
	}
}

// Conversation implements core.Sessions.
func (s *Store) Conversation(ctx context.Context, id string, owner core.PrincipalID) (core.Conversation, error) {
	const op = "find conversation"
	r := s.read(ctx, op)
	const q, mine = `SELECT ` + conversationColumns + ` FROM conversations c WHERE `, ` AND (c.owner = ? OR ? = '')`
	v, found, err := one(r, scanConversation, q+`(c.id = ? OR c.id = (SELECT conversation FROM sessions WHERE id = ?))`+mine, id, id, owner, owner)
	if err == nil && !found && id != "" {
		v, found, err = one(r, scanConversation, q+`c.title = ?`+mine+` ORDER BY c.updated DESC LIMIT 1`, id, owner, owner)
	}
	if err == nil && !found {
		err = core.Errorf(op, core.NotFound, "no conversation %q", id)
	}
	return v, err
}

// List implements core.Sessions.
func (s *Store) List(ctx context.Context, owner core.PrincipalID, limit int) ([]core.Conversation, error) {
	r := s.read(ctx, "list conversations")
	const q = `SELECT ` + conversationColumns + ` FROM conversations c`
	const order = ` ORDER BY c.updated DESC, c.id DESC LIMIT ?`
	if owner == "" {
		return all(r, scanConversation, q+order, limit)
	}
	return all(r, scanConversation, q+` WHERE c.owner = ?`+order, owner, limit)
}

// Edit implements core.Sessions.
func (s *Store) Edit(ctx context.Context, c core.ConversationID, fn func(*core.Conversation)) (v core.Conversation, err error) {
	const op = "edit conversation"
	err = s.write(ctx, op, synced, func(t *tx) error {
		if v, err = conversation(t, op, c); err != nil {
			return err
		}
		edited := v
		edited.Approved = append([]string(nil), v.Approved...)
		fn(&edited)
		v.Title, v.Model, v.Busy, v.Approved = edited.Title, edited.Model, edited.Busy, edited.Approved
		approved, err := text(v.Approved)
		if err != nil {
			return err
		}
		_, err = t.exec(`UPDATE conversations SET title = ?, model = ?, busy = ?, approved = ? WHERE id = ?`,
			v.Title, v.Model, v.Busy, approved, c)
		return err
	}, string(c))
	return v, err
}

const sessionColumns = `s.id, s.conversation, s.parent, s.reason, s.system_prompt, s.model, s.created`

func scanSession(r scanner) (v core.Session, err error) {
	var created int64
	err = r.Scan(&v.ID, &v.Conversation, &v.ParentID, &v.Reason, &v.SystemPrompt, &v.Model, &created)
	v.Created = at(created)
	return v, err
}

// OpenSession implements core.Sessions.
func (s *Store) OpenSession(ctx context.Context, f core.Fence, v core.Session) (core.Session, error) {
	const op = "open session"
	v.Conversation = f.Conversation
	if v.ID == "" {
		v.ID = core.SessionID(f.Conversation)
	}
	if v.Created.IsZero() {
		v.Created = s.now()
	}
	v.Created = at(ms(v.Created))
	err := s.write(ctx, op, unsynced, func(t *tx) error {
		if err := t.fenced(op, f, t.now); err != nil {
			return err
		}
		made, err := t.exec(`INSERT INTO sessions (id, conversation, parent, reason, system_prompt, model, created)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			v.ID, v.Conversation, v.ParentID, v.Reason, v.SystemPrompt, v.Model, ms(v.Created))
		if err != nil {
			return err
		}
		if made == 1 {
			return t.newest(v)
		}
		stored, _, err := one(t, scanSession, `SELECT `+sessionColumns+` FROM sessions s WHERE s.id = ?`, v.ID)
		if err == nil && stored.Conversation != f.Conversation {
			return core.Errorf(op, core.Conflict, "session %s belongs to another conversation", v.ID)
		}
		v = stored
		return err
	}, string(f.Conversation))
	if err != nil {
		return core.Session{}, err
	}
	return v, nil
}

// newest makes a rotated segment the one that turns continue.
func (t *tx) newest(v core.Session) error {
	if v.Reason != core.RotationCompact {
		return nil
	}
	t.grew(growth{c: v.Conversation, other: true})
	_, err := t.exec(`UPDATE conversations SET session = ?, history = history + 1 WHERE id = ?`, v.ID, v.Conversation)
	return err
}

// Session implements core.Sessions.
func (s *Store) Session(ctx context.Context, c core.ConversationID) (core.Session, error) {
	const op = "find session"
	v, found, err := one(s.read(ctx, op), scanSession,
		`SELECT `+sessionColumns+` FROM conversations c JOIN sessions s ON s.id = c.session WHERE c.id = ?`, c)
	if err == nil && !found {
		err = core.Errorf(op, core.NotFound, "no turn has run in %s yet", c)
	}
	return v, err
}
