package command

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/store"
	"bellhop/gateway/admission"
	"bellhop/gateway/ask"
	"bellhop/gateway/session"

	"github.com/oklog/ulid/v2"
)

// world is the table over the real store and desks.
type world struct {
	t        *testing.T
	s        *store.Store
	table    *Table
	sessions *session.Registry
	desk     *admission.Desk
	ask      *ask.Desk
	people   *people
	fate     *fate
	told     []string
	forsaken []core.AdmissionID // rows that will not go on
}

type people struct {
	grants  []core.Grant
	revoked core.PrincipalID
}

func (p *people) Approve(_ context.Context, code string) (core.Grant, error) {
	for i, g := range p.grants {
		if g.Code == code {
			p.grants[i].Allowed, p.grants[i].Code = true, ""
			return p.grants[i], nil
		}
	}
	return core.Grant{}, core.Errorf("approve", core.NotFound, "no such code")
}
func (p *people) Allow(_ context.Context, id core.PrincipalID, admin bool) error {
	p.grants = append(p.grants, core.Grant{Person: id, Admin: admin, Allowed: true})
	return nil
}
func (p *people) Revoke(_ context.Context, id core.PrincipalID) error { p.revoked = id; return nil }
func (p *people) List(context.Context) ([]core.Grant, error)          { return p.grants, nil }

type fate struct{ as string }

func (f *fate) Resolve(_ context.Context, by core.Principal, id core.AdmissionID, as string) (*core.Admission, error) {
	if f.as != "" {
		return nil, core.Errorf("resolve", core.Conflict, "settled")
	}
	f.as = as
	return nil, nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "test.db"), Sync: "normal"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, s: s, sessions: session.New(), people: &people{}, fate: &fate{}}
	w.desk = admission.New(s, admission.Options{Sessions: w.sessions, Forsaken: func(_ context.Context, row core.Admission) error {
		w.forsaken = append(w.forsaken, row.ID)
		return nil
	}})
	w.ask = ask.New(s, ask.Options{})
	w.table = New(Deps{Desk: w.desk, Ask: w.ask, Fate: w.fate, Sessions: w.sessions, Store: s, People: w.people,
		Tell:   func(_ context.Context, g core.Grant, text string) { w.told = append(w.told, string(g.Person)+" "+text) },
		Models: func() []string { return []string{"small", "big"} }, Model: "small", Version: "v0"})
	return w
}

var (
	ann  = core.Principal{ID: "fake:1", Name: "Ann", Caps: core.CanRead | core.CanSubmit | core.CanRespond}
	bob  = core.Principal{ID: "fake:2", Name: "Bob", Caps: core.CanRead | core.CanSubmit | core.CanRespond}
	otto = core.Principal{ID: "fake:9", Name: "Otto", Admin: true, Caps: core.CanRead | core.CanSubmit | core.CanRespond |
		core.CanControl | core.CanApprove | core.CanOperate}
)

