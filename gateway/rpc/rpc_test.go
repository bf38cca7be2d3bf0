package rpc_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"bellhop/core"
	"bellhop/gateway/admission"
	"bellhop/gateway/ask"
	"bellhop/gateway/command"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/jsonrpc"
	"bellhop/gateway/rpc/rpctest"
	registry "bellhop/gateway/session"
	"bellhop/stream"

	"github.com/creachadair/jrpc2"
	"github.com/google/go-cmp/cmp"
)

func TestPrompt(t *testing.T) {
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	m := p.call("prompt.submit", obj{"session_id": id, "text": "hi"})
	if len(p.kept) > 0 {
		t.Errorf("%v came before the reply", types(p.kept))
	}
	var r receipt
	if err := json.Unmarshal(m.Result, &r); err != nil || r.Status != "streaming" || r.Admission == "" {
		t.Fatalf("receipt %s: %v", m.Result, err)
	}
	events := p.until("message.complete")
	want := []string{"message.start", "message.delta", "message.delta", "message.complete"}
	if diff := cmp.Diff(want, types(events)); diff != "" {
		t.Error(diff)
	}
	for i, e := range events {
		if e.Session != id || e.Admission != r.Admission || e.Turn == "" {
			t.Errorf("event %d is of %s %s", i, e.Session, e.Admission)
		}
		if i > 0 && e.Seq <= events[i-1].Seq {
			t.Errorf("numbers do not rise: %d after %d", e.Seq, events[i-1].Seq)
		}
	}
	// A client that submits when it hears the end is not told "busy".
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "again"})
	p.until("message.complete")
}

func TestPayloads(t *testing.T) {
	usage := &core.Usage{Input: 3, Output: 4}
	ask := &core.Ask{Kind: core.Approval, Title: "Run?", Detail: "ls", Tool: "shell", Call: "c"}
	tests := []struct {
		body core.EventBody
		want string
	}{
		{core.EventBody{Type: core.ThinkingDelta, Text: "hm"}, `{"text":"hm"}`},
		{core.EventBody{Type: core.ReasoningDelta, Text: "hm"}, `{"text":"hm"}`},
		{core.EventBody{Type: core.ReasoningReady}, `{}`},
		{core.EventBody{Type: core.ToolGenerating, Name: "shell"}, `{"name":"shell"}`},
		{core.EventBody{Type: core.ToolStart, Call: "c", Name: "shell", Detail: "ls"}, `{"context":"ls","id":"c","name":"shell"}`},
		{core.EventBody{Type: core.ToolProgress, Call: "c", Name: "shell", Detail: "1"}, `{"id":"c","name":"shell","preview":"1"}`},
		{core.EventBody{Type: core.ToolComplete, Call: "c", Name: "shell", Detail: "2 files", Diff: "+a", Seconds: 1.5},
			`{"duration":1.5,"id":"c","inline_diff":"+a","name":"shell","status":"","summary":"2 files"}`},
		{core.EventBody{Type: core.MessageDelta, Text: "<b>"}, `{"text":"<b>","rendered":""}`},
		{core.EventBody{Type: core.MessageReset, Text: "x"}, `{"text":"x"}`},
		{core.EventBody{Type: core.MessageComplete, Text: "x", Status: "complete", Usage: usage},
			`{"rendered":"<p>x</p>\n","status":"complete","text":"x","usage":{"calls":0,"input_tokens":3,"output_tokens":4,"cache_read_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0,"cost_usd":0,"estimated":false},"warning":""}`},
		{core.EventBody{Type: core.ApprovalRequest, Question: "q", Ask: ask},
			`{"call_id":"c","choices":["once","session","always","deny"],"detail":"ls","kind":"approval","question":"ls","request_id":"q","risk":"","title":"Run?","tool":"shell"}`},
		{core.EventBody{Type: core.StatusUpdate, Text: "waiting"}, `{"message":"waiting","status":""}`},
		{core.EventBody{Type: core.ErrorEvent, Text: "no"}, `{"message":"no","status":""}`},
		{core.EventBody{Type: core.QueueUpdate, Place: 2}, `{"message":"","place":2,"status":""}`},
	}
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	for _, tt := range tests {
		b.Hub.Emit(core.ConversationID(id), "A", "T", tt.body)
		e := p.event()
		if e.Type != string(tt.body.Type) || string(e.Payload) != tt.want {
			t.Errorf("%s %s\nwant %s", e.Type, e.Payload, tt.want)
		}
	}
}

