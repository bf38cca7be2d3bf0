package deliver

import (
	"fmt"
	"time"

	"bellhop/core"
	"bellhop/stream"
)

const (
	silentAfter = 25 * time.Second // without any news of a turn, before it is told that the model is waited for
	silentEvery = time.Minute      // between changes of that
)

// tellSilence says, and says again now and then, that nothing was heard of the turn for long: in the message that tells
// what tools do, where messages can be edited. A question that is open is not silence.
func (v *View) tellSilence(now time.Time) {
	last := v.heard.Load()
	quiet := now.Sub(time.Unix(0, last))
	if next := time.Duration(v.silent.Load()); quiet < silentAfter || next > 0 && quiet < next+silentEvery {
		return
	}
	v.mu.Lock()
	idle := v.closed || v.held || v.asking > 0
	v.mu.Unlock()
	if idle {
		return
	}
	v.silent.Store(int64(quiet))
	v.paint.On(core.Event{Turn: v.fence.Turn, EventBody: core.EventBody{Type: core.StatusUpdate, Status: stream.StatusWaiting,
		Text: silenceText(quiet)}})
}

func silenceText(d time.Duration) string {
	if d < time.Minute {
		return "Still waiting for the model"
	}
	return fmt.Sprintf("Still waiting for the model (%d min)", int(d.Minutes()))
}
