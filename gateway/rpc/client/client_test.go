package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/client"
	"bellhop/gateway/rpc/jsonrpc"
	"bellhop/gateway/rpc/proof"
	"bellhop/gateway/rpc/rpctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// line is a way to a server that can be cut.
type line struct {
	srv *rpc.Server
	wg  sync.WaitGroup

	mu   sync.Mutex
	conn jsonrpc.Conn
}

func newLine(t *testing.T, s *rpc.Server) *line {
	l := &line{srv: s}
	t.Cleanup(func() {
		l.cut()
		l.wg.Wait()
	})
	return l
}

func (l *line) dial(context.Context) (jsonrpc.Conn, error) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	conn := jsonrpc.Lines(fromServer, toServer)
	l.wg.Go(func() { _ = l.srv.ServeConn(context.Background(), jsonrpc.Lines(in, out), rpc.Local()) })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = conn
	return conn, nil
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.Close()
	}
}

// shared is a buffer that is written and read at once.
type shared struct {
	mu  sync.Mutex
	b   strings.Builder
	new chan struct{}
}

func newShared() *shared { return &shared{new: make(chan struct{}, 1)} }

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.new <- struct{}{}:
	default:
	}
	return s.b.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// shows waits for a text, soon or never.
func (s *shared) shows(t *testing.T, text string) {
	t.Helper()
	late := time.After(patience)
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.new:
		case <-late:
			t.Fatalf("%q never came; there is:\n%s", text, s.String())
		}
	}
}

// terminal is one run of Chat.
type terminal struct {
	t         *testing.T
	out, err  *shared
	in        *io.PipeWriter
	interrupt chan struct{}
	done      chan error
}

func chat(t *testing.T, l *line, o client.ChatOptions) *terminal {
	t.Helper()
	r, w := io.Pipe()
	x := &terminal{t: t, out: newShared(), err: newShared(), in: w, interrupt: make(chan struct{}, 4), done: make(chan error, 1)}
	if o.In == nil {
		o.In = r
	}
	o.Out, o.Err, o.Interrupt = x.out, x.err, x.interrupt
	c := client.Open(l.dial, patience)
	go func() { x.done <- client.Chat(context.Background(), c, o) }()
	t.Cleanup(func() { w.Close() })
	return x
}

func (x *terminal) ends() error {
	x.t.Helper()
	select {
	case err := <-x.done:
		return err
	case <-time.After(patience):
		x.t.Fatalf("the chat goes on; out:\n%s\nerr:\n%s", x.out, x.err)
	}
	panic("unreachable")
}

func (x *terminal) types(s string) {
	x.t.Helper()
	if _, err := io.WriteString(x.in, s); err != nil {
		x.t.Fatal(err)
	}
}

func TestOneMessage(t *testing.T) {
	b := rpctest.New(t, func(_ context.Context, turn *rpctest.Turn) {
		turn.Say("looking")
		turn.Interim()
		turn.Tool("c", "shell", "ls", func() string { return "2 files" })
		turn.Say("you said: ")
		turn.Say(turn.Prompt())
	})
	l := newLine(t, rpc.New(b.Config()))
	x := chat(t, l, client.ChatOptions{Text: "hi", Session: "work"})
	if err := x.ends(); err != nil {
		t.Fatal(err)
	}
	if got := x.out.String(); got != "looking\nyou said: hi\n" {
		t.Errorf("out %q", got)
	}
	if got := x.err.String(); !strings.Contains(got, "shell ls") || !strings.Contains(got, "2 files") {
		t.Errorf("err %q", got)
	}
	x = chat(t, l, client.ChatOptions{In: strings.NewReader("from\na pipe\n"), Session: "work"})
	if err := x.ends(); err != nil {
		t.Fatal(err)
	}
	if got := x.out.String(); !strings.HasSuffix(got, "you said: from\na pipe\n") {
		t.Errorf("out %q", got)
	}
	if convs, err := b.List(t.Context(), "", 9); err != nil || len(convs) != 1 {
		t.Errorf("%d sessions: %v", len(convs), err)
	}
	x = chat(t, l, client.ChatOptions{In: strings.NewReader(" \n")})
	if err := x.ends(); err == nil {
		t.Error("an empty message was sent")
	}
}