// The real things fit.
var (
	_ rpc.Admission = (*admission.Desk)(nil)
	_ rpc.Ask       = (*ask.Desk)(nil)
	_ rpc.Sessions  = (*registry.Registry)(nil)
	_ rpc.Commands  = (*command.Table)(nil)
	_ rpc.Hub       = (*stream.Hub)(nil)
	_ rpc.Store     = core.Store(nil)
	_ rpc.Facts     = core.Grants(nil)
)

// TestConformance holds the whole server to what the specification says of malformed calls.
func TestConformance(t *testing.T) {
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	tests := []struct{ in, want string }{
		{`{"jsonrpc":"2.0","method":"session.list","id":1`, `-32700 null`},
		{`{"method":"session.list","id":1}`, `-32600 1`},
		{`{"jsonrpc":"2.0","method":"no.such","id":"x"}`, `-32601 "x"`},
		{`{"jsonrpc":"2.0","method":"session.list","params":[],"id":2}`, `-32602 2`},
		{`{"jsonrpc":"2.0","method":"session.list","params":{"limit":"ten"},"id":3}`, `-32602 3`},
		{`{"jsonrpc":"2.0","method":"session.usage","params":{},"id":4}`, `4002 4`},
		{`{"jsonrpc":"2.0","method":"session.usage","params":{"session_id":"no"},"id":5}`, `4001 5`},
		{`[]`, `-32600 null`},
		{strings.Repeat("x", jsonrpc.MaxMessage+1), `-32600 null`},
	}
	for _, tt := range tests {
		if err := p.conn.Write(t.Context(), []byte(tt.in)); err != nil {
			t.Fatal(err)
		}
		m := p.read()
		if m.Error == nil {
			t.Errorf("%.60s was answered with %s", tt.in, m.Result)
			continue
		}
		id := string(m.ID)
		if id == "" {
			id = "null"
		}
		code, _ := json.Marshal(m.Error.Code)
		if got := string(code) + " " + id; got != tt.want {
			t.Errorf("%.60s: %s, want %s", tt.in, got, tt.want)
		}
	}
	// A notification is not answered, whatever is wrong with it; the next answer is that of the next call.
	if err := p.conn.Write(t.Context(), []byte(`{"jsonrpc":"2.0","method":"no.such"}`)); err != nil {
		t.Fatal(err)
	}
	ok[obj](p, "setup.status", nil)
}

func TestBatch(t *testing.T) {
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	in := `[{"jsonrpc":"2.0","method":"setup.status","id":1},{"jsonrpc":"2.0","method":"setup.status"},{"foo":1},` +
		`{"jsonrpc":"2.0","method":"session.resume","params":{"session_id":"no"},"id":2}]`
	if err := p.conn.Write(t.Context(), []byte(in)); err != nil {
		t.Fatal(err)
	}
	data, err := p.conn.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var replies []jsonrpc.Message
	if err := json.Unmarshal(data, &replies); err != nil || len(replies) != 3 {
		t.Fatalf("%s: %v", data, err)
	}
	if replies[0].Error != nil || replies[1].Error.Code != jsonrpc.InvalidRequest || replies[2].Error.Code != rpc.NoSession {
		t.Errorf("replies %s", data)
	}
}

// TestForeignClient lets a client of another library talk to the server.
func TestForeignClient(t *testing.T) {
	b := rpctest.New(t, echo)
	p := dial(t, rpc.New(b.Config()), rpc.Local())
	heard := make(chan string, 16)
	c := jrpc2.NewClient(foreign{p.conn}, &jrpc2.ClientOptions{OnNotify: func(r *jrpc2.Request) {
		var e event
		if err := r.UnmarshalParams(&e); err != nil {
			t.Error(err)
		}
		heard <- e.Type
	}})
	defer c.Close()
	var s session
	if err := c.CallResult(t.Context(), "session.create", obj{}, &s); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), "prompt.submit", obj{"session_id": s.ID, "text": "hi"}); err != nil {
		t.Fatal(err)
	}
	for e := range heard {
		if e == "message.complete" {
			break
		}
	}
	_, err := c.Call(t.Context(), "session.usage", obj{"session_id": "no"})
	if e, ok := err.(*jrpc2.Error); !ok || e.Code != 4001 {
		t.Errorf("error %v", err)
	}
}

