package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"bellhop/core"
)

const selectMessages = `SELECT m.id, m.session, m.admission, m.turn, m.role, m.content, m.api_content, m.reasoning, m.calls,
	m.call_id, m.attachment, m.synthetic, m.superseded, m.interim, m.at FROM messages m`

// messageRow is where messages are scanned into, one after the other: transcripts are long.
type messageRow struct {
	m                 core.Message
	calls, attachment string
	when              int64
	dest              []any
}

func newMessageRow() *messageRow {
	r := new(messageRow)
	m := &r.m
	r.dest = []any{&m.ID, &m.Session, &m.Admission, &m.Turn, &m.Role, &m.Content, &m.APIContent, &m.Reasoning, &r.calls,
		&m.CallID, &r.attachment, &m.Synthetic, &m.Superseded, &m.Interim, &r.when}
	return r
}

func (r *messageRow) scan(from scanner) (core.Message, error) {
	if err := from.Scan(r.dest...); err != nil {
		return core.Message{}, err
	}
	m := r.m
	m.At = at(r.when)
	if err := structure(r.calls, &m.Calls); err != nil {
		return m, err
	}
	return m, structure(r.attachment, &m.Attachment)
}

// Load implements core.Transcripts.
func (s *Store) Load(ctx context.Context, c core.ConversationID) ([]core.Message, error) {
	return all(s.read(ctx, "load transcript"), newMessageRow().scan, selectMessages+`
		WHERE m.conversation = ? AND m.session = (SELECT session FROM conversations WHERE id = ?) AND m.superseded = 0 ORDER BY m.id`, c, c)
}

// Recall implements core.Transcripts.
func (s *Store) Recall(ctx context.Context, c core.ConversationID, version int64) ([]core.Message, error) {
	if known, ok := s.memory.recall(c, version); ok {
		return known, nil
	}
	read, err := s.Load(ctx, c)
	if err == nil {
		s.memory.remember(c, version, slices.Clone(read))
	}
	return read, err
}

// Page implements core.Transcripts.
func (s *Store) Page(ctx context.Context, c core.ConversationID, before int64, limit int) ([]core.Message, error) {
	if before <= 0 {
		before = 1<<63 - 1
	}
	return all(s.read(ctx, "page transcript"), newMessageRow().scan,
		selectMessages+` WHERE m.id IN (SELECT id FROM messages WHERE conversation = ? AND id < ? ORDER BY id DESC LIMIT ?) ORDER BY m.id DESC`,
		c, before, limit)
}

// A retried turn and its retries are one piece of work: what was said and called for one of them is evidence for all
// that follow.
const chain = `WITH RECURSIVE chain (id, conversation, retry_of) AS (
		SELECT id, conversation, retry_of FROM admissions WHERE id = ?
		UNION ALL SELECT a.id, a.conversation, a.retry_of FROM admissions a JOIN chain ON a.id = chain.retry_of) `

// Said implements core.Transcripts. What was said for the admissions that this one retries is included.
func (s *Store) Said(ctx context.Context, id core.AdmissionID) ([]core.Message, error) {
	return all(s.read(ctx, "read what was said"), newMessageRow().scan, chain+selectMessages+`
		WHERE m.conversation = (SELECT conversation FROM admissions WHERE id = ?) AND m.admission IN (SELECT id FROM chain)
		ORDER BY m.id`, id, id)
}

// Calls implements core.Transcripts. The calls of the admissions that this one retries are included, before its own.
func (s *Store) Calls(ctx context.Context, id core.AdmissionID) ([]core.Call, error) {
	return all(s.read(ctx, "read calls"), scanCall, chain+`SELECT k.id, k.admission, k.turn, k.place, k.name, k.args, k.effect, k.state, k.changed
		FROM calls k JOIN admissions a ON a.id = k.admission
		WHERE k.conversation = (SELECT conversation FROM admissions WHERE id = ?) AND k.admission IN (SELECT id FROM chain)
		ORDER BY a.n, k.recorded, k.place, k.id`, id, id)
}

func scanCall(r scanner) (c core.Call, err error) {
	var args string
	var changed int64
	err = r.Scan(&c.ID, &c.Admission, &c.Turn, &c.Place, &c.Name, &args, &c.Effect, &c.State, &changed)
	if args != "" {
		c.Args = json.RawMessage(args)
	}
	c.Changed = at(changed)
	return c, err
}