func (w *world) submit(by core.Principal, text string) core.Admission {
	w.t.Helper()
	a, err := w.desk.Submit(w.t.Context(), by, core.Submission{Key: "fake:1", Source: "fake:1", Text: text, Surface: "fake", AuthorID: by.ID,
		Route: core.Route{Platform: "fake", Chat: "1"}}, admission.SubmitOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Admission
}

// run starts the oldest row.
func (w *world) run(c core.ConversationID) (context.Context, core.Admission) {
	w.t.Helper()
	live, ok := w.sessions.Begin(c)
	if !ok {
		w.t.Fatal("live already")
	}
	l, err := w.s.Acquire(w.t.Context(), c, "T1", core.Holder{}, time.Minute, func(core.Holder) bool { return true })
	if err != nil {
		w.t.Fatal(err)
	}
	claim, err := w.s.ClaimNext(w.t.Context(), l.Fence, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := live.Turn(w.t.Context(), claim.Admission.ID, "T1")
	w.t.Cleanup(func() { cancel(nil) })
	return ctx, claim.Admission
}

func (w *world) call(by core.Principal, text string) Call {
	w.t.Helper()
	name, args, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	c := Call{By: by, Key: "fake:1", Name: name, Args: args, Submission: core.Submission{Key: "fake:1", Surface: "fake"}}
	v, err := w.s.Lookup(w.t.Context(), "fake:1")
	if err != nil && !core.Is(err, core.NotFound) {
		w.t.Fatal(err)
	}
	c.Conversation = v
	return c
}

func (w *world) answer(by core.Principal, text string) Answer {
	w.t.Helper()
	a, err := w.table.Run(w.t.Context(), w.call(by, text))
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return a
}

// says checks that each part is in the answer.
func (w *world) says(by core.Principal, text string, parts ...string) {
	w.t.Helper()
	got := w.answer(by, text).Text
	for _, p := range parts {
		if !strings.Contains(got, p) {
			w.t.Errorf("%s as %s: got %q, want %q in it", text, by.Name, got, p)
		}
	}
}

func (w *world) fails(by core.Principal, text string, k core.Kind) {
	w.t.Helper()
	if _, err := w.table.Run(w.t.Context(), w.call(by, text)); !core.Is(err, k) {
		w.t.Errorf("%s as %s: got %v, want %v", text, by.Name, err, k)
	}
}

func TestEveryCommandAnswersSomething(t *testing.T) {
	for _, spoken := range []bool{false, true} {
		w := newWorld(t)
		if spoken {
			w.submit(ann, "hello")
		}
		for _, c := range w.table.List() {
			a := w.answer(otto, "/"+c.Name)
			if strings.TrimSpace(a.Text) == "" {
				t.Errorf("/%s says nothing", c.Name)
			}
			if c.Later != strings.Contains(a.Text, "not in this version") {
				t.Errorf("/%s: %q", c.Name, a.Text)
			}
			if c.Admin && !strings.Contains(w.answer(ann, "/"+c.Name).Text, "for admins") {
				t.Errorf("/%s works for a user", c.Name)
			}
		}
	}
}

func TestTableIsWhole(t *testing.T) {
	contract := "help new stop status queue steer btw background retry undo title sessions resume branch compact usage whoami model busy " +
		"approve deny resolve allow pair platform approvals restart log start"
	table := New(Deps{})
	for _, name := range strings.Fields(contract) {
		if _, ok := table.Find(strings.ToUpper(name)); !ok {
			t.Errorf("/%s is missing", name)
		}
	}
	if got := len(table.List()); got != len(strings.Fields(contract)) {
		t.Errorf("%d commands", got)
	}
	for _, m := range table.Menu("") {
		c, _ := table.Find(m.Name)
		if m.About == "" || c.Later || c.Admin != m.Admin {
			t.Errorf("menu: %+v", m)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{"/stop": "stop|", "/Queue edit 1  x ": "queue|edit 1  x", "/queue\none\ntwo": "queue|one\ntwo",
		"/x-y_2\tz": "x-y_2|z", "": "", "/": "", "stop": "", " /stop": "", "/etc/hosts": "", "/1": "", "/stop@bot": "", "/é": ""} {
		got := ""
		if name, args, ok := Parse(text); ok {
			got = name + "|" + args
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestUnknownCommands(t *testing.T) {
	w := newWorld(t)
	w.says(ann, "/stpo", "`/stpo`", "Did you mean `/stop`?", "/help")
	w.says(ann, "/zzzzzz", "`/zzzzzz`", "/help")
	w.says(ann, "/palr", "I do not know") // no admin command is offered to a user
	if got := w.answer(ann, "/"+strings.Repeat("命", 500)).Text; len([]rune(got)) > 200 {
		t.Errorf("an endless name is repeated: %q", got)
	}
}

func TestStop(t *testing.T) {
	w := newWorld(t)
	w.says(ann, "/stop", "Nothing is running.")
	a := w.submit(ann, "work")
	ctx, _ := w.run(a.Conversation)
	w.submit(ann, "first\nand `more`")
	w.submit(ann, "second")
	w.says(ann, "/stop", "Stopped.", "1. `first`", "2. `second`", "/stop all")
	if i, ok := core.InterruptOf(ctx); !ok || i.Reason != core.ReasonStopped || i.By != ann.ID {
		t.Error("not stopped")
	}
	w.says(ann, "/stop all", "2 messages that waited will not be answered")
	w.says(ann, "/queue", "Nothing is waiting.")
}

func TestStopInAGroup(t *testing.T) {
	w := newWorld(t)
	a := w.submit(ann, "work")
	ctx, _ := w.run(a.Conversation)
	c := w.call(bob, "/stop")
	c.Conversation.Group = true
	if _, err := w.table.Run(t.Context(), c); !core.Is(err, core.Denied) || ctx.Err() != nil {
		t.Errorf("somebody else stopped it: %v", err)
	}
	c.By = otto
	if _, err := w.table.Run(t.Context(), c); err != nil || ctx.Err() == nil {
		t.Errorf("an admin could not stop it: %v", err)
	}
}

// overtaken is a store where, by the time a row was read, the next person's turn runs.
type overtaken struct {
	Store
	next func()
}

func (o *overtaken) Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error) {
	a, err := o.Store.Admission(ctx, id)
	o.next()
	return a, err
}

// TestStopHitsWhatWasChecked: in a group, the right to stop one's own turn stops no other that began meanwhile.
func TestStopHitsWhatWasChecked(t *testing.T) {
	w := newWorld(t)
	a := w.submit(ann, "work")
	b := w.submit(bob, "other work")
	live, ok := w.sessions.Begin(a.Conversation)
	if !ok {
		t.Fatal("live already")
	}
	_, cancel := live.Turn(t.Context(), a.ID, "T1")
	defer cancel(nil)
	var other context.Context
	w.table.deps.Store = &overtaken{w.s, func() {
		live.Close()
		live.Rest()
		var cancel context.CancelCauseFunc
		other, cancel = live.Turn(t.Context(), b.ID, "T2")
		t.Cleanup(func() { cancel(nil) })
	}}
	c := w.call(ann, "/stop")
	c.Conversation.Group = true
	answer, err := w.table.Run(t.Context(), c)
	if err != nil || !strings.HasPrefix(answer.Text, "Nothing is running.") || other.Err() != nil {
		t.Errorf("%q %v; the other turn: %v", answer.Text, err, context.Cause(other))
	}
}

func TestNew(t *testing.T) {
	w := newWorld(t)
	w.says(ann, "/new", "A new conversation.")
	a := w.submit(ann, "work")
	ctx, _ := w.run(a.Conversation)
	w.submit(ann, "waits")
	w.says(ann, "/new", "A new conversation.", "stopped", "The message that waited will not be answered", "`waits`")
	if i, ok := core.InterruptOf(ctx); !ok || i.Reason != core.ReasonNew {
		t.Error("the turn goes on")
	}
	v, err := w.s.Lookup(t.Context(), "fake:1")
	if err != nil || v.ID == a.Conversation {
		t.Errorf("still the old conversation: %v", err)
	}
}

func TestQueue(t *testing.T) {
	w := newWorld(t)
	w.says(ann, "/queue", "Nothing is waiting.")
	w.submit(ann, "one")
	w.submit(ann, "two")
	w.submit(bob, "three")
	w.says(ann, "/queue list", "1. `one`", "2. `two`", "3. `three`")
	w.says(ann, "/queue edit 2 deux", "Message 2 is changed.")
	w.says(ann, "/queue edit 2", "Write the new text")
	w.says(ann, "/queue edit 7 x", "number from 1 to 3")
	w.says(ann, "/queue rm", "number from 1 to 3")
	w.fails(ann, "/queue rm 3", core.Denied)
	w.says(ann, "/queue rm 1", "Removed: `one`")
	w.says(ann, "/queue clear", "The message that waited will not be answered")
	w.says(ann, "/queue", "1. `three`")
	a := w.answer(ann, "/queue and another")
	if a.Submit == nil || a.Submit.Text != "and another" || a.Busy != "queue" {
		t.Errorf("/queue with a text: %+v", a)
	}
	a = w.answer(ann, "/steer look there")
	if a.Submit == nil || a.Submit.Text != "look there" || a.Busy != "steer" {
		t.Errorf("/steer: %+v", a)
	}
}

func TestStatus(t *testing.T) {
	w := newWorld(t)
	w.says(ann, "/status", "Nothing has been said yet.")
	a := w.submit(ann, "work")
	w.says(ann, "/status", "Nothing is running.", "1. `work`", "wait their turn")
	w.run(a.Conversation)
	w.says(ann, "/status", "at work", "`small`")
}

func (w *world) ask1(kind core.QuestionKind, title string) core.Question {
	w.t.Helper()
	c := w.call(ann, "").Conversation.ID
	rows, err := w.s.Unsettled(w.t.Context(), c)
	if err != nil || len(rows) == 0 {
		w.t.Fatal("no row to ask in")
	}
	q, err := w.s.Put(w.t.Context(), core.Question{ID: core.QuestionID(ulid.Make().String()), Conversation: c, Admission: rows[0].ID,
		State: core.QuestionOpen, For: ann.ID, Ask: core.Ask{Kind: kind, Title: title, Choices: []string{"red", "blue"}},
		Created: time.Now(), Deadline: time.Now().Add(time.Minute)})
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func TestApprove(t *testing.T) {
	w := newWorld(t)
	w.says(otto, "/approve", "There is nothing to answer.")
	w.submit(ann, "work")
	q := w.ask1(core.Approval, "Run?")
	w.says(ann, "/approve", "not yours to answer")
	w.says(otto, "/approve sometimes", "`once`, `session` or `always`")
	w.says(otto, "/approve always", "Allowed from now on.")
	w.says(otto, "/approve "+string(q.ID), "Already answered by Otto.")
	q = w.ask1(core.Approval, "Run another?")
	w.says(otto, "/deny "+strings.ToLower(short(q.ID))+" too risky", "Denied – not run.")
	row, err := w.s.Question(t.Context(), q.ID)
	if choice, reason := core.ReadChoice(row.Answer); err != nil || choice != core.ChoiceDeny || reason != "too risky" {
		t.Errorf("stored: %+v %v", row, err)
	}
	q = w.ask1(core.Approval, "And this?")
	w.says(otto, "/deny", "Denied – not run.")
	if row, err := w.s.Question(t.Context(), q.ID); err != nil || row.Answer != string(core.ChoiceDeny) {
		t.Errorf("stored without a reason: %+v %v", row, err)
	}
	a, b := w.ask1(core.Approval, "First?"), w.ask1(core.Approval, "Second?")
	w.says(otto, "/approve", "Which one?", short(a.ID), short(b.ID), "First?")
	w.says(otto, "/approve "+short(b.ID)+" session", "Allowed for this session.")
	if _, err := w.s.Expire(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.says(otto, "/approve "+string(a.ID), "Expired – not run.")
	w.says(otto, "/approve 01HZZZZZZZZZZZZZZZZZZZZZZZ", "no such question")
	q = w.ask1(core.Clarify, "Which colour?")
	w.says(ann, "/approve", "Write your answer")
	w.says(ann, "/approve "+short(q.ID)+" green", "Thank you.")
}

// TestHiddenAnswersAreNotTaken: a command is a row, and a password is not written down.
func TestHiddenAnswersAreNotTaken(t *testing.T) {
	w := newWorld(t)
	w.submit(otto, "work")
	for _, kind := range []core.QuestionKind{core.Sudo, core.Secret} {
		q := w.ask1(kind, "Your password?")
		for _, args := range []string{"", " hunter2", " " + short(q.ID), " " + short(q.ID) + " hunter2"} {
			w.says(otto, "/approve"+args, "not taken here")
		}
		if row, err := w.s.Question(t.Context(), q.ID); err != nil || row.State != core.QuestionOpen {
			t.Errorf("%s: %+v %v", kind, row, err)
		}
		w.says(otto, "/deny", "Thank you.")
	}
}

func TestResolve(t *testing.T) {
	w := newWorld(t)
	w.says(ann, "/resolve", "/resolve done")
	w.says(ann, "/resolve done", "No turn of this conversation was cut off.")
	a := w.submit(ann, "work")
	w.says(ann, "/resolve "+strings.ToLower(string(a.ID))+" retry", "I try it again.")
	if w.fate.as != "retry" {
		t.Errorf("settled as %q", w.fate.as)
	}
	w.says(ann, "/resolve "+string(a.ID)+" drop", "settled already")
	w.fails(ann, "/resolve 01HZZZZZZZZZZZZZZZZZZZZZZZ done", core.NotFound)
}

func TestSettings(t *testing.T) {
	w := newWorld(t)
	w.says(ann, "/model", "`small`", "`big`")
	w.says(ann, "/model huge", "no model called `huge`")
	w.says(ann, "/model big", "From the next message on", "`big`")
	w.says(ann, "/model", "`big`")
	w.says(ann, "/model default", "`small`")
	w.says(ann, "/busy", "wait their turn", "`queue`")
	w.says(ann, "/busy fast", "There are")
	w.says(ann, "/busy Steer", "taken into account")
	if v := w.call(ann, "").Conversation; v.Busy != "steer" || v.Model != "" {
		t.Errorf("stored: %+v", v)
	}
	w.says(ann, "/usage", "Nothing has been spent")
	w.says(ann, "/whoami", "`fake:1`, a user", "v0")
}

func TestPeople(t *testing.T) {
	w := newWorld(t)
	w.says(otto, "/allow", "Nobody beside")
	w.says(otto, "/allow 5", "`fake:5` may talk")
	w.says(otto, "/allow other:6", "`other:6` may talk")
	w.says(otto, "/allow", "`fake:5`", "`other:6`")
	w.says(otto, "/pair", "Nobody is asking")
	w.people.grants = append(w.people.grants, core.Grant{Person: "fake:7", Name: "Eve", Code: "AB2CD3EF"})
	w.says(otto, "/pair list", "Eve", "AB2CD3EF")
	w.says(otto, "/pair approve", "Which code?")
	w.says(otto, "/pair approve XXXXXXXX", "Nobody has that code")
	w.says(otto, "/pair AB2CD3EF", "Eve (`fake:7`) may talk")
	if len(w.told) != 1 || !strings.HasPrefix(w.told[0], "fake:7") {
		t.Errorf("told: %q", w.told)
	}
	w.says(otto, "/pair revoke 7", "may not talk to me any more")
	if w.people.revoked != "fake:7" {
		t.Errorf("revoked %q", w.people.revoked)
	}
}

func TestPresses(t *testing.T) {
	w := newWorld(t)
	a := w.submit(ann, "work")
	ctx, _ := w.run(a.Conversation)
	b := w.submit(ann, "waits")
	tests := []struct {
		by   core.Principal
		data string
		want string
		kind core.Kind
	}{
		{bob, "stop:" + string(a.ID), "", core.Denied},
		{ann, "q:steer:" + string(b.ID), "I take it into account; if it is too late for that, it is answered next.", 0},
		{bob, "q:steer:" + string(b.ID), "", core.Denied},
		{ann, "q:now:" + string(b.ID), "It is next.", 0},
		{ann, "q:rm:" + string(b.ID), "Removed.", 0},
		{ann, "q:rm:" + string(b.ID), "It is not waiting any more.", 0},
		{ann, "q:what:" + string(b.ID), "", core.Invalid},
		{ann, "stop:" + string(a.ID), "Stopped.", 0},
		{ann, "fate:" + string(a.ID) + ":done", "Noted as done.", 0},
		{ann, "fate:" + string(a.ID) + ":done", "That was settled already.", 0},
		{ann, "", "", core.Invalid},
		{ann, "ans:x:once", "", core.NotFound},
	}
	for _, c := range tests {
		got, err := w.table.Press(t.Context(), w.call(c.by, ""), c.data)
		if got != c.want || (err != nil) != (c.want == "") || err != nil && core.KindOf(err) != c.kind {
			t.Errorf("%s as %s: %q %v, want %q", c.data, c.by.Name, got, err, c.want)
		}
	}
	if ctx.Err() == nil {
		t.Error("not stopped")
	}
	q := w.ask1(core.Clarify, "Which?")
	if got, err := w.table.Press(t.Context(), w.call(ann, ""), "ans:"+string(q.ID)+":1"); err != nil || got != "Thank you." {
		t.Errorf("%q %v", got, err)
	}
	if row, _ := w.s.Question(t.Context(), q.ID); row.Answer != "blue" {
		t.Errorf("stored %q", row.Answer)
	}
	if _, err := w.table.Press(t.Context(), w.call(ann, ""), "ans:"+string(q.ID)+":9"); !core.Is(err, core.Invalid) {
		t.Errorf("a choice that is not there: %v", err)
	}
}

// Every Kind has words, and they keep the owner's secrets.
func TestWords(t *testing.T) {
	for k := core.Internal; k <= core.Newer; k++ {
		w := WordsFor(core.Errorf("op", k, "bot123456:SECRET"), "ab12cd")
		if w.What == "" || k != core.NotFound && k != core.Conflict && w.Safe == "" || w.Do == "" {
			t.Errorf("%v: %+v", k, w)
		}
		if s := w.String(); strings.Contains(s, "SECRET") || !strings.Contains(s, "ab12cd") {
			t.Errorf("%v: %q", k, s)
		}
	}
}