// foreign is a Conn as that library wants it.
type foreign struct{ c jsonrpc.Conn }

func (f foreign) Send(b []byte) error   { return f.c.Write(context.Background(), b) }
func (f foreign) Recv() ([]byte, error) { return f.c.Read(context.Background()) }
func (f foreign) Close() error          { return f.c.Close() }

func TestBusyAndQueue(t *testing.T) {
	g := make(steps)
	b := rpctest.New(t, g.script)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	first := ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "one", "request_id": "r1"})
	p.until("message.delta")

	if text := p.fails("prompt.submit", obj{"session_id": id, "text": "two"}, rpc.SessionNow); text != "session busy" {
		t.Errorf("busy says %q", text)
	}
	if n := b.Rows(core.ConversationID(id)); n != 1 {
		t.Errorf("%d rows after a refusal, want 1", n)
	}
	again := ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "one", "request_id": "r1"})
	if again.Admission != first.Admission || !again.Duplicate {
		t.Errorf("the same request id gave %+v", again)
	}
	p.fails("prompt.submit", obj{"session_id": id, "text": "other", "request_id": "r1"}, rpc.SessionNow)

	second := ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "two", "queue": true})
	third := ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "three", "queue": true})
	if second.Place != 1 || third.Place != 2 {
		t.Errorf("places %d, %d", second.Place, third.Place)
	}
	type queue struct {
		Queue []struct {
			ID     string `json:"admission_id"`
			Text   string `json:"text"`
			Status string `json:"status"`
			Place  int    `json:"place"`
		} `json:"queue"`
	}
	q := ok[queue](p, "queue.edit", obj{"admission_id": second.Admission, "text": "deux"})
	if len(q.Queue) != 3 || q.Queue[0].Status != "started" || q.Queue[1].Text != "deux" || q.Queue[2].Place != 2 {
		t.Errorf("queue %+v", q)
	}
	p.fails("queue.edit", obj{"admission_id": first.Admission, "text": "late"}, rpc.SessionNow)
	p.fails("queue.edit", obj{"admission_id": second.Admission, "text": " "}, rpc.BadParams)
	p.fails("queue.remove", obj{"admission_id": "no"}, rpc.SessionNow)
	q = ok[queue](p, "queue.remove", obj{"admission_id": second.Admission})
	if len(q.Queue) != 2 {
		t.Errorf("queue %+v", q)
	}
	p.fails("queue.remove", obj{"admission_id": second.Admission}, rpc.SessionNow)

	ok[queue](p, "queue.now", obj{"admission_id": third.Admission})
	events := p.until("message.complete")
	if got := string(events[len(events)-1].Payload); !strings.Contains(got, `"status":"interrupted"`) {
		t.Errorf("send now ended the turn with %s", got)
	}
	if e := p.until("message.start"); e[len(e)-1].Admission != third.Admission {
		t.Errorf("next is %s, want %s", e[len(e)-1].Admission, third.Admission)
	}
	close(g)
	p.until("message.complete")
	if q := ok[queue](p, "queue.list", obj{"session_id": id}); len(q.Queue) != 0 {
		t.Errorf("queue %+v", q)
	}
}

func TestInterrupt(t *testing.T) {
	g := make(steps)
	b := rpctest.New(t, g.script)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	if r := ok[receipt](p, "session.interrupt", obj{"session_id": id}); r.Status != "idle" {
		t.Errorf("idle says %+v", r)
	}
	own := ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "one"})
	p.until("message.delta")
	if r := ok[receipt](p, "session.interrupt", obj{"session_id": id, "admission_id": "another"}); r.Status != "idle" {
		t.Errorf("another turn's interrupt hit: %+v", r)
	}
	r := ok[receipt](p, "session.interrupt", obj{"session_id": id, "admission_id": own.Admission})
	if r.Status != "interrupted" || r.Admission != own.Admission {
		t.Errorf("interrupt %+v", r)
	}
	rows, err := b.Recent(t.Context(), core.ConversationID(id), 1)
	if err != nil || len(rows) != 1 || string(rows[0].Submission.Stops) != own.Admission || rows[0].Outcome.Reason != core.ReasonCommand {
		t.Errorf("the stop is not stored: %+v %v", rows, err)
	}
	e := p.until("message.complete")
	if got := string(e[len(e)-1].Payload); !strings.Contains(got, `"status":"interrupted"`) {
		t.Errorf("complete %s", got)
	}
}