func TestJSON(t *testing.T) {
	b := rpctest.New(t, func(_ context.Context, turn *rpctest.Turn) { turn.Say("x") })
	x := chat(t, newLine(t, rpc.New(b.Config())), client.ChatOptions{Text: "hi", JSON: true})
	if err := x.ends(); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, line := range strings.Split(strings.TrimSpace(x.out.String()), "\n") {
		var e client.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		kinds = append(kinds, e.Type)
	}
	if got := strings.Join(kinds, " "); got != "gateway.ready message.start message.delta message.complete" {
		t.Errorf("events %s", got)
	}
	if x.err.String() != "" {
		t.Errorf("err %q", x.err)
	}
}

var approval = core.Ask{Kind: core.Approval, Title: "Run a command?", Detail: "rm -rf x", Risk: "deletes files"}

func TestTerminal(t *testing.T) {
	b := rpctest.New(t, func(ctx context.Context, turn *rpctest.Turn) {
		switch turn.Prompt() {
		case "approve":
			turn.Say(turn.Question(ctx, approval))
		case "clarify":
			turn.Say(turn.Question(ctx, core.Ask{Kind: core.Clarify, Title: "Which?"}))
		case "fail":
			turn.Emit(core.EventBody{Type: core.MessageReset, Text: "no"})
		default:
			turn.Say("you said: " + turn.Prompt())
		}
	})
	x := chat(t, newLine(t, rpc.New(b.Config())), client.ChatOptions{Interactive: true})
	x.err.shows(t, "> ")
	x.types("hello\n")
	x.out.shows(t, "you said: hello\n")
	x.types("approve\n")
	x.err.shows(t, "allow? [y]")
	x.err.shows(t, "deletes files")
	x.types("what\ns\n")
	x.out.shows(t, "session\n")
	x.types("clarify\n")
	x.err.shows(t, "answer: ")
	x.types("the red one\n")
	x.out.shows(t, "the red one\n")
	x.types("/status\n")
	x.out.shows(t, "all **well**\n")
	x.in.Close()
	if err := x.ends(); err != nil {
		t.Fatal(err)
	}
}

func TestInterrupt(t *testing.T) {
	stubborn := make(chan struct{})
	b := rpctest.New(t, func(ctx context.Context, turn *rpctest.Turn) {
		turn.Say("working")
		<-ctx.Done()
		if turn.Prompt() == "stubborn" {
			<-stubborn
		}
	})
	l := newLine(t, rpc.New(b.Config()))
	x := chat(t, l, client.ChatOptions{Text: "hi", Session: "s"})
	x.out.shows(t, "working")
	queued := chat(t, l2(t, b), client.ChatOptions{Text: "later", Session: "s"})
	queued.err.shows(t, "waiting: 1 before this one")
	queued.interrupt <- struct{}{}
	if err := queued.ends(); !errors.Is(err, client.ErrInterrupted) {
		t.Errorf("a waiting message ended with %v", err)
	}
	x.interrupt <- struct{}{}
	if err := x.ends(); !errors.Is(err, client.ErrInterrupted) {
		t.Errorf("ended with %v", err)
	}
	if got := x.out.String(); got != "working\n" {
		t.Errorf("out %q", got)
	}

	x = chat(t, l, client.ChatOptions{Text: "stubborn", Session: "s", Settle: time.Millisecond})
	x.out.shows(t, "working")
	x.interrupt <- struct{}{}
	if err := x.ends(); !errors.Is(err, client.ErrUnsettled) {
		t.Errorf("a stubborn turn ended with %v", err)
	}
	close(stubborn)
}

// TestInterruptWhileWaiting: news of its place does not make a message one that runs; it is taken out of the queue.
func TestInterruptWhileWaiting(t *testing.T) {
	b := rpctest.New(t, func(ctx context.Context, turn *rpctest.Turn) {
		turn.Say("working")
		<-ctx.Done()
	})
	x := chat(t, newLine(t, rpc.New(b.Config())), client.ChatOptions{Text: "hi", Session: "s"})
	x.out.shows(t, "working")
	queued := chat(t, l2(t, b), client.ChatOptions{Text: "later", Session: "s", JSON: true})
	queued.out.shows(t, `"queue.update"`)
	queued.interrupt <- struct{}{}
	if err := queued.ends(); !errors.Is(err, client.ErrInterrupted) {
		t.Errorf("a waiting message ended with %v", err)
	}
	if rows, err := b.Unsettled(t.Context(), ""); err != nil || len(rows) != 1 {
		t.Errorf("%d rows are left, want the one that runs: %v", len(rows), err)
	}
	x.interrupt <- struct{}{}
	if err := x.ends(); !errors.Is(err, client.ErrInterrupted) {
		t.Errorf("ended with %v", err)
	}
}

