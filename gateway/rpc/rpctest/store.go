package rpctest

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"slices"
	"sync"
	"time"

	"bellhop/core"

	"github.com/oklog/ulid/v2"
)

// Store is the part of core.Store that the door and the desks need, in memory.
type Store struct {
	mu        sync.Mutex
	convs     []*core.Conversation
	keys      map[core.Key]core.ConversationID
	rows      []*core.Admission
	digests   map[core.AdmissionID][32]byte
	said      map[core.ConversationID][]core.Message
	questions []*core.Question
	facts     map[string]string
	seq       int64
	down      error
}

// NewStore makes an empty Store.
func NewStore() *Store {
	return &Store{keys: map[core.Key]core.ConversationID{}, digests: map[core.AdmissionID][32]byte{},
		said: map[core.ConversationID][]core.Message{}, facts: map[string]string{}}
}

// Fail makes every admission fail with err, nil: none.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

func none(what string) error { return core.Errorf("find", core.NotFound, "no such %s", what) }

func (s *Store) Lookup(_ context.Context, k core.Key) (core.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.keys[k]
	if !ok {
		return core.Conversation{}, none("key")
	}
	return *s.conv(id), nil
}

func (s *Store) conv(id core.ConversationID) *core.Conversation {
	for _, c := range s.convs {
		if c.ID == id {
			return c
		}
	}
	return nil
}

func (s *Store) Bind(_ context.Context, k core.Key, id core.ConversationID, owner core.PrincipalID, surface string) (core.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		id = core.ConversationID(fmt.Sprintf("20261130_120000_%06x", len(s.convs)+1))
		now := time.Now()
		s.convs = append(s.convs, &core.Conversation{ID: id, Key: k, Owner: owner, Surface: surface, Created: now, Updated: now})
	}
	s.keys[k] = id
	return *s.conv(id), nil
}

// Unbind lets a key point nowhere.
func (s *Store) Unbind(k core.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, k)
}

func (s *Store) Conversation(_ context.Context, id string, owner core.PrincipalID) (core.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.conv(core.ConversationID(id)); c != nil {
		return *c, nil
	}
	for _, c := range slices.Backward(s.convs) {
		if c.Title == id && c.Owner == owner {
			return *c, nil
		}
	}
	return core.Conversation{}, none("conversation")
}

func (s *Store) List(_ context.Context, owner core.PrincipalID, limit int) ([]core.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Conversation
	for _, c := range s.convs {
		if owner == "" || c.Owner == owner {
			out = append(out, *c)
		}
	}
	slices.SortStableFunc(out, func(a, b core.Conversation) int { return b.Updated.Compare(a.Updated) })
	return out[:min(limit, len(out))], nil
}

func (s *Store) Edit(_ context.Context, id core.ConversationID, fn func(*core.Conversation)) (core.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conv(id)
	fn(c)
	return *c, nil
}

func (s *Store) Admit(_ context.Context, in core.Intake) ([]core.Admitted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return nil, s.down
	}
	out := make([]core.Admitted, len(in.Entries))
	for i, e := range in.Entries {
		out[i] = s.admit(e)
	}
	return out, nil
}

func (s *Store) admit(e core.Entry) core.Admitted {
	id := s.keys[e.Submission.Key]
	open := 0
	for _, r := range s.rows {
		if r.By == e.By.ID && r.Submission.Source == e.Submission.Source && r.Submission.RequestID == e.Submission.RequestID {
			if e.Strict && s.digests[r.ID] != e.Digest {
				return core.Admitted{Err: core.Errorf("admit", core.Conflict, "another payload")}
			}
			return core.Admitted{Admission: *r}
		}
		if r.Conversation == id && r.Status != core.Terminal {
			open++
		}
	}
	switch {
	case e.WhenIdle && open > 0:
		return core.Admitted{Err: core.Errorf("admit", core.Busy, "not idle")}
	case e.Cap > 0 && e.Terminal == nil && open > e.Cap:
		return core.Admitted{Err: core.Errorf("admit", core.Full, "cap")}
	}
	s.seq++
	row := &core.Admission{ID: core.AdmissionID(ulid.Make().String()), Conversation: id, Seq: s.seq, Status: core.Queued,
		By: e.By.ID, Caps: e.By.Caps, Admin: e.By.Admin, Submission: e.Submission, Created: time.Now()}
	if e.Terminal != nil {
		row.Status, row.Outcome = core.Terminal, *e.Terminal
	}
	s.rows = append(s.rows, row)
	s.digests[row.ID] = e.Digest
	c := s.conv(id)
	c.Updated = time.Now()
	if c.Title == "" {
		c.Title = e.Submission.Title
	}
	return core.Admitted{Admission: *row, Fresh: true, Ahead: open}
}