// steerable answers "one" when it may go on, and tells what was put into that turn; anything else it repeats.
func steerable(began chan<- struct{}, goOn <-chan struct{}, took chan<- string) rpctest.Script {
	return func(_ context.Context, turn *rpctest.Turn) {
		if turn.Prompt() != "one" {
			turn.Say("you said: " + turn.Prompt())
			return
		}
		close(began)
		<-goOn
		for _, s := range turn.Live.TakeSteered() {
			took <- s.Text
		}
	}
}

func TestSteer(t *testing.T) {
	took := make(chan string, 1)
	began := make(chan struct{})
	g := make(chan struct{})
	b := rpctest.New(t, steerable(began, g, took))
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "one"})
	<-began
	if r := ok[receipt](p, "session.steer", obj{"session_id": id, "text": "left"}); r.Status != "steered" || r.Admission == "" {
		t.Errorf("steer %+v", r)
	}
	close(g)
	if got := <-took; got != "left" {
		t.Errorf("the turn was told %q", got)
	}
}

// TestSteerTooLate: what comes after the turn's last look at it is a message of its own, and that is said.
func TestSteerTooLate(t *testing.T) {
	began, g := make(chan struct{}), make(chan struct{})
	b := rpctest.New(t, func(ctx context.Context, turn *rpctest.Turn) {
		if turn.Prompt() == "one" {
			close(began)
			<-g
		}
		turn.Say("you said: " + turn.Prompt())
	})
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "one"})
	<-began
	r := ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "/steer left"})
	if r.Status != "steered" {
		t.Errorf("steer %+v", r)
	}
	close(g)
	told := last(p.until("status.update"))
	if told.Admission != r.Admission || !strings.Contains(string(told.Payload), `"kind":"steer"`) || !strings.Contains(string(told.Payload), "answered by itself") {
		t.Errorf("told %+v %s", told, told.Payload)
	}
	end := last(p.until("message.complete"))
	if end.Admission != r.Admission || !strings.Contains(string(end.Payload), "you said: left") {
		t.Errorf("the end %+v %s", end, end.Payload)
	}
	if r := ok[receipt](p, "session.steer", obj{"session_id": id, "text": "right"}); r.Status != "queued" {
		t.Errorf("steer of nothing %+v", r)
	}
}

func TestSessions(t *testing.T) {
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	made := ok[session](p, "session.create", obj{"key": "work", "title": "My work"})
	if made.Key != "rpc:work" || made.Title != "My work" {
		t.Errorf("made %+v", made)
	}
	if again := ok[session](p, "session.create", obj{"key": "work"}); again.ID != made.ID {
		t.Errorf("the same key gave %+v", again)
	}
	p.fails("session.create", obj{"key": "telegram:1"}, rpc.BadParams)
	for _, ref := range []string{made.ID, "work", "rpc:work", "My work"} {
		if got := ok[session](p, "session.resume", obj{"session_id": ref}); got.ID != made.ID {
			t.Errorf("%s opened %+v", ref, got)
		}
	}
	if got := ok[session](p, "session.resume", obj{"title": "My work"}); got.ID != made.ID {
		t.Errorf("the title opened %+v", got)
	}
	p.fails("session.resume", nil, rpc.BadParams)
	p.fails("session.resume", obj{"session_id": "nope"}, rpc.NoSession)
	if got := ok[session](p, "session.title", obj{"session_id": made.ID, "title": "Other"}); got.Title != "Other" {
		t.Errorf("retitled %+v", got)
	}
	p.fails("session.title", obj{"session_id": made.ID, "title": " "}, rpc.BadParams)

	ok[receipt](p, "prompt.submit", obj{"session_id": made.ID, "text": "hi"})
	p.until("message.complete")
	type usage struct {
		Turns  int `json:"turns"`
		Output int `json:"output_tokens"`
	}
	if u := ok[usage](p, "session.usage", obj{"session_id": made.ID}); u.Turns != 1 || u.Output == 0 {
		t.Errorf("usage %+v", u)
	}
	type list struct {
		Sessions []session `json:"sessions"`
	}
	if l := ok[list](p, "session.list", nil); len(l.Sessions) != 1 || l.Sessions[0].ID != made.ID {
		t.Errorf("list %+v", l)
	}
	type history struct {
		Messages []rpc.Message `json:"messages"`
		More     bool          `json:"more"`
	}
	h := ok[history](p, "session.history", obj{"session_id": made.ID, "limit": 1})
	if len(h.Messages) != 1 || h.Messages[0].Text != "you said: hi" || h.Messages[0].Rendered == "" || !h.More {
		t.Errorf("newest page %+v", h)
	}
	h = ok[history](p, "session.history", obj{"session_id": made.ID, "before": h.Messages[0].ID})
	if len(h.Messages) != 1 || h.Messages[0].Role != core.RoleUser || h.More {
		t.Errorf("older page %+v", h)
	}
	ok[obj](p, "session.close", obj{"session_id": made.ID})
	if n := b.Hub.Listeners(core.ConversationID(made.ID)); n != 0 {
		t.Errorf("%d listeners after the close", n)
	}
}

