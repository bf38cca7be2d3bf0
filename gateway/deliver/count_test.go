package deliver

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// firsts remembers when the first text of turns could be seen.
type firsts struct {
	uncounted
	mu    sync.Mutex
	after []time.Duration
}

func (f *firsts) Shown(after time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = append(f.after, after)
}

// A turn's first visible text is counted once, when it is there: as a message, as a draft, as the whole answer, or, where
// nothing is sent, when it is published.
func TestFirstVisibleTextIsCounted(t *testing.T) {
	const thinks = 3 * time.Second
	for name, speak := range map[string]func(w *world){
		"a streamed message": func(w *world) {
			c := w.turn("1")
			time.Sleep(thinks)
			for range 5 {
				c.say("word ")
				time.Sleep(time.Second)
			}
			c.answer("word word word word word")
		},
		"a whole answer": func(w *world) {
			c := w.turn("1")
			time.Sleep(thinks)
			c.answer("word")
		},
		"no chat": func(w *world) {
			a := w.admit("1", "hello", func(s *core.Submission) { s.Route, s.Surface = core.Route{}, "rpc" })
			c := w.claim(a.Conversation)
			time.Sleep(thinks)
			c.say("one ")
			time.Sleep(time.Second)
			c.say("two")
			c.commit(core.Outcome{Result: core.Completed, Text: "one two"})
			c.view.Abandon()
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &firsts{}
			bubble(t, func(t *testing.T, w *world) {
				speak(w)
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(f.after) != 1 || f.after[0] < thinks || f.after[0] >= thinks+time.Second {
					t.Errorf("seen after %v", f.after)
				}
			}, unlimited, func(c *Config, _ *platform) { c.Metrics = f })
		})
	}
}