// presser presses Ctrl-C while a text is being written, and goes on when that was heard.
type presser struct {
	at    string
	press chan struct{}
}

func (p *presser) Write(b []byte) (int, error) {
	if strings.Contains(string(b), p.at) {
		p.press <- struct{}{}
	}
	return len(b), nil
}

// TestInterruptAtTheReceipt: who presses while the receipt is shown means the message, which is stored already.
func TestInterruptAtTheReceipt(t *testing.T) {
	b := rpctest.New(t, func(ctx context.Context, turn *rpctest.Turn) {
		turn.Say("working")
		<-ctx.Done()
	})
	x := chat(t, newLine(t, rpc.New(b.Config())), client.ChatOptions{Text: "hi", Session: "s"})
	x.out.shows(t, "working")
	press := make(chan struct{})
	o := client.ChatOptions{Text: "later", Session: "s", In: strings.NewReader(""), Out: io.Discard, Interrupt: press,
		Err: &presser{at: "waiting: 1 before this one", press: press}}
	if err := client.Chat(t.Context(), client.Open(l2(t, b).dial, patience), o); !errors.Is(err, client.ErrInterrupted) {
		t.Errorf("ended with %v", err)
	}
	if rows, err := b.Unsettled(t.Context(), ""); err != nil || len(rows) != 1 {
		t.Errorf("%d rows are left, want the one that runs: %v", len(rows), err)
	}
	x.interrupt <- struct{}{}
	if err := x.ends(); !errors.Is(err, client.ErrInterrupted) {
		t.Errorf("ended with %v", err)
	}
}

// TestSteered: a message that joins a running turn is not waited for.
func TestSteered(t *testing.T) {
	goOn := make(chan struct{})
	b := rpctest.New(t, func(ctx context.Context, turn *rpctest.Turn) {
		turn.Say("working")
		<-goOn
	})
	x := chat(t, newLine(t, rpc.New(b.Config())), client.ChatOptions{Text: "hi", Session: "s"})
	x.out.shows(t, "working")
	other := chat(t, l2(t, b), client.ChatOptions{Text: "/steer left", Session: "s"})
	other.err.shows(t, "the running turn is told")
	if err := other.ends(); err != nil {
		t.Error(err)
	}
	close(goOn)
	if err := x.ends(); err != nil {
		t.Error(err)
	}
}

// TestTypedMeanwhile: what is typed while a turn runs is answered on the same screen, in order, be it queued or steering
// that came too late.
func TestTypedMeanwhile(t *testing.T) {
	goOn := make(chan struct{})
	b := rpctest.New(t, func(ctx context.Context, turn *rpctest.Turn) {
		if turn.Prompt() == "one" {
			turn.Say("working")
			<-goOn
		}
		turn.Say(" on " + turn.Prompt())
	})
	x := chat(t, newLine(t, rpc.New(b.Config())), client.ChatOptions{Interactive: true})
	x.err.shows(t, "> ")
	x.types("one\n")
	x.out.shows(t, "working")
	x.types("two\n")
	x.err.shows(t, "waiting: 1 before it")
	x.types("/steer three\n")
	x.err.shows(t, "the running turn is told; if it ends before it hears that")
	close(goOn)
	x.out.shows(t, "working on one\n on two\n on three\n")
	x.err.shows(t, "What ran has ended before it could take this in")
	x.types("four\n")
	x.out.shows(t, " on three\n on four\n")
	x.in.Close()
	if err := x.ends(); err != nil {
		t.Fatal(err)
	}
}

func l2(t *testing.T, b *rpctest.Backend) *line { return newLine(t, rpc.New(b.Config())) }

