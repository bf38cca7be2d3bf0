package deliver

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

func traced(_ *Config, p *platform) { p.traces = true }

// lateEdits makes edits take their time on the way.
func lateEdits(_ *Config, p *platform) { p.slow = 300 * time.Millisecond }

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

// wrote says that somebody's message has come in: what was made before it is below.
func (p *platform) wrote() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	p.know(itoa(p.next))
}

// A message whose send got no answer is found and finished once something newer is known: it is not repeated, and nothing
// is left of a preview.
func TestLostMessageIsFound(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.lose(1, true)
		c := w.turn("1")
		c.say("The beginning")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "The beginning ▉")
		w.p.wrote()
		d := c.answer("The beginning and the end.")
		synctest.Wait()
		wantTexts(t, w.p, "1", "The beginning and the end.")
		want(t, "state", d.State, core.DeliveryDelivered)
		want(t, "sends", len(w.p.made("1", "send")), 1)

		w.lose(1, true)
		c = w.turn("2")
		c.answer("Short.")
		w.say(notice("3", "elsewhere"))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "2", "Short.")
		want(t, "sends", len(w.p.made("2", "send")), 1)
	}, traced, longMessages)
}

// Where nothing newer comes the message is repeated, with the mark. The repeat is something newer: the first copy is found
// below it and taken away, and so is the mark.
func TestRepeatTakesTheFirstCopyAway(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.lose(1, true)
		c := w.turn("1")
		c.say("The beginning")
		time.Sleep(time.Second)
		d := c.answer("The beginning and the end.")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "The beginning and the end.")
		want(t, "state", c.row(d.ID).State, core.DeliveryDelivered)
		calls := w.p.made("1", "send")
		want(t, "sends", len(calls), 2)
		want(t, "the repeat", calls[1].text, repeated+"The beginning and the end.")
	}, traced, longMessages)
}

// One that never arrived is nowhere: it is repeated with the mark, and no id is guessed that may become another's.
func TestMessageThatNeverArrived(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.lose(1, false)
		c := w.turn("1")
		c.answer("Short.")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", repeated+"Short.")
		want(t, "guesses", len(w.p.made("1", "edit")), 0)
	}, traced, longMessages)
}

// A lost message that the answer does not need is taken away when something newer is there.
func TestLostMessageThatIsNotNeeded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.lose(2, true)
		c := w.turn("1")
		c.say("The beginning")
		time.Sleep(2 * time.Second)
		c.event(core.EventBody{Type: core.ToolStart, Name: "shell", Call: "c1"})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		want(t, "messages", len(w.p.texts("1")), 2)
		c.event(core.EventBody{Type: core.ToolComplete, Name: "shell", Call: "c1"})
		c.answer("The end.")
		time.Sleep(5 * time.Second)
		w.turn("1").answer("Another.")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for _, text := range w.p.texts("1") {
			if text != "The beginning" && text != "The end." && text != "Another." {
				t.Errorf("visible: %q", w.p.texts("1"))
			}
		}
	}, traced, longMessages)
}

// A place in the queue that nobody knows of goes with the next answer.
func TestLostPlaceIsTakenAway(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.lose(1, true)
		c := w.turn("1")
		w.m.Waiting(w.admit("1", "again"), 1)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", placeText(1))
		c.answer("Short.")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "Short.")
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
		w.p.wrote()
		time.Sleep(time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "Short.")
		want(t, "sends", len(w.p.made("1", "send")), 1)
	}, traced, longMessages)
}

// The id that a message which never arrived would have had goes to the next one. That one is left alone.
func TestNextMessageIsNotTakenForALostOne(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.say(notice("1", "hello"))
		time.Sleep(10 * time.Second)
		w.lose(1, false)
		w.say(notice("1", "the status"))
		c := w.turn("1")
		time.Sleep(1500 * time.Millisecond) // it would be looked for
		c.say("A live answer")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		c.answer("A live answer, whole.")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		got := w.p.texts("1")
		if len(got) != 3 || got[0] != "hello" || got[1] != "A live answer, whole." || got[2] != repeated+"the status" {
			t.Errorf("visible: %q", got)
		}
		for _, d := range w.rows("1") {
			want(t, d.Text, d.State, core.DeliveryDelivered)
		}
	}, traced, longMessages, lateEdits, unlimited)
}

// Of two messages that were lost in one chat neither is taken for the other, whatever their threads and kinds.
func TestTwoLostInOneChat(t *testing.T) {
	topic := func(thread string) func(*core.Delivery) {
		return func(d *core.Delivery) { d.Route.Thread, d.Route.Group = thread, true }
	}
	first := map[string]func(w *world){
		"two topics":          func(w *world) { w.say(notice("-5", "other", topic("1"))) },
		"a place and a final": func(w *world) { w.m.Waiting(w.admit("-5", "again"), 1); time.Sleep(3 * time.Second) },
		"a word without a row": func(w *world) {
			w.m.Notify(w.t.Context(), core.Route{Platform: "fake", Chat: "-5"}, "c", "other")
		},
	}
	for name, other := range first {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.say(notice("-5", "hello", topic("1")))
				time.Sleep(10 * time.Second)
				w.p.took = func(c call) bool { return c.method == "send" }
				n := 0
				w.p.failing(func(c call) error {
					if c.method == "send" {
						if n++; n <= 2 {
							return noAnswer
						}
					}
					return nil
				})
				other(w)
				time.Sleep(10 * time.Millisecond)
				w.say(notice("-5", "for topic 2", topic("2")))
				time.Sleep(time.Minute)
				synctest.Wait()
				got := w.p.texts("-5")
				if got[1] == "for topic 2" || got[2] != "for topic 2" || got[len(got)-1] != repeated+"for topic 2" && got[len(got)-2] != repeated+"for topic 2" {
					t.Errorf("visible: %q", got)
				}
				want(t, "guesses", len(w.p.made("-5", "edit")), 0)
			}, traced, longMessages, unlimited)
		})
	}
}

// What is remembered of lost messages is bounded, and what stands beside another in its chat is not alone.
func TestLossesAreBounded(t *testing.T) {
	l := newLosses()
	for i := range 3 * keepChats {
		l.end(itoa(i), l.begin(itoa(i), "m"), true)
	}
	if len(l.chats) > keepChats {
		t.Errorf("%d chats are kept", len(l.chats))
	}
	for range 3 * keepLosses {
		l.end("x", l.begin("x", ""), true)
	}
	if n := len(l.chats["x"]); n > keepLosses {
		t.Errorf("%d messages of a chat are kept", n)
	}
	o := l.begin("x", "m")
	if l.end("x", o, true); l.alone("x", o.name) || !strings.HasPrefix(o.name, "m#") {
		t.Error("a message is looked for among others that were lost")
	}
}
