package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bellhop/core"
	"bellhop/core/provider"
	"bellhop/core/provider/providertest"
	"bellhop/core/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	conv = core.ConversationID("20261130_120000_abcdef")
	adm  = core.AdmissionID("01K0000000000000000ADMISSN")
)

// memory is a Store. Its log tells every write in order.
type memory struct {
	mu      sync.Mutex
	session *core.Session
	rows    []core.Message
	calls   []core.Call
	queued  []core.AdmissionID
	log     []string
	synced  []string                               // writes that asked for a sync
	fail    func(n int, what string) error         // the nth write
	slow    func(ctx context.Context, n int) error // before the nth write
	edited  core.Conversation
	writes  int
}

func describe(b core.Batch) string {
	var parts []string
	for _, m := range b.Messages {
		parts = append(parts, string(m.Role))
	}
	for _, c := range b.Calls {
		parts = append(parts, string(c.State))
	}
	for range b.Consume {
		parts = append(parts, "consume")
	}
	return strings.Join(parts, "+")
}

func (s *memory) Recall(context.Context, core.ConversationID, int64) ([]core.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rows), s.broken("load")
}

func (s *memory) broken(what string) error {
	s.writes++
	if s.fail != nil {
		return s.fail(s.writes, what)
	}
	return nil
}

func (s *memory) Append(ctx context.Context, f core.Fence, b core.Batch) ([]core.Message, error) {
	if s.slow != nil {
		if err := s.slow(ctx, s.writes+1); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.broken(describe(b)); err != nil {
		s.log = append(s.log, "!"+describe(b))
		return nil, err
	}
	for _, id := range b.Consume {
		i := slices.Index(s.queued, id)
		if i < 0 {
			return nil, core.Errorf("consume", core.Conflict, "not queued")
		}
		s.queued = slices.Delete(s.queued, i, i+1)
	}
	s.log = append(s.log, describe(b))
	if b.Sync {
		s.synced = append(s.synced, describe(b))
	}
	for _, c := range b.Calls {
		if i := slices.IndexFunc(s.calls, func(o core.Call) bool { return o.ID == c.ID }); i >= 0 {
			if s.calls[i].State == core.CallDone {
				return nil, core.Errorf("record call", core.Conflict, "done already")
			}
			s.calls[i].State = c.State
			continue
		}
		s.calls = append(s.calls, c)
	}
	out := slices.Clone(b.Messages)
	for i := range out {
		if at := slices.IndexFunc(s.rows, func(m core.Message) bool {
			return out[i].Role == core.RoleUser && m.Role == core.RoleUser && m.Admission == out[i].Admission
		}); at >= 0 {
			out[i] = s.rows[at]
			continue
		}
		out[i].ID = int64(len(s.rows) + 1)
		s.rows = append(s.rows, out[i])
	}
	return out, nil
}

func (s *memory) Calls(context.Context, core.AdmissionID) ([]core.Call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls), nil
}

func (s *memory) OpenSession(_ context.Context, _ core.Fence, n core.Session) (core.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.broken("session"); err != nil {
		return n, err
	}
	s.log = append(s.log, "session")
	s.session = &n
	return n, nil
}

func (s *memory) Edit(_ context.Context, _ core.ConversationID, fn func(*core.Conversation)) (core.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(&s.edited)
	return s.edited, nil
}

// script is a provider that plays one scene a call.
type script struct {
	mu     sync.Mutex
	name   string
	scenes []scene
	asked  []provider.Request
	limits provider.Limits
	fault  error // of a request that no endpoint would take
}

type scene func(ctx context.Context, yield func(provider.Part, error) bool)

func (s *script) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Part, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	if err := providertest.Legal(r); err != nil && s.fault == nil {
		s.fault = err
	}
	if len(s.scenes) == 0 {
		return func(yield func(provider.Part, error) bool) {
			yield(provider.Part{}, &provider.Error{Kind: provider.Filtered, Text: "the script of " + s.name + " has no scene left"})
		}
	}
	next := s.scenes[0]
	if len(s.scenes) > 1 || !s.loops() {
		s.scenes = s.scenes[1:]
	}
	return func(yield func(provider.Part, error) bool) { next(ctx, yield) }
}

func (s *script) loops() bool                         { return strings.HasSuffix(s.name, "*") }
func (s *script) Limits(string) provider.Limits       { return s.limits }
func (s *script) Probe(context.Context, string) error { return nil }

func (s *script) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

var done = provider.Part{Done: &provider.Done{Finish: provider.FinishStop, Usage: core.Usage{Input: 10, Output: 5}}}

