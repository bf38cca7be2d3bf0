package readback

import (
	"fmt"
	"testing"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

var (
	asked  = core.Message{Role: core.RoleUser, Content: "do it", Admission: "a1"}
	answer = core.Message{Role: core.RoleAssistant, Content: "done", Admission: "a1"}
)

func calling(ids ...string) core.Message {
	m := core.Message{Role: core.RoleAssistant, Interim: true}
	for _, id := range ids {
		m.Calls = append(m.Calls, core.ToolCall{ID: id, Name: "shell"})
	}
	return m
}

func result(id string) core.Message {
	return core.Message{Role: core.RoleTool, CallID: id, Content: "ok"}
}

func call(id string, s core.CallState, e core.Effect) core.Call {
	return core.Call{ID: id, Name: "shell", State: s, Effect: e}
}

func unknown() core.Admission {
	return core.Admission{ID: "a1", Conversation: "c", Status: core.Unknown, By: "p:1", Turn: "t1", Generation: 3}
}

func TestDecide(t *testing.T) {
	for _, tc := range []struct {
		name   string
		said   []core.Message
		calls  []core.Call
		want   Case
		resume bool
	}{
		{"nothing at all", nil, nil, NoCall, false},
		{"the message is stored", []core.Message{asked}, nil, NoCall, false},
		{"it was steered", []core.Message{asked, {Role: core.RoleUser, Content: "and that"}}, nil, NoCall, true},
		{"something was said on the way", []core.Message{asked, {Role: core.RoleAssistant, Content: "let me see", Interim: true}}, nil, NoCall, true},
		{"the answer is stored", []core.Message{asked, answer}, nil, FinalStored, false},
		{"the answer is stored after calls", []core.Message{asked, calling("x"), result("x"), answer},
			[]core.Call{call("x", core.CallDone, core.Once)}, FinalStored, false},
		{"a synthetic closing line is no answer", []core.Message{asked, {Role: core.RoleAssistant, Content: "(cut)", Synthetic: true}}, nil, NoCall, true},
		{"an empty line is no answer", []core.Message{asked, {Role: core.RoleAssistant}}, nil, NoCall, true},
		{"asked for in the transcript only", []core.Message{asked, calling("x")}, nil, CallsDone, true},
		{"recorded, not started", []core.Message{asked, calling("x")}, []core.Call{call("x", core.CallRecorded, core.Once)}, CallsDone, true},
		{"asked about, not started", []core.Message{asked, calling("x")}, []core.Call{call("x", core.CallAsked, core.Once)}, CallsDone, true},
		{"done with its result", []core.Message{asked, calling("x"), result("x")}, []core.Call{call("x", core.CallDone, core.Once)}, CallsDone, true},
		{"started, its result is stored", []core.Message{asked, calling("x"), result("x")}, []core.Call{call("x", core.CallStarted, core.Once)}, CallsDone, true},
		{"started, may be repeated", []core.Message{asked, calling("x")}, []core.Call{call("x", core.CallStarted, core.Idempotent)}, Repeatable, true},
		{"started, only reads", []core.Message{asked, calling("x")}, []core.Call{call("x", core.CallStarted, core.ReadOnly)}, Repeatable, true},
		{"started, has effects", []core.Message{asked, calling("x")}, []core.Call{call("x", core.CallStarted, core.Once)}, Effects, false},
		{"started, nobody knows its effect", []core.Message{asked, calling("x")}, []core.Call{call("x", core.CallStarted, "")}, Effects, false},
		{"done, but its result is not stored", []core.Message{asked, calling("x")}, []core.Call{call("x", core.CallDone, core.Once)}, Effects, false},
		{"one of two has effects", []core.Message{asked, calling("x", "y")},
			[]core.Call{call("x", core.CallStarted, core.Idempotent), call("y", core.CallStarted, core.Once)}, Effects, false},
		{"the one with effects has its result", []core.Message{asked, calling("x", "y"), result("y")},
			[]core.Call{call("x", core.CallStarted, core.Idempotent), call("y", core.CallDone, core.Once)}, Repeatable, true},
		{"C131: the first is done, the second was not started", []core.Message{asked, calling("x", "y"), result("x")},
			[]core.Call{call("x", core.CallDone, core.Once), call("y", core.CallRecorded, core.Once)}, CallsDone, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Decide(unknown(), tc.said, tc.calls, nil)
			if d.Case != tc.want || d.Resume != tc.resume {
				t.Errorf("case %d resume %v, want case %d resume %v (%s)", d.Case, d.Resume, tc.want, tc.resume, d.Why)
			}
		})
	}
}

