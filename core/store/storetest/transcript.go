package storetest

import (
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bellhop/core"
)

var transcriptTests = []test{
	{"round trip", func(k kit) {
		a := k.queue(said("1", "x"))
		f, _ := k.start(a.Conversation, "t")
		in := []core.Message{
			{Role: core.RoleUser, Admission: a.ID, Content: "x", APIContent: "X", Attachment: []core.Attachment{{Kind: "photo", Ref: "r"}}},
			{Role: core.RoleAssistant, Admission: a.ID, Reasoning: "hm", Interim: true, Calls: []core.ToolCall{{ID: "c1", Name: "shell", Args: []byte(`{"a":1}`)}}},
			{Role: core.RoleTool, Admission: a.ID, CallID: "c1", Content: "out", Synthetic: true},
		}
		out := must(k.Append(k.Context(), f, core.Batch{Messages: in}))(k)
		for i, m := range out {
			if m.ID == 0 || i > 0 && m.ID <= out[i-1].ID || m.Session != core.SessionID(a.Conversation) || m.Turn != "t" || m.At.IsZero() {
				k.Fatalf("%+v", m)
			}
		}
		if d := cmp.Diff(in, out, cmpopts.IgnoreFields(core.Message{}, "ID", "Session", "Turn", "At")); d != "" {
			k.Fatal(d)
		}
		if in[0].ID != 0 {
			k.Fatal("the caller's messages were changed")
		}
		k.equal(must(k.Load(k.Context(), a.Conversation))(k), out)
		k.equal(must(k.Said(k.Context(), a.ID))(k), out)
	}},
	{"one user message an admission", func(k kit) {
		a := k.queue(said("1", "x"))
		f, _ := k.start(a.Conversation, "t")
		m := core.Message{Role: core.RoleUser, Admission: a.ID, Content: "x"}
		first := must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{m}}))(k)
		m.Content = "other"
		k.equal(must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{m}}))(k), first)
		k.equal(len(must(k.Load(k.Context(), a.Conversation))(k)), 1)
	}},
	{"superseded rows are off the path", func(k kit) {
		a := k.queue(said("1", "x"))
		f, _ := k.start(a.Conversation, "t")
		must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleUser, Admission: a.ID, Content: "x"},
			{Role: core.RoleAssistant, Admission: a.ID, Content: "late", Superseded: true}}}))(k)
		k.equal(texts(must(k.Load(k.Context(), a.Conversation))(k)), []string{"x"})
		k.equal(texts(must(k.Said(k.Context(), a.ID))(k)), []string{"x", "late"})
	}},
	{"the history version", func(k kit) {
		a := k.queue(said("1", "x"))
		f, _ := k.start(a.Conversation, "t")
		for range 2 {
			must(k.Append(k.Context(), f, core.Batch{Messages: []core.Message{{Role: core.RoleAssistant, Content: "x"}}}))(k)
		}
		must(k.Append(k.Context(), f, core.Batch{Calls: []core.Call{{ID: "c", Admission: a.ID, State: core.CallRecorded}}}))(k)
		k.equal(must(k.Conversation(k.Context(), string(a.Conversation), ""))(k).History, int64(2))
	}},
	{"the ledger", func(k kit) {
		a := k.queue(said("1", "x"))
		f, _ := k.start(a.Conversation, "t")
		calls := []core.Call{
			{ID: "c2", Admission: a.ID, Turn: "t", Place: 0, Name: "shell", Args: []byte(`{"b":1}`), Effect: core.Once, State: core.CallRecorded},
			{ID: "c1", Admission: a.ID, Turn: "t", Place: 1, Name: "read", Args: []byte(`{}`), Effect: core.ReadOnly, State: core.CallRecorded},
		}
		must(k.Append(k.Context(), f, core.Batch{Calls: calls}))(k)
		got := must(k.Calls(k.Context(), a.ID))(k)
		if d := cmp.Diff(calls, got, cmpopts.IgnoreFields(core.Call{}, "Changed")); d != "" {
			k.Fatal(d)
		}
		for _, st := range []core.CallState{core.CallAsked, core.CallStarted, core.CallDone} {
			time.Sleep(time.Second)
			must(k.Append(k.Context(), f, core.Batch{Calls: []core.Call{{ID: "c2", State: st}}, Sync: true}))(k)
			got = must(k.Calls(k.Context(), a.ID))(k)
			if got[0].State != st || got[0].Name != "shell" || !got[0].Changed.Equal(time.Now().Truncate(time.Millisecond)) {
				k.Fatalf("%+v", got[0])
			}
		}
		_, err := k.Append(k.Context(), f, core.Batch{Calls: []core.Call{{ID: "c2", State: core.CallStarted}}})
		k.want(err, core.Conflict)
	}},
	{"steered rows end with the append", func(k kit) {
		as := k.queues(3)
		f, _ := k.start(as[0].Conversation, "t")
		b := core.Batch{Messages: []core.Message{{Role: core.RoleUser, Admission: as[1].ID, Content: "steer"}}, Consume: []core.AdmissionID{as[1].ID}}
		must(k.Append(k.Context(), f, b))(k)
		got := k.stored(as[1].ID)
		if got.Status != core.Terminal || got.Outcome.Result != core.Completed || got.Outcome.Reason != core.ReasonSteered {
			k.Fatalf("%+v", got)
		}
		other := k.queue(in("2", said("1", "x")))
		for _, id := range []core.AdmissionID{as[1].ID, as[0].ID, other.ID} {
			b = core.Batch{Messages: []core.Message{{Role: core.RoleTool, Content: "no"}}, Consume: []core.AdmissionID{as[2].ID, id}}
			_, err := k.Append(k.Context(), f, b)
			k.want(err, core.Conflict)
		}
		k.equal(k.stored(as[2].ID).Status, core.Queued)
		k.equal(texts(must(k.Load(k.Context(), f.Conversation))(k)), []string{"steer"})
		k.balanced()
	}},
	{"pages", func(k kit) {
		a := k.queue(said("1", "x"))
		f, _ := k.start(a.Conversation, "t")
		var ms []core.Message
		for _, s := range []string{"a", "b", "c", "d", "e"} {
			ms = append(ms, core.Message{Role: core.RoleAssistant, Content: s})
		}
		must(k.Append(k.Context(), f, core.Batch{Messages: ms}))(k)
		p := must(k.Page(k.Context(), a.Conversation, 0, 2))(k)
		k.equal(texts(p), []string{"e", "d"})
		p = must(k.Page(k.Context(), a.Conversation, p[1].ID, 9))(k)
		k.equal(texts(p), []string{"c", "b", "a"})
	}},
}
