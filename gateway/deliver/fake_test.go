package deliver

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/core/store"

	"github.com/oklog/ulid/v2"
)

// platform is a chat platform in memory. Failures are scripted per call.
type platform struct {
	mu     sync.Mutex
	limits adapters.Limits
	next   int
	shown  map[string][]*message // by chat
	calls  []call
	fail   func(c call) error
	took   func(c call) bool // whether a failed call takes effect all the same
	traces bool              // whether Trace has guesses
	known  map[string]bool   // ids whose message the adapter was told of
	newest int               // of those
	slow   time.Duration     // what an edit takes to arrive
}

type message struct {
	ref, text string
	buttons   [][]adapters.Button
	plain     bool
	file      string
	edits     int
}

type call struct {
	n                  int
	method, chat, text string
	thread, reply      string
	plain              bool
	buttons            int
	at                 time.Time
}

func (p *platform) Name() string                              { return "fake" }
func (p *platform) Run(context.Context, adapters.Inbox) error { return nil }
func (p *platform) Limits() adapters.Limits                   { return p.limits }
func (p *platform) Size(md string) int                        { return len([]rune(md)) }
func (p *platform) TypingFor() time.Duration                  { return 5 * time.Second }

func (p *platform) enter(c call) error {
	c.n, c.at = len(p.calls)+1, time.Now()
	p.calls = append(p.calls, c)
	if p.fail == nil {
		return nil
	}
	return p.fail(c)
}

func (p *platform) Send(_ context.Context, to adapters.Target, m adapters.Outgoing) (adapters.Ref, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := call{method: "send", chat: to.Chat, thread: to.Thread, text: m.Text, plain: m.Plain, buttons: len(m.Buttons), reply: m.ReplyTo}
	err := p.enter(c)
	if err != nil && (p.took == nil || !p.took(p.calls[len(p.calls)-1])) {
		return "", err
	}
	if p.limits.Text > 0 && len([]rune(m.Text)) > p.limits.Text {
		return "", &adapters.Error{Kind: adapters.TooLong, Method: "send", Code: 400}
	}
	p.next++
	ref := strconv.Itoa(p.next)
	if p.shown == nil {
		p.shown = map[string][]*message{}
	}
	p.shown[to.Chat] = append(p.shown[to.Chat], &message{ref: ref, text: m.Text, buttons: m.Buttons, plain: m.Plain})
	if err != nil {
		return "", err
	}
	p.know(ref)
	return adapters.Ref(ref), nil
}

// know notes that the adapter knows of a message, ours or another's.
func (p *platform) know(ref string) {
	if p.known == nil {
		p.known = map[string]bool{}
	}
	id, _ := strconv.Atoi(ref)
	p.known[ref], p.newest = true, max(p.newest, id)
}

func (p *platform) find(chat, ref string) (int, *message) {
	for i, m := range p.shown[chat] {
		if m.ref == ref {
			return i, m
		}
	}
	return -1, nil
}

func (p *platform) Edit(_ context.Context, to adapters.Target, ref adapters.Ref, m adapters.Outgoing) error {
	if p.slow > 0 {
		time.Sleep(p.slow)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(call{method: "edit", chat: to.Chat, text: m.Text, plain: m.Plain, buttons: len(m.Buttons)}); err != nil {
		return err
	}
	_, msg := p.find(to.Chat, string(ref))
	if msg == nil {
		return &adapters.Error{Kind: adapters.Gone, Method: "edit", Code: 400}
	}
	if msg.text == m.Text && len(msg.buttons) == len(m.Buttons) {
		return &adapters.Error{Kind: adapters.Unchanged, Method: "edit", Code: 400}
	}
	msg.text, msg.buttons, msg.plain = m.Text, m.Buttons, m.Plain
	msg.edits++
	p.know(string(ref))
	return nil
}

func (p *platform) Delete(_ context.Context, to adapters.Target, ref adapters.Ref) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(call{method: "delete", chat: to.Chat}); err != nil {
		return err
	}
	i, _ := p.find(to.Chat, string(ref))
	if i < 0 {
		return &adapters.Error{Kind: adapters.Gone, Method: "delete", Code: 400}
	}
	p.shown[to.Chat] = append(p.shown[to.Chat][:i:i], p.shown[to.Chat][i+1:]...)
	return nil
}