// TestMovedKey: a conversation whose own key points elsewhere by now still gets its messages.
func TestMovedKey(t *testing.T) {
	b := rpctest.New(t, echo)
	conv, err := b.Bind(t.Context(), "telegram:1", "", "telegram:1", "telegram")
	if err != nil {
		t.Fatal(err)
	}
	b.Unbind("telegram:1")
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	ok[receipt](p, "prompt.submit", obj{"session_id": conv.ID, "text": "hi"})
	if e := p.event(); e.Session != string(conv.ID) {
		t.Errorf("the message went to %s", e.Session)
	}
	p.until("message.complete")
}

func TestSomebodyElse(t *testing.T) {
	b := rpctest.New(t, func(ctx context.Context, t *rpctest.Turn) {
		t.Question(ctx, core.Ask{Kind: core.Approval, Title: "Run?"})
	})
	s := rpc.New(b.Config())
	owner := connect(t, s, rpc.Local())
	id := owner.create()
	row := ok[receipt](owner, "prompt.submit", obj{"session_id": id, "text": "x"})
	waits := ok[receipt](owner, "prompt.submit", obj{"session_id": id, "text": "y", "queue": true})
	asked := owner.until("approval.request")
	var q struct {
		ID string `json:"request_id"`
	}
	if err := json.Unmarshal(asked[len(asked)-1].Payload, &q); err != nil {
		t.Fatal(err)
	}

	other := connect(t, s, core.Principal{ID: "api:other", Caps: core.CanRead | core.CanSubmit | core.CanControl | core.CanApprove | core.CanRespond})
	for method, params := range map[string]obj{
		"session.resume": {"session_id": id}, "session.history": {"session_id": id}, "session.usage": {"session_id": id},
		"session.title": {"session_id": id, "title": "mine"}, "session.close": {"session_id": id},
		"session.interrupt": {"session_id": id}, "session.steer": {"session_id": id, "text": "x"},
		"session.events.since": {"session_id": id, "seq": 0}, "prompt.submit": {"session_id": id, "text": "x"},
		"queue.list": {"session_id": id}, "queue.remove": {"admission_id": waits.Admission},
		"queue.edit": {"admission_id": waits.Admission, "text": "x"}, "queue.now": {"admission_id": waits.Admission},
		"command.dispatch": {"session_id": id, "name": "status"}, "approval.respond": {"session_id": id, "choice": "once"},
	} {
		other.fails(method, params, rpc.NoSession)
	}
	other.fails("approval.respond", obj{"request_id": q.ID, "choice": "once"}, rpc.SessionNow)
	type list struct {
		Sessions []session `json:"sessions"`
	}
	if l := ok[list](other, "session.list", nil); len(l.Sessions) != 0 {
		t.Errorf("a stranger sees %+v", l)
	}
	reader := connect(t, s, core.Principal{ID: "local", Caps: core.CanRead})
	reader.fails("session.interrupt", obj{"session_id": id}, rpc.NotAllowed)
	reader.fails("session.create", nil, rpc.NotAllowed)
	ok[receipt](owner, "session.interrupt", obj{"session_id": id, "admission_id": row.Admission})
}