// TestCut: an answer whose connection is cut again and again is written once and whole.
func TestCut(t *testing.T) {
	g := make(chan struct{})
	b := rpctest.New(t, func(_ context.Context, turn *rpctest.Turn) {
		for _, piece := range []string{"one ", "two ", "three ", "four"} {
			<-g
			turn.Say(piece)
		}
	})
	l := newLine(t, rpc.New(b.Config()))
	x := chat(t, l, client.ChatOptions{Text: "hi"})
	for _, shown := range []string{"one ", "one two ", "one two three ", "one two three four"} {
		g <- struct{}{}
		x.out.shows(t, shown)
		l.cut()
	}
	if err := x.ends(); err != nil {
		t.Fatal(err)
	}
	if got := x.out.String(); got != "one two three four\n" {
		t.Errorf("out %q", got)
	}
}

func TestTextIsTakenBack(t *testing.T) {
	b := rpctest.New(t, func(_ context.Context, turn *rpctest.Turn) {
		turn.Emit(core.EventBody{Type: core.MessageDelta, Text: "wrong"})
		turn.Emit(core.EventBody{Type: core.MessageReset, Text: "ri"})
		turn.Emit(core.EventBody{Type: core.MessageDelta, Text: "ght"})
	})
	x := chat(t, newLine(t, rpc.New(b.Config())), client.ChatOptions{Text: "hi"})
	if err := x.ends(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(x.out.String(), "wrong\nright") {
		t.Errorf("out %q", x.out)
	}
}

func TestGatewayIsGone(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle(proof.Path, proof.Handler("known"))
	mux.HandleFunc("/rpc", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	c := client.Open(client.WebSocket(srv.Listener.Addr().String(), "known"), patience)
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("a refused token: %v", err)
	}
	c = client.Open(func(context.Context) (jsonrpc.Conn, error) { return nil, io.ErrUnexpectedEOF }, time.Millisecond)
	if err := c.Run(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("no gateway: %v", err)
	}
	x := chat(t, newLine(t, rpc.New(rpctest.New(t, nil).Config())), client.ChatOptions{Session: "telegram:1", Text: "hi"})
	if err := x.ends(); err == nil {
		t.Error("a chat of another platform was made")
	}
}

// outage is a way to a server that can be closed and opened again.
type outage struct {
	*line
	mu   sync.Mutex
	shut error
}

func (o *outage) dial(ctx context.Context) (jsonrpc.Conn, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut != nil {
		return nil, o.shut
	}
	return o.line.dial(ctx)
}

func (o *outage) set(err error) {
	o.mu.Lock()
	o.shut = err
	o.mu.Unlock()
	if err != nil {
		o.cut()
	}
}

// chatOver is chat over a way of its own.
func chatOver(t *testing.T, dial client.Dial, patience time.Duration, o client.ChatOptions) *terminal {
	t.Helper()
	x := &terminal{t: t, out: newShared(), err: newShared(), interrupt: make(chan struct{}, 4), done: make(chan error, 1)}
	o.In, o.Out, o.Err, o.Interrupt = strings.NewReader(""), x.out, x.err, x.interrupt
	o.Where = func() string { return "here:1" }
	c := client.Open(dial, patience)
	go func() { x.done <- client.Chat(context.Background(), c, o) }()
	return x
}

// TestNobodyAnswers: the person is told at once and not after all tries, in words, and may give up earlier.
func TestNobodyAnswers(t *testing.T) {
	refused := func(context.Context) (jsonrpc.Conn, error) { return nil, syscall.ECONNREFUSED }
	x := chatOver(t, refused, time.Hour, client.ChatOptions{Text: "hi"})
	x.err.shows(t, "No gateway listens at here:1. Nothing of yours is under way. Start it with `bellhop serve` if it does not run. I go on trying for 1h0m0s.\n")
	x.err.shows(t, "; the next try is in ")
	x.interrupt <- struct{}{}
	if err := x.ends(); !errors.Is(err, client.ErrInterrupted) {
		t.Errorf("ended with %v", err)
	}
	for err, want := range map[error]string{
		syscall.ECONNREFUSED: "No gateway listens at here:1. Nothing of yours is under way. Start it with `bellhop serve`, then repeat the command.\n",
		client.ErrStranger:   "What listens at here:1 is not the gateway of this data folder. Nothing of yours is under way. Name the configuration",
		client.ErrRefused:    "The gateway at here:1 refused the key of this data folder. Nothing of yours is under way. Name the configuration",
		io.ErrUnexpectedEOF:  "The gateway at here:1 cannot be reached (unexpected EOF). Nothing of yours",
	} {
		x := chatOver(t, func(context.Context) (jsonrpc.Conn, error) { return nil, err }, time.Millisecond, client.ChatOptions{Text: "hi"})
		if got := x.ends(); !errors.Is(got, client.ErrUnreachable) || !errors.Is(got, err) {
			t.Errorf("%v: ended with %v", err, got)
		}
		if got := x.err.String(); !strings.Contains(got, want) {
			t.Errorf("%v: told %q, want %q", err, got, want)
		}
		if x.out.String() != "" {
			t.Errorf("out %q", x.out)
		}
	}
}

// TestGatewayComesBack: before the first word, and in the middle of an answer, which is written once and whole.
func TestGatewayComesBack(t *testing.T) {
	more, said := make(chan struct{}), make(chan struct{})
	b := rpctest.New(t, func(_ context.Context, turn *rpctest.Turn) {
		for _, piece := range []string{"one ", "two ", "three"} {
			<-more
			turn.Say(piece)
			said <- struct{}{}
		}
	})
	o := &outage{line: newLine(t, rpc.New(b.Config())), shut: syscall.ECONNREFUSED}
	x := chatOver(t, o.dial, patience, client.ChatOptions{Text: "hi"})
	x.err.shows(t, "No gateway listens")
	o.set(nil)
	x.err.shows(t, "Connected.")
	more <- struct{}{}
	<-said
	x.out.shows(t, "one ")
	o.set(syscall.ECONNREFUSED)
	x.err.shows(t, "The connection to the gateway broke. Your message is stored. I go on trying for 20s.\n")
	more <- struct{}{}
	<-said // nobody hears this
	o.set(nil)
	x.out.shows(t, "one two ")
	more <- struct{}{}
	<-said
	if err := x.ends(); err != nil {
		t.Fatal(err)
	}
	if got := x.out.String(); got != "one two three\n" {
		t.Errorf("out %q", got)
	}
	if got := x.err.String(); strings.Count(got, "Connected.") != 2 || strings.Count(got, "broke") != 1 {
		t.Errorf("err %q", got)
	}
}

// TestStopWhileAway: who stops an answer while the gateway is away does not wait for it.
func TestStopWhileAway(t *testing.T) {
	for name, presses := range map[string]int{"once": 1, "twice": 2} {
		t.Run(name, func(t *testing.T) {
			more := make(chan struct{})
			defer close(more)
			b := rpctest.New(t, func(_ context.Context, turn *rpctest.Turn) { turn.Say("one "); <-more })
			o := &outage{line: newLine(t, rpc.New(b.Config()))}
			settle := time.Hour
			if presses == 1 {
				settle = 10 * time.Millisecond
			}
			x := chatOver(t, o.dial, patience, client.ChatOptions{Text: "hi", Again: time.Hour, Settle: settle})
			x.out.shows(t, "one ")
			o.set(syscall.ECONNREFUSED)
			x.err.shows(t, "broke")
			for range presses {
				x.interrupt <- struct{}{}
			}
			if err := x.ends(); !errors.Is(err, client.ErrUnsettled) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// TestGatewayStaysAway: a message that was stored is not lost, and that is said.
func TestGatewayStaysAway(t *testing.T) {
	more := make(chan struct{})
	defer close(more)
	b := rpctest.New(t, func(_ context.Context, turn *rpctest.Turn) { turn.Say("one "); <-more })
	o := &outage{line: newLine(t, rpc.New(b.Config()))}
	x := chatOver(t, o.dial, patience, client.ChatOptions{Text: "hi", Again: time.Millisecond})
	x.out.shows(t, "one ")
	o.set(syscall.ECONNREFUSED)
	if err := x.ends(); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("ended with %v", err)
	}
	if got := x.err.String(); !strings.HasSuffix(got, "No gateway listens at here:1. Your message is stored. Start it with `bellhop serve`; the answer will be in this session, also on the web page.\n") {
		t.Errorf("told %q", got)
	}
}

func TestPipe(t *testing.T) {
	b := rpctest.New(t, func(_ context.Context, turn *rpctest.Turn) { turn.Say("ok") })
	l := newLine(t, rpc.New(b.Config()))
	conn, err := l.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := client.Open(client.Pipe(conn), patience)
	conn.Close()
	if err := c.Run(t.Context()); !errors.Is(err, client.ErrCut) {
		t.Errorf("a pipe that ended: %v", err)
	}
}
