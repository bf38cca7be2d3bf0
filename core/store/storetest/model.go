package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
)

// The reference model: what the queue of one conversation must look like after any sequence of operations.
type model struct {
	k        kit
	chats    []string
	open     map[string][]core.AdmissionID // in order
	status   map[core.AdmissionID]core.Status
	place    map[string]core.ConversationID
	fence    map[string]core.Fence // of the lease that is held
	old      []core.Fence          // of leases that are over
	accepted int
	requests int
}

var modelTests = []test{
	{"any sequence of operations", func(k kit) { anySequence(k) }},
}

// anySequence runs operations at random on handles of one store, each on one of them, and compares after each.
func anySequence(handles ...kit) {
	n := 0
	rapid.Check(struct{ testing.TB }{handles[0].tb.(*testing.T)}, func(t *rapid.T) {
		n++
		m := &model{open: map[string][]core.AdmissionID{}, status: map[core.AdmissionID]core.Status{},
			place: map[string]core.ConversationID{}, fence: map[string]core.Fence{}}
		on := func(op func(*rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) {
				m.k = kit{tb: t, Store: handles[rapid.IntRange(0, len(handles)-1).Draw(t, "handle")].Store}
				op(t)
			}
		}
		m.k = kit{tb: t, Store: handles[0].Store}
		m.accepted = int(must(m.k.Census(m.k.Context()))(m.k).Accepted)
		for i := range 2 {
			m.chats = append(m.chats, fmt.Sprintf("m%d-%d", n, i))
		}
		t.Repeat(map[string]func(*rapid.T){
			"admit": on(m.admit), "repeat": on(m.repeat), "acquire": on(m.acquire), "claim": on(m.claim), "say": on(m.say),
			"settle": on(m.settle), "cancel": on(m.cancel), "move": on(m.move), "vanish": on(m.vanish), "resolve": on(m.resolve),
			"sleep": on(m.sleep), "stale": on(m.stale), "": on(m.check),
		})
	})
}

func (m *model) chat(t *rapid.T) string { return rapid.SampledFrom(m.chats).Draw(t, "chat") }

// head returns the first open row of a chat, if it has the status.
func (m *model) head(chat string, st core.Status) (core.AdmissionID, bool) {
	if len(m.open[chat]) == 0 || m.status[m.open[chat][0]] != st {
		return "", false
	}
	return m.open[chat][0], true
}

func (m *model) end(chat string, id core.AdmissionID) {
	m.open[chat] = slices.DeleteFunc(m.open[chat], func(x core.AdmissionID) bool { return x == id })
	delete(m.status, id)
}

func (m *model) admit(t *rapid.T) {
	chat := m.chat(t)
	m.requests++
	a := m.k.queue(in(chat, said(fmt.Sprint(chat, m.requests), "x")))
	m.open[chat] = append(m.open[chat], a.ID)
	m.status[a.ID], m.place[chat] = core.Queued, a.Conversation
	m.accepted++
}

func (m *model) repeat(t *rapid.T) {
	if m.requests == 0 {
		t.Skip("nothing to repeat")
	}
	chat, n := m.chat(t), rapid.IntRange(1, m.requests).Draw(t, "request")
	out := m.k.admit(in(chat, said(fmt.Sprint(chat, n), "x")))[0]
	if out.Fresh { // the number was used in the other chat: a first time here
		m.open[chat] = append(m.open[chat], out.Admission.ID)
		m.status[out.Admission.ID], m.place[chat] = core.Queued, out.Admission.Conversation
		m.accepted++
	}
}

func (m *model) acquire(t *rapid.T) {
	chat := m.chat(t)
	if m.place[chat] == "" {
		t.Skip("no conversation")
	}
	l, err := m.k.Acquire(m.k.Context(), m.place[chat], "t", holder, ttl, alive)
	if _, held := m.fence[chat]; held {
		m.k.want(err, core.Busy)
		return
	}
	m.k.ok(err)
	m.fence[chat] = l.Fence
	if id, ok := m.head(chat, core.Started); ok {
		m.status[id] = core.Unknown
	}
}

func (m *model) claim(t *rapid.T) {
	chat := m.chat(t)
	f, held := m.fence[chat]
	if !held {
		t.Skip("no lease")
	}
	c, err := m.k.ClaimNext(m.k.Context(), f, func(a core.Admission) core.Opening {
		return core.Opening{Messages: []core.Message{{Role: core.RoleUser, Admission: a.ID, Content: a.Submission.Text}}}
	})
	if len(m.open[chat]) == 0 {
		m.k.want(err, core.NotFound)
		return
	}
	id, ok := m.head(chat, core.Queued)
	if !ok {
		m.k.want(err, core.Busy)
		return
	}
	m.k.ok(err)
	m.k.equal(c.Admission.ID, id)
	m.status[id] = core.Started
}

