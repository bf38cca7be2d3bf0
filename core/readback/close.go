package readback

import (
	"time"

	"bellhop/core"
)

// The results that stand for those nobody saw.
const (
	// Unseen answers a call that was started and whose end nobody saw.
	Unseen = "unknown: the process died while this ran; check before repeating"
	// Untouched answers a call that was recorded and never started.
	Untouched = "not run: the turn ended before this call was started"
	// Vouched answers an open call after a person has said that it is done.
	Vouched = "done, as the person says; the process died while this ran, its output is lost"
)

// Close makes the rows that end a transcript whose turn will not go on: one synthetic result for each call that has none,
// in the order in which they were called, and a closing line unless it is empty. started is the result of a call that
// may have had an effect. The calls that come back are those, moved to done.
func Close(row core.Admission, said []core.Message, calls []core.Call, started, closing string) ([]core.Message, []core.Call) {
	var (
		tail  []core.Message
		ended []core.Call
		now   = time.Now()
		have  = results(said)
		write = func(m core.Message) {
			m.Admission, m.Turn, m.Synthetic, m.At = row.ID, row.Turn, true, now
			if len(said) > 0 {
				m.Session = said[len(said)-1].Session
			}
			tail = append(tail, m)
		}
		answer = func(id, text string) {
			if !have[id] {
				have[id] = true
				write(core.Message{Role: core.RoleTool, CallID: id, Content: text})
			}
		}
		ledger = make(map[string]core.Call, len(calls))
	)
	for _, c := range calls {
		ledger[c.ID] = c
		if c.State != core.CallDone {
			c.State = core.CallDone
			ended = append(ended, c)
		}
	}
	for _, m := range said {
		for _, made := range m.Calls {
			text := Untouched
			if c, ok := ledger[made.ID]; ok && (c.State == core.CallStarted || c.State == core.CallDone) {
				text = started
			}
			answer(made.ID, text)
		}
	}
	if closing != "" {
		write(core.Message{Role: core.RoleAssistant, Content: closing})
	}
	return tail, ended
}
