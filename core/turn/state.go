package turn

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/provider"
)

// state is everything one turn knows. Run makes it; nothing of it outlives Run.
type state struct {
	in   Input
	row  *core.Admission
	log  *slog.Logger
	news *news

	system  string
	history []core.Message  // the transcript as it is stored
	aside   []core.Message  // said to the model in the next requests, not part of the transcript
	tools   []provider.Tool // what the model may call
	granted map[string]bool // approval keys allowed in this conversation

	models  []Model
	at      int          // the model that answers now
	refused map[int]int  // by model: estimated size of a request that it called too long
	whole   map[int]bool // by model: it cannot stream
	budget  budget
	usage   core.Usage

	shown     shown   // the text of the message under way
	round     []*call // calls of the newest reply
	note      string  // for the last result of the round
	repeats   repeats
	spoke     bool // the newest round already told the person what there is to tell
	urged     bool // the model was asked for the answer it left out
	continued int  // times an answer that hit the length limit was continued

	unheard *core.Message // the user message, until it is stored

	final     string // the answer
	thought   string // the reasoning behind it
	cause     error  // why the turn ends, for the owner
	uncertain bool   // an effect may have happened that nobody saw end
	active    time.Time
}

func newState(r *Runner, in Input, emit func(core.EventBody)) *state {
	row := &in.Claim.Admission
	t := &state{in: in, row: row, news: &news{emit: emit}, granted: make(map[string]bool), refused: make(map[int]int),
		whole: make(map[int]bool)}
	t.log = r.o.Log.With("session", row.Conversation, "turn", in.Fence.Turn, "admission", row.ID)
	t.budget = newBudget(r.o.MaxCalls, r.o.MaxTime)
	if row.Submission.Rich {
		t.budget = newBudget(r.o.MaxCallsRich, r.o.MaxTime)
	}
	for _, key := range in.Claim.Conversation.Approved {
		t.granted[key] = true
	}
	return t
}

// model is the one that answers now.
func (t *state) model() Model { return t.models[t.at] }

// alive gives a sign of life, at most one a second.
func (t *state) alive(what string) {
	if now := time.Now(); t.in.Active != nil && now.Sub(t.active) >= time.Second {
		t.active = now
		t.in.Active(what)
	}
}

// message makes a row of this turn.
func (t *state) message(role core.Role) core.Message {
	return core.Message{Admission: t.row.ID, Turn: t.in.Fence.Turn, Role: role}
}

// interrupted returns why ctx has ended, going while it has not.
func interrupted(ctx context.Context) core.Reason {
	if ctx.Err() == nil {
		return going
	}
	if i, ok := core.InterruptOf(ctx); ok {
		return i.Reason
	}
	return core.ReasonShutdown
}

// append stores a batch. One that is under way when ctx ends gets a moment, so that its fate is known; none begins after.
func (r *Runner) append(ctx context.Context, t *state, b core.Batch) ([]core.Message, core.Reason) {
	if end := interrupted(ctx); end != going {
		return nil, end
	}
	lasting, cancel := outlast(ctx, storeGrace)
	defer cancel()
	stored, err := r.o.Store.Append(lasting, t.in.Fence, b)
	if err != nil {
		return nil, t.unstored(ctx, err)
	}
	return stored, going
}

// storeGrace is how long a write may go on after the turn was interrupted.
const storeGrace = 250 * time.Millisecond

// unstored says how a turn ends whose store failed it.
func (t *state) unstored(ctx context.Context, err error) core.Reason {
	t.cause = err
	if core.Is(err, core.Stale) {
		return core.ReasonLeaseLost
	}
	if end := interrupted(ctx); end != going {
		return end
	}
	return core.ReasonPersistence
}

// outlast returns a context that ends a while after ctx does.
func outlast(ctx context.Context, while time.Duration) (context.Context, func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(while)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel() }
}

// news hands events on, one at a time, until the turn is over: a tool that was left behind must not be heard any more.
type news struct {
	mu   sync.Mutex
	emit func(core.EventBody)
	over bool
}

func (n *news) tell(b core.EventBody) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.over {
		n.emit(b)
	}
}

func (n *news) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
}

// shown is the text of the message under way. What people see may run ahead of what the attempt under way has said: after
// a stream broke off, the next attempt says it again.
type shown struct {
	kept   string          // of earlier replies that this one continues
	said   strings.Builder // by the attempt under way
	ahead  string          // what people see while the attempt has not caught up with it, kept included
	behind bool            // it has not
}

func (s *shown) text() string { return s.kept + s.said.String() }

// seen is what people see.
func (s *shown) seen() string {
	if s.behind {
		return s.ahead
	}
	return s.text()
}

// begin starts an attempt.
func (s *shown) begin() {
	s.ahead = s.seen()
	s.said.Reset()
	if s.behind = s.ahead != s.kept; !s.behind {
		s.ahead = ""
	}
}

// add takes more text of the attempt and returns what people must be told: a piece to add, or the whole text to show
// instead.
func (s *shown) add(text string) (piece string, instead bool) {
	s.said.WriteString(text)
	if !s.behind {
		return text, false
	}
	now, seen := s.text(), s.ahead
	if strings.HasPrefix(seen, now) {
		return "", false
	}
	s.catchUp()
	if more, ok := strings.CutPrefix(now, seen); ok {
		return more, false
	}
	return now, true
}

func (s *shown) catchUp() { s.ahead, s.behind = "", false }

// recant takes back all the attempt has said, and returns what stands.
func (s *shown) recant() string {
	s.said.Reset()
	s.catchUp()
	return s.kept
}

// settle ends the attempt. It reports whether people see more than was said in the end.
func (s *shown) settle() (now string, differs bool) {
	now = s.text()
	differs = s.seen() != now
	s.catchUp()
	return now, differs
}

// keep makes what was said the beginning of what comes.
func (s *shown) keep() {
	s.kept = s.text()
	s.said.Reset()
}

// reset begins the next message.
func (s *shown) reset() { *s = shown{} }