func parts(list ...provider.Part) scene {
	return func(_ context.Context, yield func(provider.Part, error) bool) {
		for _, p := range list {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func text(s string) provider.Part { return provider.Part{Text: s} }

func says(pieces ...string) scene {
	var list []provider.Part
	for _, p := range pieces {
		list = append(list, text(p))
	}
	return parts(append(list, done)...)
}

func ends(f provider.Finish, pieces ...provider.Part) scene {
	return parts(append(pieces, provider.Part{Done: &provider.Done{Finish: f}})...)
}

func use(id, name, args string) provider.Part {
	return provider.Part{Call: &core.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}}
}

// uses calls one tool once.
func uses(name, args string) scene { return parts(use("c", name, args), done) }

func fails(k provider.ErrorKind, before ...provider.Part) scene {
	return fault(&provider.Error{Kind: k, Text: "scripted"}, before...)
}

func fault(err error, before ...provider.Part) scene {
	return func(_ context.Context, yield func(provider.Part, error) bool) {
		for _, p := range before {
			if !yield(p, nil) {
				return
			}
		}
		yield(provider.Part{}, err)
	}
}

// hangs says something and then nothing until its call is ended.
func hangs(before ...provider.Part) scene {
	return func(ctx context.Context, yield func(provider.Part, error) bool) {
		for _, p := range before {
			if !yield(p, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(provider.Part{}, &provider.Error{Kind: provider.Transport, Err: ctx.Err()})
	}
}

// gadget is a tool made of funcs.
type gadget struct {
	spec tool.Spec
	risk tool.Risk
	bad  error
	call func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error)
}

func (g gadget) Spec() tool.Spec { return g.spec }
func (g gadget) Assess(context.Context, tool.Env, json.RawMessage) (tool.Risk, error) {
	return tool.Risk{Verdict: cmp.Or(g.risk.Verdict, tool.Allow), Effect: g.risk.Effect, Key: g.risk.Key, Why: g.risk.Why,
		Summary: "summary", Detail: g.risk.Detail, Once: g.risk.Once}, g.bad
}
func (g gadget) Call(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
	if g.call == nil {
		return tool.Result{Text: "result of " + g.spec.Name + " " + string(args)}, nil
	}
	return g.call(ctx, env, args)
}

// desk answers questions at once, or waits.
type desk struct {
	mu     sync.Mutex
	asked  []core.Question
	answer func(ctx context.Context, q core.Question) (core.Question, error)
}

func (d *desk) Ask(ctx context.Context, q core.Question) (core.Question, error) {
	d.mu.Lock()
	d.asked = append(d.asked, q)
	d.mu.Unlock()
	return d.answer(ctx, q)
}

func answers(c core.Choice) *desk {
	return &desk{answer: func(_ context.Context, q core.Question) (core.Question, error) {
		q.State, q.Answer, q.By = core.QuestionAnswered, string(c), "telegram:1"
		return q, nil
	}}
}

// stage is a turn ready to run.
type stage struct {
	t      *testing.T
	store  *memory
	models []*script
	tools  []tool.Tool
	o      Options
	in     Input
	mu     sync.Mutex
	events []core.EventBody
	on     func(core.EventBody)
}

func newStage(t *testing.T, scenes ...scene) *stage {
	s := &stage{t: t, store: &memory{}, models: []*script{{name: "main", scenes: scenes}}}
	s.tools = []tool.Tool{
		gadget{spec: tool.Spec{Name: "look", Effect: core.ReadOnly, Parallel: true}},
		gadget{spec: tool.Spec{Name: "write", Effect: core.Idempotent}},
		gadget{spec: tool.Spec{Name: "fire", Effect: core.Once}},
		gadget{spec: tool.Spec{Name: "risky", Effect: core.Once, Verb: "Running a command"},
			risk: tool.Risk{Verdict: tool.Ask, Key: "risky:x", Why: "is risky", Detail: "all of it"}},
		gadget{spec: tool.Spec{Name: "never", Effect: core.Once}, risk: tool.Risk{Verdict: tool.Forbid, Why: "destroys"}},
		gadget{spec: tool.Spec{Name: "picky", Effect: core.Once}, bad: errors.New("path is missing")},
		gadget{spec: tool.Spec{Name: "speak", Effect: core.Once}, call: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			return tool.Result{Text: "sent", Spoke: true}, nil
		}},
		gadget{spec: tool.Spec{Name: "admins", Admin: true}},
	}
	s.o = Options{Store: s.store, Workspace: "/ws", Spill: t.TempDir(), Models: func(string) []Model {
		var list []Model
		for _, m := range s.models {
			list = append(list, Model{Provider: m, Name: m.name, Model: m.name + "-model"})
		}
		return list
	}}
	s.in = Input{Claim: &core.Claim{Conversation: core.Conversation{ID: conv}, Session: core.SessionID(conv), Admission: core.Admission{ID: adm, Conversation: conv, By: "telegram:1",
		Status: core.Started, Submission: core.Submission{Text: "hello", Route: core.Route{Platform: "p", Chat: "1"}}}},
		Fence: core.Fence{Conversation: conv, Generation: 1, Token: "t", Turn: "turn"}}
	return s
}

// run plays the turn and checks what holds for every turn.
func (s *stage) run(ctx context.Context) (core.Outcome, []core.Message) {
	s.t.Helper()
	s.o.Tools = tool.NewSet(s.tools)
	s.in.Claim.Opened = s.store.session
	over := false
	o, tail := New(s.o).Run(ctx, s.in, func(b core.EventBody) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if over {
			s.t.Errorf("news after the end: %+v", b)
		}
		s.events = append(s.events, b)
		if s.on != nil {
			s.on(b)
		}
	})
	s.mu.Lock()
	over = true
	s.mu.Unlock()
	s.check(o, tail)
	return o, tail
}

// check holds for every turn: the transcript with its tail is whole, requests were legal, words are fit for people.
func (s *stage) check(o core.Outcome, tail []core.Message) {
	s.t.Helper()
	for _, m := range s.models {
		if m.fault != nil {
			s.t.Errorf("a request that no endpoint takes: %v", m.fault)
		}
	}
	switch o.Result {
	case core.Completed, core.Failed, core.Interrupted:
	default:
		s.t.Errorf("result %q", o.Result)
	}
	if o.Reason == core.ReasonLeaseLost {
		if len(tail) > 0 || o.Text != "" {
			s.t.Errorf("after a lost lease: %q, %d rows", o.Text, len(tail))
		}
		return
	}
	if err := wholeTranscript(append(slices.Clone(s.store.rows), tail...)); err != nil {
		s.t.Errorf("%v", err)
	}
	if o.Result == core.Failed {
		if !strings.Contains(o.Text, "Reference: "+o.Ref) || o.Ref == "" || o.Error == "" && o.Reason != core.ReasonGuard && o.Reason != core.ReasonBudget {
			s.t.Errorf("a failure without reference or cause: %+v", o)
		}
		for _, bad := range []string{"{", "goroutine", "HTTP", "500", "scripted", "panic"} {
			if strings.Contains(o.Text, bad) {
				s.t.Errorf("the words for the person contain %q: %s", bad, o.Text)
			}
		}
	}
}

// wholeTranscript checks that each call has exactly one result, in call order behind it, that the person's message is
// there once, and that the last word is the assistant's.
func wholeTranscript(rows []core.Message) error {
	var open []string
	users := 0
	for i, m := range rows {
		if m.Role == core.RoleTool {
			if len(open) == 0 || open[0] != m.CallID {
				return fmt.Errorf("row %d answers %s, expected %v", i, m.CallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("row %d (%s) comes before the results of %v", i, m.Role, open)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
		if m.Role == core.RoleUser && m.Admission == adm {
			users++
		}
	}
	switch {
	case len(open) > 0:
		return fmt.Errorf("no result of %v", open)
	case users != 1:
		return fmt.Errorf("%d user messages", users)
	case len(rows) == 0 || rows[len(rows)-1].Role != core.RoleAssistant:
		return errors.New("the last word is not the assistant's")
	}
	return nil
}

// visible replays what a person saw of the text, message by message.
func (s *stage) visible() []string {
	out := []string{""}
	for _, e := range s.events {
		last := &out[len(out)-1]
		switch e.Type {
		case core.MessageDelta:
			*last += e.Text
		case core.MessageReset:
			*last = e.Text
		case core.MessageInterim:
			*last = e.Text
			out = append(out, "")
		}
	}
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// told lists the types of events, deltas left out.
func (s *stage) told() []string {
	var out []string
	for _, e := range s.events {
		if e.Type != core.MessageDelta {
			out = append(out, strings.TrimSuffix(string(e.Type)+" "+e.Status, " "))
		}
	}
	return out
}

// results lists what the model was told of its calls.
func (s *stage) results() []string {
	var out []string
	for _, m := range s.store.rows {
		if m.Role == core.RoleTool {
			out = append(out, m.Content)
		}
	}
	return out
}

func after(d time.Duration, why core.Reason) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	timer := time.AfterFunc(d, func() { cancel(&core.Interrupt{Reason: why}) })
	return ctx, func() { timer.Stop(); cancel(nil) }
}
