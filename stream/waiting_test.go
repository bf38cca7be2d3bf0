package stream

import (
	"errors"
	"testing"
	"time"

	"bellhop/core"
)

func (k *talk) waits(text string) {
	k.On(event(core.EventBody{Type: core.StatusUpdate, Status: StatusWaiting, Text: text}))
}

// What a silent turn waits for stands beside its tools while it is silent, and not longer, kept or not.
func TestWaiting(t *testing.T) {
	for _, keep := range []bool{false, true} {
		o := editing
		o.Tools.Keep = keep
		bubble("alone", t, func(t *testing.T) {
			k := newTalk(t, newBoard(t, 4096), o)
			k.waits("Waiting")
			time.Sleep(500 * time.Millisecond)
			k.sees("⏳ Waiting [Stop]")
			k.waits("Waiting (2 min)")
			time.Sleep(2 * time.Second)
			k.sees("⏳ Waiting (2 min) [Stop]")
			k.say("Here.")
			time.Sleep(2 * time.Second)
			k.sees("Here. ▉ [Stop]")
			k.waits("Waiting again")
			time.Sleep(2 * time.Second)
			k.sees("Here. ▉ [Stop]", "⏳ Waiting again [Stop]")
			k.finish("Here.")
			k.sees("Here.")
		})
		bubble("beside tools", t, func(t *testing.T) {
			k := newTalk(t, newBoard(t, 4096), o)
			k.tool("shell")
			time.Sleep(2 * time.Second)
			k.waits("Waiting")
			time.Sleep(2 * time.Second)
			k.sees("⏳ Running a command [Stop]")
			k.toolDone("shell")
			k.waits("Waiting")
			time.Sleep(2 * time.Second)
			k.sees("✓ Running a command\n⏳ Waiting [Stop]")
			k.finish("Here.")
			if keep {
				k.sees("✓ Running a command", "Here.")
			} else {
				k.sees("Here.")
			}
		})
	}
	bubble("what cannot be deleted is tried once more at the end", t, func(t *testing.T) {
		b := newBoard(t, 4096)
		b.fail = func(c call, nth int) error {
			if c.method == "delete" && b.count("delete") == 1 {
				return errors.New("refused")
			}
			return nil
		}
		k := newTalk(t, b, editing)
		k.waits("Waiting")
		time.Sleep(time.Second)
		k.say("Here.")
		time.Sleep(5 * time.Second)
		if n := b.count("delete"); n != 1 {
			t.Errorf("%d deletions", n)
		}
		k.finish("Here.")
		k.sees("Here.")
	})
}