func TestCommands(t *testing.T) {
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	type said struct {
		receipt
		Session  string       `json:"session_id"`
		Rendered string       `json:"rendered"`
		Buttons  []rpc.Button `json:"buttons"`
	}
	r := ok[said](p, "command.dispatch", obj{"session_id": id, "name": "status"})
	if r.Status != "command" || r.Text != "all **well**" || r.Rendered == "" || len(r.Buttons) != 1 {
		t.Errorf("status said %+v", r)
	}
	r = ok[said](p, "prompt.submit", obj{"session_id": id, "text": "/Status", "request_id": "c1"})
	if r.Status != "command" || r.Text == "" {
		t.Errorf("a command in a prompt said %+v", r)
	}
	r = ok[said](p, "prompt.submit", obj{"session_id": id, "text": "/Status", "request_id": "c1"})
	if !r.Duplicate || r.Text != "" {
		t.Errorf("the same command ran twice: %+v", r)
	}
	if r = ok[said](p, "command.dispatch", obj{"session_id": id, "name": "new"}); r.Session == "" || r.Session == id {
		t.Errorf("new said %+v", r)
	}
	r = ok[said](p, "command.dispatch", obj{"session_id": id, "name": "/retry", "args": "once more"})
	if r.Status != "streaming" || r.Admission == "" {
		t.Errorf("retry said %+v", r)
	}
	e := p.until("message.complete")
	if !strings.Contains(string(e[len(e)-1].Payload), "you said: once more") {
		t.Errorf("the turn said %s", e[len(e)-1].Payload)
	}
	if text := p.fails("command.dispatch", obj{"session_id": id, "name": "restart"}, jsonrpc.ServerError); strings.Contains(text, "panic") {
		t.Errorf("a panic is told: %s", text)
	}
	p.fails("command.dispatch", obj{"session_id": id, "name": "nope"}, rpc.BadParams)
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "/usr/bin is a folder"})
	p.until("message.complete")

	type catalog struct {
		Commands []rpc.Command `json:"commands"`
	}
	if c := ok[catalog](p, "commands.catalog", nil); len(c.Commands) != 4 || !c.Commands[0].Inline {
		t.Errorf("catalog %+v", c)
	}
	user := connect(t, rpc.New(b.Config()), core.Principal{ID: "x", Caps: core.CanRead})
	if c := ok[catalog](user, "commands.catalog", nil); len(c.Commands) != 3 {
		t.Errorf("a user's catalog %+v", c)
	}
}

func TestSystem(t *testing.T) {
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	type setup struct {
		Version  string `json:"version"`
		Practice bool   `json:"practice"`
	}
	if s := ok[setup](p, "setup.status", nil); s.Version != "test" || !s.Practice {
		t.Errorf("setup %+v", s)
	}
	type discovered struct {
		Methods []rpc.Described `json:"methods"`
		Events  []string        `json:"events"`
	}
	d := ok[discovered](p, "rpc.discover", nil)
	if len(d.Methods) != 24 || len(d.Events) < 20 {
		t.Errorf("%d methods, %d events", len(d.Methods), len(d.Events))
	}
	for _, m := range d.Methods {
		if m.About == "" {
			t.Errorf("%s says nothing about itself", m.Name)
		}
		for _, param := range m.Params {
			if param.Required { // every required parameter is really asked for
				p.fails(m.Name, obj{}, rpc.BadParams)
			}
		}
		p.fails(m.Name, []int{1}, jsonrpc.InvalidParams)
	}
}

// TestStoreDown: an admission that fails is an error without internals, and the connection goes on.
func TestStoreDown(t *testing.T) {
	b := rpctest.New(t, echo)
	p := connect(t, rpc.New(b.Config()), rpc.Local())
	id := p.create()
	for _, err := range []error{core.E("insert into secret_table", core.Unavailable, nil), core.E("insert into secret_table", core.NoSpace, nil),
		core.Errorf("insert into secret_table", core.Internal, "password=hunter2")} {
		b.Fail(err)
		text := p.fails("prompt.submit", obj{"session_id": id, "text": "hi"}, jsonrpc.ServerError)
		if strings.Contains(text, "secret_table") || strings.Contains(text, "hunter2") {
			t.Errorf("internals are told: %s", text)
		}
	}
	b.Fail(nil)
	ok[receipt](p, "prompt.submit", obj{"session_id": id, "text": "hi"})
	p.until("message.complete")
}
