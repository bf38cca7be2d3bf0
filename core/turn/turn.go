package turn

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"bellhop/core"
	"bellhop/core/prompt"
	"bellhop/core/provider"
	"bellhop/core/tool"
)

// Model is one way to get an answer: an endpoint with its key, and the model's name there.
type Model struct {
	Provider provider.Provider
	Name     string // of the provider, as configured
	Model    string
}

// Store is what a turn reads and writes; a core.Store satisfies it.
type Store interface {
	Recall(ctx context.Context, c core.ConversationID, version int64) ([]core.Message, error)
	Append(ctx context.Context, f core.Fence, b core.Batch) ([]core.Message, error)
	Calls(ctx context.Context, id core.AdmissionID) ([]core.Call, error)
	OpenSession(ctx context.Context, f core.Fence, s core.Session) (core.Session, error)
	Edit(ctx context.Context, c core.ConversationID, fn func(*core.Conversation)) (core.Conversation, error)
}

// Asker asks a person and blocks until the question is answered or expires, or ctx ends. The question that comes back
// has its State and Answer.
type Asker interface {
	Ask(ctx context.Context, q core.Question) (core.Question, error)
}

// Standing holds what is allowed for ever: what people answered with "always", and the lists of the configuration.
type Standing interface {
	// Ruling returns Allow or Forbid when the call's key or one of its kinds is ruled, Ask when none is.
	Ruling(ctx context.Context, r tool.Risk) (tool.Verdict, error)
	// Allow remembers an "always".
	Allow(ctx context.Context, key string, by core.PrincipalID) error
}

// Steered is input that is put into the running turn. Its row is consumed with the write that carries the text.
type Steered struct {
	ID   core.AdmissionID
	Text string
}

// Input is what one turn needs. The funcs may be nil; they are called from the turn's goroutine and its tools'.
type Input struct {
	Claim   *core.Claim // only read
	Fence   core.Fence
	Steer   func() []Steered  // rows offered to the running turn, in order
	Active  func(what string) // a sign of life with what is being done, for people
	Waiting func(on bool)     // waiting for a person counts as activity
}

// Options configure a Runner. Zero numbers and durations mean their defaults.
type Options struct {
	Store    Store
	Models   func(override string) []Model // primary first, then fallbacks; override "" means the default
	Tools    *tool.Set                     // nil: none
	Prompt   *prompt.Builder               // nil: the default one
	Hint     func(core.Submission) string  // what the surface can render; nil: nothing
	Image    func(core.Attachment) (provider.Image, bool)
	Asker    Asker    // nil: whatever would be asked is denied
	Standing Standing // nil: nothing stands
	Log      *slog.Logger
	// Spent hears what each reply cost, and who gave it; nil: nobody counts. It may be called concurrently.
	Spent func(provider, model string, u core.Usage)

	Workspace string // absolute path of the folder the agent works in
	Spill     string // absolute path of the folder for large results; each conversation gets its own in it

	MaxCalls     int           // model calls of a turn, 90
	MaxCallsRich int           // the same for rich clients, 500
	MaxTime      time.Duration // of a turn without waits for people, 30 min
	MaxBatch     int           // tool calls of one reply, 32
	MaxResult    int           // bytes of one tool result that the model sees, 32 KiB
	Batch        time.Duration // tools of one reply without waits for people, 420 s
	Silence      time.Duration // between two parts of a reply; a net below the providers' own time-outs, 5 min
	Attempts     int           // per model and call, 4
}

// Runner runs turns. Safe for concurrent use: all state of a turn is made by Run.
type Runner struct {
	o     Options
	meter *prompt.Meter // what is learned here is about models, not about turns
}

// New returns a Runner.
func New(o Options) *Runner {
	def(&o.MaxCalls, 90)
	def(&o.MaxCallsRich, 500)
	def(&o.MaxBatch, 32)
	def(&o.MaxResult, 32<<10)
	def(&o.Attempts, 4)
	def(&o.MaxTime, 30*time.Minute)
	def(&o.Batch, 420*time.Second)
	def(&o.Silence, 5*time.Minute)
	if o.Tools == nil {
		o.Tools = tool.NewSet(nil)
	}
	if o.Prompt == nil {
		o.Prompt = prompt.New(prompt.Options{Workspace: o.Workspace})
	}
	if o.Hint == nil {
		o.Hint = func(core.Submission) string { return "" }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Runner{o: o, meter: new(prompt.Meter)}
}

func def[T int | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// Run takes one claimed input to its end. It returns the outcome and the transcript rows that must be stored with it.
// When ctx ends, its cause (core.Interrupt) says why, and Run returns within a second. emit is called in order, one call
// at a time, and never after Run has returned.
func (r *Runner) Run(ctx context.Context, in Input, emit func(core.EventBody)) (out core.Outcome, tail []core.Message) {
	t := newState(r, in, emit)
	defer t.news.close()
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("a turn panicked", "err", p, "stack", string(debug.Stack()))
			t.cause = fmt.Errorf("panic: %v", p)
			out, tail = r.close(t, core.ReasonPanic)
		}
	}()
	why := r.open(ctx, t)
	if why == going {
		why = r.loop(ctx, t)
	}
	return r.close(t, why)
}

// What a phase answers beside the reason for which the turn ends.
const (
	going core.Reason = ""      // the turn goes on
	refit core.Reason = "refit" // another model answers now, or the request was refused as too long: measure again
)

// loop is the turn: model calls and tool rounds until something ends it.
func (r *Runner) loop(ctx context.Context, t *state) core.Reason {
	if end := r.act(ctx, t); end != going { // what a resumed turn has left to do
		return end
	}
	for t.budget.take() {
		req, end := r.fit(t)
		if end != going {
			return end
		}
		reply, end := r.ask(ctx, t, req)
		switch {
		case end == refit:
			t.budget.refund()
			continue
		case end == going && len(reply.Calls) > 0:
			if end = r.record(ctx, t, reply); end == going {
				end = r.act(ctx, t)
			}
		case end == going:
			end = r.accept(t, reply)
		}
		if end != going {
			return end
		}
	}
	return r.grace(ctx, t)
}