func (s *Store) row(id core.AdmissionID) *core.Admission {
	for _, r := range s.rows {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (s *Store) head(c core.ConversationID) *core.Admission {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.queued(c) {
		return r
	}
	return nil
}

func (s *Store) queued(c core.ConversationID) []*core.Admission {
	var out []*core.Admission
	for _, r := range s.rows {
		if r.Conversation == c && r.Status == core.Queued {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *core.Admission) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

func (s *Store) claim(c core.ConversationID) *core.Admission {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queued(c)
	if len(q) == 0 {
		return nil
	}
	q[0].Status, q[0].Turn = core.Started, core.TurnID(ulid.Make().String())
	row := *q[0]
	return &row
}

func (s *Store) settle(id core.AdmissionID, o core.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.row(id)
	r.Status, r.Outcome, r.Settled = core.Terminal, o, time.Now()
	c := s.conv(r.Conversation)
	c.Turns, c.Updated, c.Usage = c.Turns+1, time.Now(), c.Usage.Add(o.Usage)
}

func (s *Store) say(m core.Message, c core.ConversationID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	m.ID, m.At = s.seq, time.Now()
	s.said[c] = append(s.said[c], m)
}

func (s *Store) Cancel(_ context.Context, c core.ConversationID, o core.Outcome, ids ...core.AdmissionID) ([]core.Admission, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Admission
	for _, r := range s.queued(c) {
		if len(ids) == 0 || slices.Contains(ids, r.ID) {
			r.Status, r.Outcome = core.Terminal, o
			out = append(out, *r)
		}
	}
	return out, nil
}

func (s *Store) Amend(_ context.Context, id core.AdmissionID, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.row(id)
	if r.Status != core.Queued {
		return core.Errorf("amend", core.Conflict, "not queued")
	}
	r.Submission.Text = text
	return nil
}

func (s *Store) Move(_ context.Context, id core.AdmissionID, place int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queued(s.row(id).Conversation)
	at := slices.IndexFunc(q, func(r *core.Admission) bool { return r.ID == id })
	if at < 0 {
		return core.Errorf("move", core.Conflict, "not queued")
	}
	var seqs []int64
	for _, r := range q {
		seqs = append(seqs, r.Seq)
	}
	moved := q[at]
	q = slices.Insert(slices.Delete(q, at, at+1), min(place, len(q)-1), moved)
	for i, r := range q {
		r.Seq = seqs[i]
	}
	return nil
}

func (s *Store) Unhold(context.Context, core.AdmissionID) error { return nil }

func (s *Store) Admission(_ context.Context, id core.AdmissionID) (core.Admission, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.row(id); r != nil {
		return *r, nil
	}
	return core.Admission{}, none("admission")
}

func (s *Store) Unsettled(_ context.Context, c core.ConversationID) ([]core.Admission, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Admission
	for _, r := range s.rows {
		if r.Status != core.Terminal && (c == "" || r.Conversation == c) {
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b core.Admission) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}

// Recent implements command.Store.
func (s *Store) Recent(_ context.Context, c core.ConversationID, limit int) ([]core.Admission, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Admission
	for _, r := range s.rows {
		if r.Conversation == c {
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b core.Admission) int { return cmp.Compare(b.Seq, a.Seq) })
	return out[:min(limit, len(out))], nil
}

// Rows counts the rows of c, settled ones too.
func (s *Store) Rows(c core.ConversationID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.rows {
		if r.Conversation == c {
			n++
		}
	}
	return n
}

func (s *Store) Page(_ context.Context, c core.ConversationID, before int64, limit int) ([]core.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []core.Message
	for _, m := range slices.Backward(s.said[c]) {
		if (before == 0 || m.ID < before) && len(out) < limit {
			out = append(out, m)
		}
	}
	return out, nil
}

func (s *Store) Fact(_ context.Context, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.facts[name], nil
}

func (s *Store) SetFact(_ context.Context, name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts[name] = value
	return nil
}

func escape(s string) string { return html.EscapeString(s) }
