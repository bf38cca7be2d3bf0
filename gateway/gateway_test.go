package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/store"
	"bellhop/gateway/admission"
	"bellhop/gateway/ask"
	"bellhop/gateway/command"
	"bellhop/gateway/session"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mouth remembers what was said.
type mouth struct {
	mu      sync.Mutex
	said    []core.Delivery
	waiting []core.AdmissionID
	fail    error
}

func (m *mouth) Say(_ context.Context, d core.Delivery) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.said = append(m.said, d)
	return nil
}

func (m *mouth) Waiting(a core.Admission, _ int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = append(m.waiting, a.ID)
}

func (m *mouth) Replace(context.Context, core.AdmissionID, string, string) error { return nil }

// texts returns what was said since the last call.
func (m *mouth) texts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, d := range m.said {
		out = append(out, d.Text)
	}
	m.said = nil
	return out
}

type adapter struct{ name string }

func (a adapter) Name() string                            { return a.name }
func (adapter) Run(context.Context, adapters.Inbox) error { return nil }
func (adapter) Limits() adapters.Limits                   { return adapters.Limits{} }
func (adapter) Size(s string) int                         { return len(s) }
func (adapter) Send(context.Context, adapters.Target, adapters.Outgoing) (adapters.Ref, error) {
	return "", nil
}

// world is a gateway on a real store with the real desks.
type world struct {
	t        testing.TB
	s        *store.Store
	g        *Gateway
	mouth    *mouth
	sessions *session.Registry
	ask      *ask.Desk
	access   *Access
	in       adapters.Inbox
	log      *bytes.Buffer
	next     int

	mu    sync.Mutex
	woken []core.ConversationID
}

type setup struct {
	access  AccessConfig
	options PlatformOptions
	busy    string
	rate    Rate
	cap     int
}

var trusted = setup{access: AccessConfig{Allow: []string{"fake:1", "fake:2"}, Admins: []string{"fake:9"}, Pairing: true}, options: PlatformOptions{RequireMention: true}}

func newWorld(t testing.TB, c setup) *world {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "test.db"), Sync: "normal"})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, s: s, mouth: &mouth{}, sessions: session.New(), log: &bytes.Buffer{}, access: NewAccess(c.access, s)}
	w.ask = ask.New(s, ask.Options{})
	desk := admission.New(s, admission.Options{Wake: w.wake, Sessions: w.sessions, Cap: c.cap})
	table := command.New(command.Deps{Desk: desk, Ask: w.ask, Sessions: w.sessions, Store: s, People: w.access, Wake: w.wake})
	w.g = New(Config{Desk: desk, Mouth: w.mouth, Commands: table, Sessions: w.sessions, Store: s, Access: w.access, Busy: c.busy,
		Rate: c.rate, Log: slog.New(slog.NewTextHandler(w.log, nil))})
	w.in = w.g.Inbox(adapter{"fake"}, c.options)
	return w
}

func (w *world) close() {
	if err := w.s.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) wake(c core.ConversationID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.woken = append(w.woken, c)
}

// message makes an inbound message of person 1 in their own chat.
func (w *world) message(text string, edit ...func(*adapters.Inbound)) adapters.Inbound {
	w.next++
	id := fmt.Sprint(w.next)
	in := adapters.Inbound{Kind: adapters.KindMessage, ID: "u" + id, Message: id, Target: adapters.Target{Chat: "1"},
		From: adapters.Person{ID: "1", Name: "Ann"}, Text: text, Mentioned: true, Sent: time.Now().Add(time.Second)}
	for _, e := range edit {
		e(&in)
	}
	return in
}

func from(id string) func(*adapters.Inbound) {
	return func(in *adapters.Inbound) { in.From.ID, in.Target.Chat = id, id }
}

func group(mentioned bool) func(*adapters.Inbound) {
	return func(in *adapters.Inbound) {
		in.Group, in.Target, in.Mentioned = true, adapters.Target{Chat: "-5", Group: true}, mentioned
	}
}

