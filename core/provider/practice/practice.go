// Package practice is a model that works offline.
package practice

import (
	"context"
	"iter"

	"bellhop/core"
	"bellhop/core/provider"
)

// DefaultRate is a pleasant pace in tokens a second.
const DefaultRate = 60

// Options configure a Model.
type Options struct {
	Rate int // tokens a second; 0: everything at once
}

// Model is the practice model. Safe for concurrent use.
type Model struct{ o Options }

// New returns a Model.
func New(o Options) *Model { return &Model{o} }

// Stream implements provider.Provider.
func (m *Model) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Part, error] {
	return func(yield func(provider.Part, error) bool) {
		if !yield(provider.Part{Text: "Practice."}, nil) {
			return
		}
		yield(provider.Part{Done: &provider.Done{Finish: provider.FinishStop, Usage: core.Usage{Calls: 1, Estimated: true}}}, nil)
	}
}

// Limits implements provider.Provider.
func (m *Model) Limits(string) provider.Limits { return provider.Limits{Window: 128000, Output: 8192} }

// Probe implements provider.Provider; it always succeeds.
func (m *Model) Probe(context.Context, string) error { return nil }
