package turn

import (
	"testing"
	"testing/synctest"

	"bellhop/core"
	"bellhop/core/provider"

	"github.com/google/go-cmp/cmp"
)

// What a reply cost is told with the name of the model that gave it, also when that is not the first.
func TestCostNamesTheModelThatAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, fails(provider.Auth))
		s.models = append(s.models, &script{name: "spare", scenes: []scene{says("Hello.")}})
		var got []string
		s.o.Spent = func(name, model string, u core.Usage) {
			if u.Input == 0 || u.Output == 0 {
				t.Errorf("nothing spent: %+v", u)
			}
			got = append(got, name+" "+model)
		}
		s.run(t.Context())
		if d := cmp.Diff([]string{"spare spare-model"}, got); d != "" {
			t.Error(d)
		}
	})
}
