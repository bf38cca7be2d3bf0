package store

import (
	"container/list"
	"slices"
	"sync"

	"bellhop/core"
)

const (
	memoryMost    = 8 << 20 // bytes of transcripts that are remembered
	memoryOne     = 1 << 20 // of one transcript
	memoryMessage = 400     // a message without its texts
)

// memory holds the transcripts of the conversations that were active last, so that a turn need not read what the turn
// before it has written. Each is of one version of its conversation's history; a change that does not follow on that
// version, because another process made one, makes it useless, and it is forgotten. Safe for concurrent use.
type memory struct {
	mu    sync.Mutex
	bytes int
	order *list.List // of *transcript; front: used last
	of    map[core.ConversationID]*list.Element
}

// transcript is what Load returns at a version.
type transcript struct {
	c        core.ConversationID
	session  core.SessionID
	version  int64
	messages []core.Message
	bytes    int
}

// growth is a change of a transcript that was committed. Other than by new messages it is not described.
type growth struct {
	c        core.ConversationID
	version  int64 // after it
	messages []core.Message
	other    bool
}

func newMemory() *memory {
	return &memory{order: list.New(), of: map[core.ConversationID]*list.Element{}}
}

// recall returns the messages of c at a version. They are the caller's.
func (m *memory) recall(c core.ConversationID, version int64) ([]core.Message, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.of[c]
	if e == nil || e.Value.(*transcript).version != version {
		return nil, false
	}
	m.order.MoveToFront(e)
	return slices.Clone(e.Value.(*transcript).messages), true
}

// remember keeps what was read.
func (m *memory) remember(c core.ConversationID, version int64, read []core.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(c)
	m.begin(c, version, read)
}

// begin keeps a transcript that is not there yet.
func (m *memory) begin(c core.ConversationID, version int64, list []core.Message) {
	if len(list) == 0 || list[0].Superseded {
		return
	}
	t := &transcript{c: c, session: list[0].Session, version: version}
	m.of[c] = m.order.PushFront(t)
	m.extend(t, list)
}

// grow follows a change that was committed.
func (m *memory) grow(g growth) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.of[g.c]
	if e == nil {
		if g.version == 1 && !g.other { // nothing was before it
			m.begin(g.c, 1, g.messages)
		}
		return
	}
	t := e.Value.(*transcript)
	if g.other || g.version != t.version+1 || !t.follows(g.messages) {
		m.forget(g.c)
		return
	}
	t.version = g.version
	m.order.MoveToFront(e)
	m.extend(t, g.messages)
}

// follows reports whether list goes on where t ends.
func (t *transcript) follows(list []core.Message) bool {
	last := t.messages[len(t.messages)-1].ID
	for _, g := range list {
		if g.Session != t.session || g.ID <= last {
			return false
		}
		last = g.ID
	}
	return true
}

// extend adds messages and forgets what was used longest ago until all fits.
func (m *memory) extend(t *transcript, more []core.Message) {
	for _, g := range more {
		if g.Superseded {
			continue
		}
		t.messages = append(t.messages, g)
		n := memoryMessage + len(g.Content) + len(g.APIContent) + len(g.Reasoning)
		for _, k := range g.Calls {
			n += len(k.Args)
		}
		t.bytes += n
		m.bytes += n
	}
	if t.bytes > memoryOne {
		m.forget(t.c)
	}
	for m.bytes > memoryMost {
		m.forget(m.order.Back().Value.(*transcript).c)
	}
}

// clear forgets everything.
func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes = 0
	m.order.Init()
	clear(m.of)
}

func (m *memory) forget(c core.ConversationID) {
	e := m.of[c]
	if e == nil {
		return
	}
	m.bytes -= e.Value.(*transcript).bytes
	m.order.Remove(e)
	delete(m.of, c)
}
