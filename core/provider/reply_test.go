package provider_test

import (
	"errors"
	"testing"

	"bellhop/core"
	"bellhop/core/provider"
)

func TestGather(t *testing.T) {
	cut := &provider.Error{Kind: provider.Transport}
	say := func(err error, parts ...provider.Part) func(func(provider.Part, error) bool) {
		return func(yield func(provider.Part, error) bool) {
			for _, p := range parts {
				if !yield(p, nil) {
					return
				}
			}
			if err != nil {
				yield(provider.Part{}, err)
			}
		}
	}
	call := core.ToolCall{ID: "c"}
	parts := []provider.Part{{Reasoning: "a"}, {Text: "pl"}, {Text: "an"}, {Recant: true}, {Reasoning: "!"}, {Text: "Answer"},
		{Naming: "f"}, {Call: &call}, {Done: &provider.Done{Finish: provider.FinishTools}}}
	r, err := provider.Gather(say(nil, parts...))
	if err != nil || r.Text() != "Answer" || r.Reasoning() != "aplan!" || len(r.Calls) != 1 || r.Done.Finish != provider.FinishTools {
		t.Errorf("%q %q %v %v %v", r.Text(), r.Reasoning(), r.Calls, r.Done, err)
	}
	r, err = provider.Gather(say(cut, parts[1]))
	if !errors.Is(err, cut) || r.Text() != "pl" || r.Done != nil {
		t.Errorf("%q %v", r.Text(), err)
	}
	if provider.KindOf(errors.New("x")) != provider.Transport || provider.KindOf(err) != provider.Transport {
		t.Error("kinds")
	}
}