// TestDecideEveryCombination compares the decision with the words of the specification, for every combination of two
// calls' states, effects and results, of a stored answer, and of a row that goes on from another.
func TestDecideEveryCombination(t *testing.T) {
	type one struct {
		state  core.CallState // "": there is no such call
		effect core.Effect
		result bool
	}
	var each []one
	for _, s := range []core.CallState{"", core.CallRecorded, core.CallAsked, core.CallStarted, core.CallDone} {
		for _, e := range []core.Effect{core.ReadOnly, core.Idempotent, core.Once, ""} {
			for _, r := range []bool{false, true} {
				each = append(each, one{s, e, r})
			}
		}
	}
	n := 0
	for _, x := range each {
		for _, y := range each {
			for flags := range 4 {
				final, resume := flags&1 != 0, flags&2 != 0
				said, calls := []core.Message{asked}, []core.Call(nil)
				counts := struct{ calls, open, effects int }{}
				for id, c := range map[string]one{"x": x, "y": y} {
					if c.state == "" {
						continue
					}
					said = append(said, calling(id))
					calls = append(calls, call(id, c.state, c.effect))
					counts.calls++
					if c.result {
						said = append(said, result(id))
					} else if c.state == core.CallStarted || c.state == core.CallDone {
						counts.open++
						if c.effect != core.ReadOnly && c.effect != core.Idempotent {
							counts.effects++
						}
					}
				}
				if final {
					said = append(said, answer)
				}
				want := Effects
				switch {
				case final:
					want = FinalStored
				case counts.calls == 0:
					want = NoCall
				case counts.open == 0:
					want = CallsDone
				case counts.effects == 0:
					want = Repeatable
				}
				row := unknown()
				row.Resume = resume
				checkDecision(t, Decide(row, said, calls, nil), want, resume, fmt.Sprintf("%+v %+v final %v", x, y, final))
				n++
			}
		}
	}
	if n != 40*40*4 {
		t.Errorf("%d combinations", n)
	}
}

func checkDecision(t *testing.T, d Decision, want Case, resume bool, what string) {
	t.Helper()
	if d.Case != want {
		t.Fatalf("%s: case %d, want %d", what, d.Case, want)
	}
	switch d.Case {
	case FinalStored:
		if d.Outcome.Result != core.Completed || d.Outcome.Text != "done" || d.Retry {
			t.Fatalf("%s: %+v", what, d)
		}
	case Effects:
		if d.Outcome != (core.Outcome{}) || d.Retry || d.Resume || len(d.Open) == 0 {
			t.Fatalf("%s: an undecided turn is settled: %+v", what, d)
		}
	default:
		if d.Outcome.Result != core.Interrupted || d.Outcome.Reason != core.ReasonRetried || !d.Retry || d.Resume != (resume || want != NoCall) {
			t.Fatalf("%s: %+v", what, d)
		}
	}
	for _, c := range d.Calls {
		if want != Repeatable || c.State != core.CallRecorded || once(c) {
			t.Fatalf("%s: moves %+v", what, c)
		}
	}
}

func TestDecideDelivery(t *testing.T) {
	routed := unknown()
	routed.Submission.Route = core.Route{Platform: "chat", Chat: "1"}
	said := []core.Message{asked, answer}
	preview := core.Delivery{ID: "d1", Kind: core.DeliverPreview, State: core.DeliveryLive, Admission: "a1",
		Route: core.Route{Platform: "chat", Chat: "moved"}, Parts: []core.Part{{Ref: "7"}}}

	if d := Decide(unknown(), said, nil, nil); d.Deliver != nil {
		t.Error("something is owed to nowhere")
	}
	d := Decide(routed, said, nil, nil)
	if d.Deliver == nil || d.Deliver.Text != "done" || d.Deliver.State != core.DeliveryOwed || d.Deliver.Kind != core.DeliverFinal {
		t.Errorf("owed: %+v", d.Deliver)
	}
	d = Decide(routed, said, nil, []core.Delivery{preview})
	if d.Deliver == nil || d.Deliver.ID != "" || d.Deliver.Route.Chat != "moved" || len(d.Deliver.Parts) != 1 {
		t.Errorf("the preview is not adopted: %+v", d.Deliver)
	}
	d = Decide(routed, said, nil, []core.Delivery{preview, {ID: "d2", Kind: core.DeliverFinal, Admission: "a1"}})
	if d.Deliver != nil {
		t.Error("owed twice")
	}
}

// C131: each call has exactly one result, in call order, and the transcript is closed.
func TestClose(t *testing.T) {
	said := []core.Message{asked, calling("x", "y"), result("x"), calling("z")}
	calls := []core.Call{call("x", core.CallDone, core.Once), call("y", core.CallStarted, core.Once), call("z", core.CallRecorded, core.Once)}
	said[1].Session = "s1"
	said[3].Session = "s1"
	tail, ended := Close(unknown(), said, calls, Unseen, "(cut off)")
	var got []string
	for _, m := range tail {
		if !m.Synthetic || m.Admission != "a1" || m.Turn != "t1" || m.Session != "s1" || m.At.IsZero() {
			t.Errorf("%+v", m)
		}
		got = append(got, string(m.Role)+" "+m.CallID+" "+m.Content)
	}
	want := []string{"tool y " + Unseen, "tool z " + Untouched, "assistant  (cut off)"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(ended) != 2 || ended[0].ID != "y" || ended[1].ID != "z" || ended[0].State != core.CallDone {
		t.Errorf("%+v", ended)
	}
	if tail, ended := Close(unknown(), nil, nil, Unseen, ""); len(tail)+len(ended) != 0 {
		t.Error("something comes of nothing")
	}
}