// Append implements core.Transcripts.
func (s *Store) Append(ctx context.Context, f core.Fence, b core.Batch) (out []core.Message, err error) {
	const op = "append"
	err = s.write(ctx, op, durability(b.Sync), func(t *tx) error {
		now := t.now
		out = slices.Clone(b.Messages)
		w := writing{t: t, conversation: f.Conversation, turn: f.Turn, now: now}
		if err = w.change(op, f, len(out)); err != nil {
			return err
		}
		if err := w.messages(out); err != nil {
			return err
		}
		if err := w.calls(b.Calls); err != nil {
			return err
		}
		if err := w.events(b.Events); err != nil {
			return err
		}
		return w.consume(b.Consume)
	}, string(f.Conversation))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// change checks the fence, raises the version of the transcript when n messages come, and finds the newest session.
func (w *writing) change(op string, f core.Fence, n int) error {
	found, err := w.t.put(`UPDATE conversations SET history = history + ? WHERE id = ? AND EXISTS (SELECT 1 FROM leases l
			WHERE l.conversation = conversations.id AND l.token = ? AND l.token <> '' AND l.generation = ? AND l.expires > ?)
		RETURNING session, history`, min(n, 1), f.Conversation, f.Token, f.Generation, ms(w.now)).scan(&w.session, &w.version)
	if err == nil && !found {
		err = stale(op, f)
	}
	return err
}

// writing is a transaction that writes to one conversation's transcript; its fields are defaults of the rows.
type writing struct {
	t            *tx
	conversation core.ConversationID
	session      core.SessionID
	version      int64 // of the transcript with the messages in it
	turn         core.TurnID
	admission    core.AdmissionID
	now          time.Time
	fresh        bool // the admission was never heard before: it has just been claimed for the first time
}

// messages inserts ms and fills in their ids. A user message whose admission has one already becomes the stored one.
func (w *writing) messages(list []core.Message) error {
	g := growth{c: w.conversation, version: w.version}
	for i := range list {
		m := &list[i]
		if m.Session == "" {
			m.Session = w.session
		}
		if m.Turn == "" {
			m.Turn = w.turn
		}
		if m.Admission == "" {
			m.Admission = w.admission
		}
		if m.At.IsZero() {
			m.At = w.now
		}
		m.At = at(ms(m.At))
		if adopted, err := w.adopt(m); adopted || err != nil {
			if err != nil {
				return err
			}
			g.other = true
			continue
		}
		if err := w.message(m); err != nil {
			return err
		}
		g.messages = append(g.messages, *m)
		g.other = g.other || len(m.Calls) > 0 || len(m.Attachment) > 0
	}
	if len(list) > 0 {
		w.t.grew(g)
	}
	return nil
}

// adopt replaces a user message by the one that its admission, or one that it retries, has in the transcript.
func (w *writing) adopt(m *core.Message) (bool, error) {
	if m.Role != core.RoleUser || m.Admission == "" || w.fresh && m.Admission == w.admission {
		return false, nil
	}
	for id := m.Admission; id != ""; {
		stored, found, err := one(w.t, newMessageRow().scan, selectMessages+` WHERE m.role = 'user' AND m.admission <> '' AND m.admission = ?`, id)
		if err != nil {
			return false, err
		}
		if found {
			*m = stored
			return true, nil
		}
		var before core.AdmissionID
		if _, err := w.t.row(`SELECT retry_of FROM admissions WHERE id = ?`, id).scan(&before); err != nil {
			return false, err
		}
		id = before
	}
	return false, nil
}

func (w *writing) message(m *core.Message) error {
	calls, err := text(m.Calls)
	if err != nil {
		return err
	}
	attachment, err := text(m.Attachment)
	if err != nil {
		return err
	}
	_, err = w.t.put(`INSERT INTO messages (conversation, session, admission, turn, role, content, api_content, reasoning, calls,
			call_id, attachment, synthetic, superseded, interim, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		w.conversation, m.Session, m.Admission, m.Turn, m.Role, m.Content, m.APIContent, m.Reasoning, calls,
		m.CallID, attachment, bit(m.Synthetic), bit(m.Superseded), bit(m.Interim), ms(m.At)).scan(&m.ID)
	return err
}

// calls inserts ledger rows or moves them to their new state; a call that is done stays done.
func (w *writing) calls(list []core.Call) error {
	for _, c := range list {
		if c.Admission == "" {
			c.Admission = w.admission
		}
		if c.Turn == "" {
			c.Turn = w.turn
		}
		n, err := w.t.exec(`INSERT INTO calls (conversation, id, admission, turn, place, name, args, effect, state, recorded, changed)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation, id) DO UPDATE
			SET state = excluded.state, changed = excluded.changed WHERE calls.state <> 'done' OR excluded.state = 'done'`,
			w.conversation, c.ID, c.Admission, c.Turn, c.Place, c.Name, string(c.Args), c.Effect, c.State, ms(w.now), ms(w.now))
		if err != nil {
			return err
		}
		if n == 0 {
			return core.Errorf("record call", core.Conflict, "call %q is done already", c.ID)
		}
	}
	return nil
}

// consume ends queued rows whose text went into the running turn.
func (w *writing) consume(ids []core.AdmissionID) error {
	for _, id := range ids {
		a, err := w.t.waiting("consume", id)
		if err != nil {
			return err
		}
		if a.Conversation != w.conversation {
			return core.Errorf("consume", core.Conflict, "%s waits in another conversation", id)
		}
		if err := w.t.end(&a, core.Outcome{Result: core.Completed, Reason: core.ReasonSteered}, w.now); err != nil {
			return err
		}
	}
	return nil
}