// say writes to the transcript what a running turn may: replies, calls, rows off the path, its own message once more.
func (m *model) say(t *rapid.T) {
	chat := m.chat(t)
	id, ok := m.head(chat, core.Started)
	f, held := m.fence[chat]
	if !ok || !held {
		t.Skip("nothing runs")
	}
	said := rapid.SliceOfN(rapid.SampledFrom([]core.Message{
		{Role: core.RoleAssistant, Content: "well"},
		{Role: core.RoleAssistant, Content: "late", Superseded: true},
		{Role: core.RoleAssistant, Interim: true, Calls: []core.ToolCall{{ID: "c", Name: "shell", Args: []byte(`{"a": 1}`)}}},
		{Role: core.RoleUser, Admission: id, Content: "x"},
	}), 0, 3).Draw(t, "messages")
	must(m.k.Append(m.k.Context(), f, core.Batch{Messages: said}))(m.k)
}

func (m *model) settle(t *rapid.T) {
	chat := m.chat(t)
	id, ok := m.head(chat, core.Started)
	f, held := m.fence[chat]
	if !ok || !held {
		t.Skip("nothing runs")
	}
	more := must(m.k.Settle(m.k.Context(), f, id, core.Settlement{Outcome: answered,
		Tail: []core.Message{{Role: core.RoleAssistant, Admission: id, Content: "done"}}[:rapid.IntRange(0, 1).Draw(t, "tail")]}))(m.k)
	m.end(chat, id)
	m.k.equal(more, len(m.open[chat]) > 0)
	m.over(chat)
}

func (m *model) over(chat string) {
	m.old = append(m.old, m.fence[chat])
	delete(m.fence, chat)
}

func (m *model) cancel(t *rapid.T) {
	chat := m.chat(t)
	if len(m.open[chat]) == 0 {
		t.Skip("nothing waits")
	}
	id := rapid.SampledFrom(m.open[chat]).Draw(t, "row")
	out := must(m.k.Cancel(m.k.Context(), m.place[chat], gone, id))(m.k)
	if m.status[id] != core.Queued {
		m.k.equal(len(out), 0)
		return
	}
	m.k.equal(ids(out), []core.AdmissionID{id})
	m.end(chat, id)
}

func (m *model) move(t *rapid.T) {
	chat := m.chat(t)
	open := m.open[chat]
	first := slices.IndexFunc(open, func(id core.AdmissionID) bool { return m.status[id] == core.Queued })
	if first < 0 {
		t.Skip("nothing waits")
	}
	waiting := slices.Clone(open[first:])
	i := rapid.IntRange(0, len(waiting)-1).Draw(t, "row")
	to := rapid.IntRange(0, len(waiting)-1).Draw(t, "place")
	id := waiting[i]
	m.k.ok(m.k.Move(m.k.Context(), id, to))
	m.open[chat] = append(slices.Clone(open[:first]), slices.Insert(slices.Delete(waiting, i, i+1), to, id)...)
}

func (m *model) vanish(*rapid.T) {
	m.k.vanish()
	for _, chat := range m.chats {
		if _, held := m.fence[chat]; held {
			m.over(chat)
		}
		if id, ok := m.head(chat, core.Started); ok {
			m.status[id] = core.Unknown
		}
	}
}

func (m *model) resolve(t *rapid.T) {
	chat := m.chat(t)
	id, ok := m.head(chat, core.Unknown)
	if !ok {
		t.Skip("nothing is unknown")
	}
	retry := rapid.Bool().Draw(t, "retry")
	next := must(m.k.Resolve(m.k.Context(), id, core.Resolution{Outcome: lost, Retry: retry}))(m.k)
	m.end(chat, id)
	if retry {
		m.open[chat] = slices.Insert(m.open[chat], 0, next.ID)
		m.status[next.ID] = core.Queued
		m.accepted++
	}
}

// sleep lets every lease run out.
func (m *model) sleep(*rapid.T) {
	time.Sleep(ttl)
	for _, chat := range m.chats {
		if _, held := m.fence[chat]; held {
			m.over(chat)
		}
	}
}

func (m *model) stale(t *rapid.T) {
	if len(m.old) == 0 {
		t.Skip("every fence is good")
	}
	f := rapid.SampledFrom(m.old).Draw(t, "fence")
	_, err := m.k.Append(m.k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Content: "late"}}})
	m.k.want(err, core.Stale)
	_, err = m.k.ClaimNext(m.k.Context(), f, nil)
	m.k.want(err, core.Stale)
}

func (m *model) check(*rapid.T) {
	for _, chat := range m.chats {
		if m.place[chat] == "" {
			continue
		}
		rows := must(m.k.Unsettled(m.k.Context(), m.place[chat]))(m.k)
		if !slices.Equal(ids(rows), m.open[chat]) {
			m.k.Fatalf("%s has %v, want %v", chat, ids(rows), m.open[chat])
		}
		for _, a := range rows {
			m.k.equal(a.Status, m.status[a.ID])
		}
		m.remembered(m.place[chat])
	}
	m.k.equal(m.k.balanced().Accepted, int64(m.accepted))
}

// remembered checks that what the store remembers of a transcript is what is stored.
func (m *model) remembered(c core.ConversationID) {
	v := must(m.k.Conversation(m.k.Context(), string(c), ""))(m.k)
	m.k.equal(must(m.k.Recall(m.k.Context(), c, v.History))(m.k), must(m.k.Load(m.k.Context(), c))(m.k))
}