func (w *world) receive(in ...adapters.Inbound) []adapters.Receipt {
	w.t.Helper()
	r, err := w.in.Receive(w.t.Context(), adapters.Batch{Inbound: in})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(r) != len(in) {
		w.t.Fatalf("%d receipts for %d inputs", len(r), len(in))
	}
	return r
}

// queued lists the texts that wait, of all conversations.
func (w *world) queued() []string {
	w.t.Helper()
	rows, err := w.s.Unsettled(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		out = append(out, r.Submission.Text)
	}
	return out
}

// run makes the oldest row of a conversation's queue a running turn.
func (w *world) run(c core.ConversationID) (context.Context, core.Admission, func()) {
	w.t.Helper()
	live, ok := w.sessions.Begin(c)
	if !ok {
		w.t.Fatal("it is live already")
	}
	l, err := w.s.Acquire(w.t.Context(), c, core.TurnID("T"+string(c)), core.Holder{}, time.Minute, func(core.Holder) bool { return true })
	if err != nil {
		w.t.Fatal(err)
	}
	claim, err := w.s.ClaimNext(w.t.Context(), l.Fence, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := live.Turn(w.t.Context(), claim.Admission.ID, l.Fence.Turn)
	return ctx, claim.Admission, func() {
		cancel(nil)
		live.End()
		if _, err := w.s.Settle(w.t.Context(), l.Fence, claim.Admission.ID, core.Settlement{Outcome: core.Outcome{Result: core.Completed}}); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *world) conversation(k core.Key) core.Conversation {
	w.t.Helper()
	c, err := w.s.Lookup(w.t.Context(), k)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Each kind of input, and what the guards make of it.
func TestGuards(t *testing.T) {
	edit := func(fs ...func(*adapters.Inbound)) func(*adapters.Inbound) {
		return func(in *adapters.Inbound) {
			for _, f := range fs {
				f(in)
			}
		}
	}
	set := func(f func(*adapters.Inbound)) func(*adapters.Inbound) { return f }
	tests := []struct {
		name   string
		setup  setup
		text   string
		edit   func(*adapters.Inbound)
		queued string // "" for nothing
		said   string // part of the one answer; "" for none
		answer string // of the receipt
	}{
		{name: "a message", text: "hello", queued: "hello"},
		{name: "nothing to say", text: ""},
		{name: "own message, another bot", text: "hello", edit: set(func(in *adapters.Inbound) { in.From.Bot = true })},
		{name: "service message", edit: set(func(in *adapters.Inbound) { in.Kind = adapters.KindService })},
		{name: "stranger", text: "hello", edit: from("7"), said: "with the code"},
		{name: "stranger in a group", text: "hello", edit: edit(group(true), set(func(in *adapters.Inbound) { in.From.ID = "7" }))},
		{name: "stranger's press", edit: edit(from("7"), set(func(in *adapters.Inbound) { in.Kind, in.Data = adapters.KindPress, "stop:x" })), answer: "This is not for you."},
		{name: "stranger without pairing", setup: setup{access: AccessConfig{}}, text: "hello", edit: from("7")},
		{name: "stranger's command", text: "/help", edit: from("7"), said: "with the code"},
		{name: "everybody is allowed", setup: setup{access: AccessConfig{Default: "allow"}}, text: "hello", edit: from("7"), queued: "hello"},
		{name: "group, addressed", text: "hello", edit: group(true), queued: "hello"},
		{name: "group, not addressed", text: "hello", edit: group(false)},
		{name: "group that need not address", setup: setup{access: trusted.access}, text: "hello", edit: group(false), queued: "hello"},
		{name: "command", text: "/help", said: "/queue"},
		{name: "command the platform marked", text: "/help", edit: set(func(in *adapters.Inbound) { in.Command = "help" }), said: "/queue"},
		{name: "command in capitals", text: "/HELP", said: "/queue"},
		{name: "command for another bot", text: "/new", edit: set(func(in *adapters.Inbound) { in.Command, in.Other = "new", true })},
		{name: "bare command in a group", text: "/help", edit: group(false)},
		{name: "addressed command in a group", text: "/help", edit: edit(group(true), set(func(in *adapters.Inbound) { in.Command = "help" })), said: "/queue"},
		{name: "unknown command", text: "/hlep me", said: "Did you mean `/help`"},
		{name: "command of a later version", text: "/undo", said: "not in this version"},
		{name: "admin command of a user", text: "/pair", said: "for admins"},
		{name: "a path is no command", text: "/etc/hosts is broken", queued: "/etc/hosts is broken"},
		{name: "a slash is no command", text: "/ 2 is what?", queued: "/ 2 is what?"},
		{name: "queue command with a text", text: "/queue and the other one", queued: "and the other one"},
		{name: "the platform's stop control", edit: set(func(in *adapters.Inbound) { in.Kind = adapters.KindStop }), said: "Nothing is running."},
		{name: "a senseless press", edit: set(func(in *adapters.Inbound) { in.Kind, in.Data = adapters.KindPress, "what" }), answer: "That makes no sense to me."},
		{name: "edit of an old command", text: "/stop", edit: set(func(in *adapters.Inbound) { in.Kind = adapters.KindEdit })},
		{name: "edit of an old message", text: "hello again", edit: set(func(in *adapters.Inbound) { in.Kind = adapters.KindEdit })},
		{name: "deletion of an old message", edit: set(func(in *adapters.Inbound) { in.Kind = adapters.KindDelete })},
		{name: "undecodable", edit: set(func(in *adapters.Inbound) { in.Kind, in.Raw = adapters.KindRaw, []byte("{") })},
		{name: "photo without words", edit: set(func(in *adapters.Inbound) { in.Files = []adapters.File{{Kind: "photo", Ref: "f"}} }), queued: "\x00"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			if c.setup.access.Allow == nil && c.setup.access.Default == "" && !strings.Contains(c.name, "without pairing") {
				c.setup = trusted
			}
			w := newWorld(t, c.setup)
			defer w.close()
			in := w.message(c.text)
			if c.edit != nil {
				c.edit(&in)
			}
			for range 2 { // the second time it is a duplicate, and nothing may happen again
				r := w.receive(in)
				want(t, "toast", r[0].Answer, c.answer)
				if c.answer == "That makes no sense to me." {
					c.answer = ""
				}
			}
			got := w.queued()
			if c.queued == "" && len(got) != 0 || c.queued != "" && (len(got) != 1 || got[0] != strings.Trim(c.queued, "\x00")) {
				t.Errorf("queued: %q", got)
			}
			said := w.mouth.texts()
			if c.said == "" && len(said) != 0 || c.said != "" && (len(said) != 1 || !strings.Contains(said[0], c.said)) {
				t.Errorf("said: %q", said)
			}
			wantBalanced(t, w)
		})
	}
}

func wantBalanced(t *testing.T, w *world) {
	t.Helper()
	c, err := w.s.Census(t.Context())
	if err != nil || !c.Balanced() {
		t.Errorf("the books do not balance: %+v %v", c, err)
	}
}

func TestKeys(t *testing.T) {
	tests := []struct {
		in     adapters.Inbound
		shared bool
		want   core.Key
	}{
		{adapters.Inbound{Target: adapters.Target{Chat: "1"}, From: adapters.Person{ID: "1"}}, false, "fake/work:1"},
		{adapters.Inbound{Target: adapters.Target{Chat: "1", Thread: "7"}, From: adapters.Person{ID: "1"}}, false, "fake/work:1:t7"},
		{adapters.Inbound{Target: adapters.Target{Chat: "-5"}, Group: true, From: adapters.Person{ID: "1"}}, false, "fake/work:-5:u1"},
		{adapters.Inbound{Target: adapters.Target{Chat: "-5"}, Group: true, From: adapters.Person{ID: "1"}}, true, "fake/work:-5"},
		{adapters.Inbound{Target: adapters.Target{Chat: "-5", Thread: "7"}, Group: true, From: adapters.Person{ID: "1"}}, false, "fake/work:-5:t7"},
	}
	for _, c := range tests {
		want(t, "key", keyOf("fake/work", c.in, c.shared), c.want)
	}
}

// A batch is one commit with its cursor; if it fails nothing has happened.
func TestCommitFails(t *testing.T) {
	w := newWorld(t, trusted)
	in := []adapters.Inbound{w.message("hello"), w.message("/help"), w.message("hi", from("7"))}
	w.close()
	if _, err := w.in.Receive(t.Context(), adapters.Batch{Inbound: in, Cursor: "5"}); err == nil {
		t.Fatal("acknowledged without a store")
	}
	if len(w.mouth.said) != 0 || len(w.woken) != 0 {
		t.Errorf("something ran: %v %v", w.mouth.said, w.woken)
	}
}

func TestCursorMovesWithTheBatch(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	in := []adapters.Inbound{w.message("one"), w.message("/new"), w.message("two")}
	if _, err := w.in.Receive(t.Context(), adapters.Batch{Inbound: in, Cursor: "7"}); err != nil {
		t.Fatal(err)
	}
	got, err := w.in.Cursor(t.Context())
	if err != nil || got != "7" {
		t.Errorf("cursor %q %v", got, err)
	}
	if _, err := w.in.Receive(t.Context(), adapters.Batch{Cursor: "8"}); err != nil {
		t.Fatal(err)
	}
	if got, _ = w.in.Cursor(t.Context()); got != "8" {
		t.Errorf("an empty batch left the cursor at %q", got)
	}
}

// What follows /new in the same batch belongs to the new conversation; what stood before it is cancelled.
func TestNewCutsTheBatch(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	w.receive(w.message("old"))
	old := w.conversation("fake:1")
	w.receive(w.message("one"), w.message("/new"), w.message("two"))
	if got := w.queued(); !slices.Equal(got, []string{"two"}) {
		t.Errorf("queued: %q", got)
	}
	if now := w.conversation("fake:1"); now.ID == old.ID {
		t.Error("it is still the old conversation")
	}
	if said := w.mouth.texts(); len(said) != 1 || !strings.Contains(said[0], "2 messages that waited") {
		t.Errorf("said: %q", said)
	}
}

// A person who is refused is logged once, whatever they send.
// C174.
func TestRefusalsAreLoggedOnce(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	for range 5 {
		w.receive(w.message("hello", from("7")))
	}
	want(t, "log lines", strings.Count(w.log.String(), "was refused"), 1)
	want(t, "greetings", len(w.mouth.texts()), 1)
}

func TestPanickingCommand(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	w.g.cfg.Commands = panics{w.g.cfg.Commands}
	w.receive(w.message("/help"), w.message("hello"))
	want(t, "queued", len(w.queued()), 1)
	if said := w.mouth.texts(); len(said) != 1 || !strings.Contains(said[0], "Something went wrong on my side") || !strings.Contains(w.log.String(), "boom") {
		t.Errorf("said: %q", said)
	}
}

type panics struct{ Commands }

func (panics) Run(context.Context, command.Call) (command.Answer, error) { panic("boom") }

func TestMouthWithoutAStore(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	w.mouth.fail = errors.New("no disk")
	w.receive(w.message("/help"), w.message("hello"))
	want(t, "queued", len(w.queued()), 1)
}

// One message of a person whom the configuration names, without the store.
func BenchmarkGuards(b *testing.B) {
	w := newWorld(b, trusted)
	defer w.close()
	in := w.message("hello, how are you?")
	box := w.in.(*inbox)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := box.guarded(b.Context(), []adapters.Inbound{in}, []int{0}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReceive(b *testing.B) {
	w := newWorld(b, trusted)
	defer w.close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.in.Receive(b.Context(), adapters.Batch{Inbound: []adapters.Inbound{w.message("hello", from("1"), func(in *adapters.Inbound) { in.Target.Chat = in.ID })}}); err != nil {
			b.Fatal(err)
		}
	}
}