func (p *platform) Typing(_ context.Context, to adapters.Target) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.enter(call{method: "typing", chat: to.Chat})
}

// Trace has ids below the newest that nobody is known to have.
func (p *platform) Trace(to adapters.Target, mark string) (string, []adapters.Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var near []adapters.Ref
	if id, err := strconv.Atoi(mark); err == nil && p.traces {
		for id++; id < p.newest && len(near) < 3; id++ {
			if ref := strconv.Itoa(id); !p.known[ref] {
				near = append(near, adapters.Ref(ref))
			}
		}
	}
	return strconv.Itoa(p.newest), near
}

func (p *platform) Probe(context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "@fake", p.enter(call{method: "probe"})
}

func (p *platform) Upload(_ context.Context, to adapters.Target, f adapters.Upload) (adapters.Ref, error) {
	body, err := io.ReadAll(f.Body)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(call{method: "upload", chat: to.Chat, text: f.Caption}); err != nil {
		return "", err
	}
	p.next++
	if p.shown == nil {
		p.shown = map[string][]*message{}
	}
	p.shown[to.Chat] = append(p.shown[to.Chat], &message{ref: strconv.Itoa(p.next), text: f.Caption, file: string(body)})
	p.know(strconv.Itoa(p.next))
	return adapters.Ref(strconv.Itoa(p.next)), nil
}

// texts is what a person sees in a chat.
func (p *platform) texts(chat string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, m := range p.shown[chat] {
		out = append(out, m.text)
	}
	return out
}

// made lists the calls to a chat, by method, that were made since.
func (p *platform) made(chat string, methods ...string) []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []call
	for _, c := range p.calls {
		if c.chat == chat && (len(methods) == 0 || strings.Contains(strings.Join(methods, " "), c.method)) {
			out = append(out, c)
		}
	}
	return out
}

// whole is the adapter with every capability; sendOnly is one with none.
type sendOnly struct{ p *platform }

func (s sendOnly) Name() string                                     { return s.p.Name() }
func (s sendOnly) Run(ctx context.Context, in adapters.Inbox) error { return s.p.Run(ctx, in) }
func (s sendOnly) Limits() adapters.Limits                          { return s.p.limits }
func (s sendOnly) Size(md string) int                               { return s.p.Size(md) }
func (s sendOnly) Send(ctx context.Context, to adapters.Target, m adapters.Outgoing) (adapters.Ref, error) {
	return s.p.Send(ctx, to, m)
}

// world is a mouth on a real store and a platform in memory.
type world struct {
	t      testing.TB
	p      *platform
	s      *store.Store
	m      *Mouth
	cfg    Config
	cancel context.CancelFunc
	done   chan error
}

type option func(*Config, *platform)

func unlimited(c *Config, _ *platform) {
	o := c.Platforms[""]
	o.Limits.Off = true
	c.Platforms[""] = o
}

func longMessages(_ *Config, p *platform) { p.limits.Text = 1000 }

func noCapabilities(c *Config, p *platform) { c.Adapters = []adapters.Adapter{sendOnly{p}} }

func newWorld(t testing.TB, opts ...option) *world {
	t.Helper()
	w := &world{t: t, p: &platform{limits: adapters.Limits{Text: 100, ChatRate: time.Second, ChatBurst: 3,
		GroupRate: 3 * time.Second, BotRate: time.Second / 30}}}
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "test.db"), Sync: "normal"})
	if err != nil {
		t.Fatal(err)
	}
	w.s = s
	w.cfg = Config{Store: s.Outbox(), Chats: s, Leases: s, Turns: s, Adapters: []adapters.Adapter{w.p},
		Platforms: map[string]Platform{"": {Mode: "edit", EditInterval: time.Second, Cursor: " ▉", Interim: true}}, Alone: true}
	for _, o := range opts {
		o(&w.cfg, w.p)
	}
	w.start()
	return w
}

func (w *world) start() {
	w.m = New(w.cfg)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	w.cancel, w.done = cancel, make(chan error, 1)
	go func() { w.done <- w.m.Run(ctx) }()
	for !w.m.running() {
		time.Sleep(time.Millisecond)
	}
}

func (w *world) stop() {
	w.cancel()
	if err := <-w.done; err != nil {
		w.t.Error(err)
	}
}

func (w *world) close() {
	w.stop()
	if err := w.s.Close(); err != nil {
		w.t.Error(err)
	}
}

