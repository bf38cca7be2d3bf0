package deliver

import (
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

func traced(_ *Config, p *platform) { p.traces = true }

// lose makes the n-th send arrive without anybody being told, or not arrive.
func (w *world) lose(n int, arrives bool) {
	sends := 0
	w.p.took = func(call) bool { return arrives }
	w.p.failing(func(c call) error {
		if c.method == "send" {
			if sends++; sends == n {
				return noAnswer
			}
		}
		return nil
	})
}

// A message whose send got no answer is found and finished: it is not repeated, and nothing is left of a preview.
func TestLostMessageIsFound(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.lose(1, true)
		c := w.turn("1")
		c.say("The beginning")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "The beginning ▉")
		d := c.answer("The beginning and the end.")
		synctest.Wait()
		wantTexts(t, w.p, "1", "The beginning and the end.")
		want(t, "state", d.State, core.DeliveryDelivered)
		want(t, "sends", len(w.p.made("1", "send")), 1)

		w.lose(1, true)
		c = w.turn("2")
		c.answer("Short.")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "2", "Short.")
		want(t, "sends", len(w.p.made("2", "send")), 1)
	}, traced, longMessages)
}

// One that never arrived is looked for once and then repeated, with the mark: who knows.
func TestMessageThatNeverArrived(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.lose(1, false)
		c := w.turn("1")
		c.answer("Short.")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", repeated+"Short.")
		want(t, "guesses", len(w.p.made("1", "edit")), 3)
	}, traced, longMessages)
}

// A lost message that the answer does not need is taken away.
func TestLostMessageThatIsNotNeeded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.lose(2, true)
		c := w.turn("1")
		c.say("The beginning")
		time.Sleep(2 * time.Second)
		c.event(core.EventBody{Type: core.ToolStart, Name: "shell", Call: "c1"})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		c.event(core.EventBody{Type: core.ToolComplete, Name: "shell", Call: "c1"})
		c.answer("The end.")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for _, text := range w.p.texts("1") {
			if text != "The beginning" && text != "The end." {
				t.Errorf("visible: %q", w.p.texts("1"))
			}
		}
	}, traced, longMessages)
}

// What fails while it is looked for is looked for again.
func TestFindingIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		edits, sends := 0, 0
		w.p.took = func(c call) bool { return c.method == "send" }
		w.p.failing(func(c call) error {
			switch c.method {
			case "send":
				if sends++; sends == 1 {
					return noAnswer
				}
			case "edit":
				switch edits++; edits {
				case 1:
					return broken
				case 2:
					return &adapters.Error{Kind: adapters.Limited, Code: 429, RetryAfter: 7 * time.Second}
				}
			}
			return nil
		})
		w.turn("1").answer("Short.")
		time.Sleep(time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "Short.")
		want(t, "sends", len(w.p.made("1", "send")), 1)
	}, traced, longMessages)
}
