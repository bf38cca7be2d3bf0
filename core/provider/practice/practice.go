package practice

import (
	"context"
	"crypto/rand"
	"iter"
	"time"

	"bellhop/core"
	"bellhop/core/provider"
)

// DefaultRate is a pleasant pace, in pieces of text a second.
const DefaultRate = 60

// Options configure a Model.
type Options struct {
	Rate int // pieces a second; 0: no pause at all
}

// Model is the practice model. Safe for concurrent use.
type Model struct{ o Options }

// New returns a Model.
func New(o Options) *Model { return &Model{o} }

// Limits implements provider.Provider; they are those of a middling model.
func (m *Model) Limits(string) provider.Limits {
	return provider.Limits{Window: 128000, Output: 16384, Vision: true}
}

// Probe implements provider.Provider. Every model name is known.
func (m *Model) Probe(ctx context.Context, _ string) error { return ended(ctx) }

// Stream implements provider.Provider.
func (m *Model) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Part, error] {
	return func(yield func(provider.Part, error) bool) {
		s := speaker{ctx: ctx, yield: yield, input: size(r)}
		if m.o.Rate > 0 {
			s.pace = time.Second / time.Duration(m.o.Rate)
		}
		if err := ended(ctx); err != nil {
			s.fail(err)
			return
		}
		s.play(answer(r))
	}
}

func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &provider.Error{Kind: provider.Transport, Err: context.Cause(ctx)}
}

// speaker hands out one reply at a pace.
type speaker struct {
	ctx    context.Context
	yield  func(provider.Part, error) bool
	pace   time.Duration
	begun  bool
	over   bool // the caller left, or the reply failed
	input  int  // bytes
	output int  // bytes
	mused  int  // bytes of reasoning
}

// play says a script from its first line to its Done part.
func (s *speaker) play(sc script) {
	if sc.over > 0 {
		s.pace = sc.over / time.Duration(max(1, len(pieces(sc.text))))
	}
	for _, p := range pieces(sc.thought) {
		s.mused += len(p)
		s.say(provider.Part{Reasoning: p}, len(p))
	}
	for _, p := range pieces(sc.text) {
		s.say(provider.Part{Text: p}, len(p))
	}
	if sc.err != nil {
		s.fail(sc.err)
		return
	}
	done := provider.Done{Finish: provider.FinishStop, Model: "practice"}
	if c := sc.call; c != nil {
		c.ID = "call_" + rand.Text()
		s.say(provider.Part{Naming: c.Name}, 0)
		s.say(provider.Part{Call: c}, len(c.Args))
		done.Finish = provider.FinishTools
	}
	done.Usage = core.Usage{Calls: 1, Input: tokens(s.input), Output: tokens(s.output), Reasoning: tokens(s.mused), Estimated: true}
	s.say(provider.Part{Done: &done}, 0)
}

// say hands out one part, after the pause that the pace asks for. The first comes at once.
func (s *speaker) say(p provider.Part, bytes int) {
	if s.over {
		return
	}
	if s.begun && s.pace > 0 && bytes > 0 {
		t := time.NewTimer(s.pace)
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.ctx.Done():
		}
	}
	if err := ended(s.ctx); err != nil {
		s.fail(err)
		return
	}
	s.begun = true
	s.output += bytes
	s.over = !s.yield(p, nil)
}

func (s *speaker) fail(err error) {
	if !s.over {
		s.over = true
		s.yield(provider.Part{}, err)
	}
}

func tokens(bytes int) int { return (bytes + 3) / 4 }

func size(r provider.Request) int {
	n := len(r.System)
	for i := range r.Messages {
		n += len(r.Messages[i].Text)
	}
	return n
}