// turn is a claimed row with its view.
type turn struct {
	w     *world
	claim core.Claim
	fence core.Fence
	view  *View
	text  string
}

var alive = func(core.Holder) bool { return true }

// admit stores a message in a chat.
func (w *world) admit(chat, text string, edit ...func(*core.Submission)) core.Admission {
	w.t.Helper()
	s := core.Submission{Key: core.Key("fake:" + chat), Source: "fake:" + chat, RequestID: core.RequestID(ulid.Make().String()), Text: text,
		Surface: "fake", Route: core.Route{Platform: "fake", Chat: chat}, Author: "Ann"}
	for _, e := range edit {
		e(&s)
	}
	by := core.Principal{ID: "fake:1", Name: "Ann", Caps: core.CanSubmit | core.CanRead}
	got, err := w.s.Admit(w.t.Context(), core.Intake{Entries: []core.Entry{{By: by, Submission: s}}})
	if err != nil || got[0].Err != nil {
		w.t.Fatal(err, got)
	}
	return got[0].Admission
}

func (w *world) claim(c core.ConversationID) *turn {
	w.t.Helper()
	l, err := w.s.Acquire(w.t.Context(), c, core.TurnID(ulid.Make().String()), core.Holder{Instance: "x"}, time.Minute, alive)
	if err != nil {
		w.t.Fatal(err)
	}
	claim, err := w.s.ClaimNext(w.t.Context(), l.Fence, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &turn{w: w, claim: claim, fence: l.Fence, view: w.m.Open(w.t.Context(), &claim, l.Fence)}
}

func (w *world) turn(chat string) *turn {
	w.t.Helper()
	return w.claim(w.admit(chat, "hello").Conversation)
}

func (t *turn) event(b core.EventBody) {
	t.view.On(core.Event{Conversation: t.fence.Conversation, Admission: t.claim.Admission.ID, Turn: t.fence.Turn, EventBody: b, At: time.Now()})
}

func (t *turn) say(text string) {
	t.text += text
	t.event(core.EventBody{Type: core.MessageDelta, Text: text})
}

// settle ends the turn as dispatch does, and returns the row.
func (t *turn) settle(o core.Outcome) core.Delivery {
	t.w.t.Helper()
	d, err := t.show(o)
	if err != nil {
		t.w.t.Fatal(err)
	}
	return d
}

// show is settle with the error of the view.
func (t *turn) show(o core.Outcome) (core.Delivery, error) {
	t.w.t.Helper()
	d, owed := t.commit(o)
	if !owed {
		t.view.Abandon()
		return d, nil
	}
	ctx, cancel := context.WithTimeout(t.w.t.Context(), 10*time.Second)
	defer cancel()
	if err := t.view.Settled(ctx, d); err != nil {
		return d, err
	}
	return t.row(d.ID), nil
}

func (t *turn) commit(o core.Outcome) (core.Delivery, bool) {
	t.w.t.Helper()
	if o.Result == core.Completed {
		t.view.End(o.Text)
	}
	d, owed := t.view.Final(o)
	s := core.Settlement{Outcome: o}
	if owed {
		s.Deliveries = []core.Delivery{d}
	}
	if _, err := t.w.s.Settle(t.w.t.Context(), t.fence, t.claim.Admission.ID, s); err != nil {
		t.w.t.Fatal(err)
	}
	return d, owed
}

func (t *turn) answer(text string) core.Delivery {
	t.w.t.Helper()
	return t.settle(core.Outcome{Result: core.Completed, Reason: core.ReasonAnswered, Text: text})
}

func (t *turn) row(id core.DeliveryID) core.Delivery {
	t.w.t.Helper()
	rows, err := t.w.s.Outbox().Of(t.w.t.Context(), t.claim.Admission.ID)
	if err != nil {
		t.w.t.Fatal(err)
	}
	for _, d := range rows {
		if d.ID == id {
			return d
		}
	}
	t.w.t.Fatalf("no row %s", id)
	return core.Delivery{}
}

// bubble runs fn with a world in a synctest bubble.
func bubble(t *testing.T, fn func(t *testing.T, w *world), opts ...option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, opts...)
		defer w.close()
		fn(t, w)
	})
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func wantTexts(t testing.TB, p *platform, chat string, want ...string) {
	t.Helper()
	got := p.texts(chat)
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("visible in %s: got %q, want %q", chat, got, want)
	}
}
