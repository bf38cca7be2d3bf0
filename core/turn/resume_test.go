package turn

import (
	"strings"
	"testing"

	"bellhop/core"
)

// resumed is a stage whose transcript holds calls of a turn that died, in the given states.
func resumed(t *testing.T, calls ...core.Call) *stage {
	s := newStage(t, says("on with it"))
	s.in.Claim.Admission.Resume = true
	s.store.session = &core.Session{SystemPrompt: "p"}
	asks := core.Message{ID: 2, Admission: adm, Role: core.RoleAssistant, Content: "I do it."}
	for _, c := range calls {
		asks.Calls = append(asks.Calls, core.ToolCall{ID: c.ID, Name: c.Name, Args: jsonArgs(`{}`)})
	}
	s.store.rows = []core.Message{{ID: 1, Admission: adm, Role: core.RoleUser, Content: "hello"}, asks}
	s.store.calls = calls
	return s
}

func TestResume(t *testing.T) {
	for name, c := range map[string]struct {
		call   core.Call
		ran    int32
		asked  int
		result string
	}{
		"recorded runs":                  {core.Call{ID: "a", Name: "fire", Effect: core.Once, State: core.CallRecorded}, 1, 0, "did fire"},
		"recorded is asked about":        {core.Call{ID: "a", Name: "risky", Effect: core.Once, State: core.CallRecorded}, 1, 1, "did risky"},
		"asked is asked again":           {core.Call{ID: "a", Name: "risky", Effect: core.Once, State: core.CallAsked}, 1, 1, "did risky"},
		"started and idempotent repeats": {core.Call{ID: "a", Name: "write", Effect: core.Idempotent, State: core.CallStarted}, 1, 0, "did write"},
		"started and once never":         {core.Call{ID: "a", Name: "fire", Effect: core.Once, State: core.CallStarted}, 0, 0, "Unknown:"},
		"forbidden stays forbidden":      {core.Call{ID: "a", Name: "never", Effect: core.ReadOnly, State: core.CallRecorded}, 0, 0, "Forbidden"},
		"a tool that is gone":            {core.Call{ID: "a", Name: "gone", Effect: core.ReadOnly, State: core.CallRecorded}, 0, 0, "no tool"},
	} {
		t.Run(name, func(t *testing.T) {
			s := resumed(t, c.call)
			d := answers(core.ChoiceOnce)
			s.o.Asker = d
			n := s.counted()
			o, _ := s.run(t.Context())
			if o.Text != "on with it" || n.Load() != c.ran || len(d.asked) != c.asked || !strings.Contains(s.results()[0], c.result) {
				t.Errorf("ran %d, asked %d, %v, %+v", n.Load(), len(d.asked), s.results(), o)
			}
			if c.asked > 0 && d.asked[0].Ask.Call != "a" {
				t.Errorf("the question is about %q", d.asked[0].Ask.Call)
			}
		})
	}
}

func TestResumeGoesOnAtTheFirstOpenCall(t *testing.T) {
	s := resumed(t, core.Call{ID: "a", Name: "fire", Effect: core.Once, State: core.CallDone},
		core.Call{ID: "b", Name: "fire", Effect: core.Once, State: core.CallRecorded})
	s.store.rows = append(s.store.rows, core.Message{ID: 3, Admission: adm, Role: core.RoleTool, CallID: "a", Content: "was done"})
	n := s.counted()
	o, _ := s.run(t.Context())
	if n.Load() != 1 || o.Text != "on with it" || strings.Join(s.results(), "|") != "was done|did fire" {
		t.Errorf("ran %d: %v", n.Load(), s.results())
	}
}

func TestResumeWithNothingOpen(t *testing.T) {
	s := resumed(t, core.Call{ID: "a", Name: "fire", Effect: core.Once, State: core.CallDone})
	s.store.rows = append(s.store.rows, core.Message{ID: 3, Admission: adm, Role: core.RoleTool, CallID: "a", Content: "was done"})
	n := s.counted()
	o, _ := s.run(t.Context())
	if n.Load() != 0 || o.Text != "on with it" || len(s.store.log) != 0 {
		t.Errorf("ran %d, wrote %v", n.Load(), s.store.log)
	}
}

// Calls of an older turn that was left open are repaired on the wire, and not run.
func TestOlderCallsAreLeftAlone(t *testing.T) {
	s := newStage(t, says("x"))
	s.store.rows = []core.Message{{ID: 1, Admission: "older", Role: core.RoleUser, Content: "q"},
		{ID: 2, Admission: "older", Role: core.RoleAssistant, Calls: []core.ToolCall{{ID: "t1", Name: "fire", Args: jsonArgs(`{}`)}, {ID: "t2", Name: "fire", Args: jsonArgs(`{}`)}}},
		{ID: 3, Admission: "older", Role: core.RoleTool, CallID: "t1", Content: "real"}}
	s.o.Tools = nil
	n := s.counted()
	o, _ := New(s.o).Run(t.Context(), s.in, func(core.EventBody) {})
	if o.Text != "x" || n.Load() != 0 || s.models[0].fault != nil {
		t.Errorf("%+v, ran %d, %v", o, n.Load(), s.models[0].fault)
	}
}
