package readback

import (
	"fmt"
	"slices"

	"bellhop/core"
)

// Case is one of the five ways an unknown turn can be found.
type Case int

// The cases, in the order in which they are tried.
const (
	FinalStored Case = iota + 1 // the answer is in the transcript
	NoCall                      // nothing was asked of the world
	CallsDone                   // each call has its result or never started
	Repeatable                  // calls without a result, all of which may be repeated
	Effects                     // a call without a result that must not be repeated by itself
)

// Decision is what the evidence says. Outcome, Retry, Resume, Calls and Deliver are of the resolution; with case Effects
// they are empty, since the row stays unknown.
type Decision struct {
	Case    Case
	Outcome core.Outcome
	Retry   bool
	Resume  bool
	Calls   []core.Call    // with the state they are moved to
	Deliver *core.Delivery // what is owed, without id and time
	Open    []core.Call    // started, no result
	Why     string
}

// Decide judges row by the evidence of its chain, oldest first: what was said, the ledger of calls, and what was sent. It
// is pure.
func Decide(row core.Admission, said []core.Message, calls []core.Call, deliveries []core.Delivery) Decision {
	e := evidence{row: row, said: said, calls: calls, deliveries: deliveries, results: results(said)}
	d := Decision{Open: e.open()}
	switch final, ok := e.final(); {
	case ok:
		d.Case = FinalStored
		d.Outcome = core.Outcome{Result: core.Completed, Reason: core.ReasonAnswered, Text: final.Content}
		d.Deliver = e.owed(final.Content)
	case !e.called():
		d.Case = NoCall
		d.retry(row.Resume || e.beyondInput())
	case len(d.Open) == 0:
		d.Case = CallsDone
		d.retry(true)
	case !slices.ContainsFunc(d.Open, once):
		d.Case = Repeatable
		d.retry(true)
		d.Calls = again(d.Open)
	default:
		d.Case = Effects
	}
	d.Why = e.why(d)
	return d
}

func (d *Decision) retry(resume bool) {
	d.Outcome = core.Outcome{Result: core.Interrupted, Reason: core.ReasonRetried}
	d.Retry, d.Resume = true, resume
}

func once(c core.Call) bool { return c.Effect != core.ReadOnly && c.Effect != core.Idempotent }

// again moves started calls back to recorded: the new row runs them. A call that is done stays so in the ledger; without a
// result it is run again all the same.
func again(open []core.Call) []core.Call {
	var out []core.Call
	for _, c := range open {
		if c.State == core.CallStarted {
			c.State = core.CallRecorded
			out = append(out, c)
		}
	}
	return out
}

type evidence struct {
	row        core.Admission
	said       []core.Message
	calls      []core.Call
	deliveries []core.Delivery
	results    map[string]bool // call id -> a result is stored
}

func results(said []core.Message) map[string]bool {
	r := make(map[string]bool)
	for _, m := range said {
		if m.Role == core.RoleTool {
			r[m.CallID] = true
		}
	}
	return r
}

// open lists the calls that may have had an effect and have no result. A call that is done but whose result is missing is
// one of them.
func (e *evidence) open() []core.Call {
	var open []core.Call
	for _, c := range e.calls {
		if (c.State == core.CallStarted || c.State == core.CallDone) && !e.results[c.ID] {
			open = append(open, c)
		}
	}
	return open
}

// called reports whether any call was recorded, in the ledger or in what the model said.
func (e *evidence) called() bool {
	return len(e.calls) > 0 || slices.ContainsFunc(e.said, func(m core.Message) bool { return len(m.Calls) > 0 })
}

// final finds the answer: the last thing said, by the model, with nothing left to do beside it.
func (e *evidence) final() (core.Message, bool) {
	if len(e.said) == 0 {
		return core.Message{}, false
	}
	m := e.said[len(e.said)-1]
	ok := m.Role == core.RoleAssistant && m.Content != "" && len(m.Calls) == 0 && !m.Interim && !m.Synthetic
	return m, ok
}

// beyondInput reports whether the transcript holds more of this turn than the message that began it, for example input
// that steered it: then the new row must go on from there.
func (e *evidence) beyondInput() bool {
	return slices.ContainsFunc(e.said, func(m core.Message) bool { return m.Role != core.RoleUser }) || len(e.said) > 1
}

// owed is the delivery of a stored answer, which takes over the messages of the live preview; nil when one is there already.
func (e *evidence) owed(text string) *core.Delivery {
	if e.row.Submission.Route.IsZero() {
		return nil
	}
	d := core.Delivery{Conversation: e.row.Conversation, Admission: e.row.ID, Turn: e.row.Turn, Route: e.row.Submission.Route}
	for _, o := range e.deliveries {
		if o.Kind == core.DeliverFinal && o.Admission == e.row.ID {
			return nil
		}
		if o.Kind == core.DeliverPreview && len(o.Parts) > 0 {
			d.Route, d.Parts = o.Route, slices.Clone(o.Parts)
		}
	}
	d.Kind, d.State, d.Text = core.DeliverFinal, core.DeliveryOwed, text
	return &d
}

// why writes down the evidence for those who ask later.
func (e *evidence) why(d Decision) string {
	finals := 0
	for _, o := range e.deliveries {
		if o.Kind == core.DeliverFinal {
			finals++
		}
	}
	return fmt.Sprintf("case %d: turn %s, generation %d: %d messages, %d calls, %d results, %d open; %d deliveries, %d final",
		d.Case, e.row.Turn, e.row.Generation, len(e.said), len(e.calls), len(e.results), len(d.Open), len(e.deliveries), finals)
}
