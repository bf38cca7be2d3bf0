package deliver

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

func TestShortAnswerIsOneSendAndOneMark(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		d := c.answer("Hello there")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "Hello there")
		want(t, "calls", len(w.p.made("1")), 1)
		want(t, "state", d.State, core.DeliveryDelivered)
		want(t, "ref", d.Parts[0].Ref, "1")
		want(t, "sent", d.Parts[0].Sent, 1)
	}, unlimited)
}

// Many short answers at once are one call and one mark each, although they come in pieces.
func TestFloodOfShortAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		turns := make([]*turn, 50)
		for i := range turns {
			turns[i] = w.turn(strconv.Itoa(i))
		}
		for range 5 {
			for _, c := range turns {
				c.say("word ")
			}
			time.Sleep(time.Millisecond)
		}
		for _, c := range turns {
			c.view.End("word word word word word")
		}
		for _, c := range turns {
			c.answer("word word word word word")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, "calls", len(w.p.calls), len(turns))
	}, unlimited)
}

func TestStreamedAnswerIsOneMessage(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		for range 30 {
			c.say("word ")
			time.Sleep(300 * time.Millisecond)
		}
		synctest.Wait()
		if got := w.p.texts("1"); len(got) != 1 || !strings.HasSuffix(got[0], "▉") {
			t.Errorf("while it streams: %q", got)
		}
		final := strings.TrimSpace(c.text)
		d := c.answer(final)
		wantTexts(t, w.p, "1", strings.TrimSpace(final))
		want(t, "state", d.State, core.DeliveryDelivered)
		want(t, "kind", d.Kind, core.DeliverFinal)
		rows, err := w.s.Outbox().Of(t.Context(), c.claim.Admission.ID)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "rows", len(rows), 1)
		if len(w.p.shown["1"][0].buttons) != 0 {
			t.Error("the Stop button is still there")
		}
	}, longMessages)
}

// A refused edit stops every call to that chat, and only to that, until the platform's time has passed; then the newest
// text is shown.
func TestFloodWaitDuringStream(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var hit time.Time
		w.p.fail = func(c call) error {
			if c.method == "edit" && c.chat == "1" && hit.IsZero() {
				hit = c.at
				return &adapters.Error{Kind: adapters.Limited, Method: "edit", Code: 429, RetryAfter: 9 * time.Second}
			}
			return nil
		}
		a, b := w.turn("1"), w.turn("2")
		for range 60 {
			a.say("x ")
			b.say("y ")
			time.Sleep(300 * time.Millisecond)
		}
		synctest.Wait()
		var after []call
		for _, c := range w.p.made("1") {
			if c.at.After(hit) {
				after = append(after, c)
			}
		}
		if len(after) == 0 || after[0].at.Sub(hit) < 9*time.Second {
			t.Fatalf("calls after the refusal: %v", after)
		}
		if n := strings.Count(after[0].text, "x"); n < 30 {
			t.Errorf("the first edit after the wait shows %d words, not the newest text", n)
		}
		busy := 0
		for _, c := range w.p.made("2") {
			if c.at.After(hit) && c.at.Before(hit.Add(9*time.Second)) {
				busy++
			}
		}
		if busy < 5 {
			t.Errorf("the other chat got %d calls meanwhile", busy)
		}
		a.answer(strings.TrimSpace(a.text))
		b.answer(strings.TrimSpace(b.text))
		time.Sleep(time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", strings.Split(strings.TrimSpace(a.text), "\x00")...)
	}, longMessages)
}

// The edit that takes the cursor away is refused for longer than anybody waits: the wait is stored, and the same message
// is finished later, also by another process.
func TestFloodWaitOfFinalIsStored(t *testing.T) {
	for _, restart := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			c := w.turn("1")
			c.say("done")
			time.Sleep(2 * time.Second)
			synctest.Wait()
			wantTexts(t, w.p, "1", "done ▉")
			w.p.mu.Lock()
			refused := time.Now()
			w.p.fail = func(c call) error {
				if c.at.Sub(refused) < 30*time.Second {
					return &adapters.Error{Kind: adapters.Limited, Code: 429, RetryAfter: 30*time.Second - c.at.Sub(refused)}
				}
				return nil
			}
			w.p.mu.Unlock()
			before := len(w.p.made("1"))
			d := c.answer("done")
			want(t, "state", d.State, core.DeliveryOwed)
			if restart {
				w.stop()
				w.start()
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			wantTexts(t, w.p, "1", "done")
			want(t, "state", c.row(d.ID).State, core.DeliveryDelivered)
			if n := len(w.p.made("1")) - before; n > 2 {
				t.Errorf("%d calls for the final", n)
			}
		})
	}
}

func TestFinalIsLongerThanThePreview(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.say("Step 1… Step 2…")
		time.Sleep(3 * time.Second)
		final := strings.TrimSpace(strings.Repeat("a whole sentence. ", 20))
		d := c.answer(final)
		time.Sleep(time.Minute)
		synctest.Wait()
		got := strings.Join(w.p.texts("1"), " ")
		if got != final {
			t.Errorf("visible %q\nwant %q", got, final)
		}
		want(t, "state", c.row(d.ID).State, core.DeliveryDelivered)
	})
}

func TestPreviewWasDeletedByThePerson(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.say("one")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		w.p.mu.Lock()
		w.p.shown["1"] = nil
		w.p.mu.Unlock()
		c.say(" two")
		time.Sleep(3 * time.Second)
		c.answer("one two three")
		synctest.Wait()
		wantTexts(t, w.p, "1", "one two three")
	})
}

// A preview whose creation was never answered is not repeated; the final is, once, with the mark.
func TestUnknownFateOfThePreview(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.p.fail = func(c call) error {
			if c.n == 1 {
				return &adapters.Error{Kind: adapters.Ambiguous, Method: "send"}
			}
			return nil
		}
		w.p.took = func(call) bool { return true }
		c := w.turn("1")
		c.say("one")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		want(t, "sends", len(w.p.made("1", "send")), 1)
		d := c.answer("one two")
		time.Sleep(time.Minute)
		synctest.Wait()
		got := w.p.texts("1")
		if len(got) != 2 || got[1] != repeated+"one two" {
			t.Errorf("visible: %q", got)
		}
		want(t, "state", c.row(d.ID).State, core.DeliveryDelivered)
	})
}

func TestInterruptedTurnKeepsWhatWasSeen(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.say("The first part")
		time.Sleep(2 * time.Second)
		c.settle(core.Outcome{Result: core.Interrupted, Reason: core.ReasonStopped, Text: "(stopped)"})
		synctest.Wait()
		wantTexts(t, w.p, "1", "The first part\n\n(stopped)")
	})
}

func TestAbandonedViewSaysNothingMore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.say("one")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		n := len(w.p.made("1"))
		c.view.Abandon()
		c.say("two")
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, "calls", len(w.p.made("1")), n)
	})
}

// A retried turn adopts the message that the first attempt left behind: one message in the end.
func TestRetriedTurnAdoptsTheMessage(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.turn("1")
		a.say("half an ans")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		a.view.Abandon()
		if err := w.s.Release(t.Context(), a.fence); err != nil {
			t.Fatal(err)
		}
		rows, err := w.s.Orphan(t.Context(), alive)
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		if _, err := w.s.Resolve(t.Context(), rows[0].ID, core.Resolution{Retry: true,
			Outcome: core.Outcome{Result: core.Interrupted, Reason: core.ReasonRetried}}); err != nil {
			t.Fatal(err)
		}
		b := w.claim(a.fence.Conversation)
		b.say("half an answer")
		time.Sleep(2 * time.Second)
		d := b.answer("half an answer")
		time.Sleep(time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "half an answer")
		want(t, "state", b.row(d.ID).State, core.DeliveryDelivered)
	})
}

func TestPlatformWithoutEditsGetsWholeMessages(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.say("one ")
		time.Sleep(3 * time.Second)
		c.say("two")
		synctest.Wait()
		wantTexts(t, w.p, "1")
		c.answer("one two")
		synctest.Wait()
		wantTexts(t, w.p, "1", "one two")
	}, noCapabilities)
}

func TestTypingUntilSomethingIsShown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		time.Sleep(900 * time.Millisecond)
		synctest.Wait()
		want(t, "typing within the first second", len(w.p.made("1", "typing")), 0)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if n := len(w.p.made("1", "typing")); n < 2 || n > 3 {
			t.Errorf("%d typing calls in ten seconds", n)
		}
		c.event(core.EventBody{Type: core.ApprovalRequest})
		n := len(w.p.made("1", "typing"))
		time.Sleep(20 * time.Second)
		synctest.Wait()
		want(t, "typing while a person is asked", len(w.p.made("1", "typing")), n)
		c.event(core.EventBody{Type: core.QuestionResolved})
		c.say("here")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		want(t, "typing after the first text", len(w.p.made("1", "typing")), n)
		c.answer("here")
	})
}

func TestMuteTurn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.admit("1", "hello", func(s *core.Submission) { s.Route, s.Surface = core.Route{}, "rpc" })
		c := w.claim(a.Conversation)
		c.say("one")
		time.Sleep(2 * time.Second)
		if _, owed := c.commit(core.Outcome{Result: core.Completed, Text: "one"}); owed {
			t.Error("an answer is owed to nowhere")
		}
		c.view.Abandon()
		want(t, "calls", len(w.p.calls), 0)
	})
}

func TestBotsAreNotToldOfFailures(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.admit("1", "hello", func(s *core.Submission) { s.Display = map[string]string{"author": "bot"} })
		c := w.claim(a.Conversation)
		c.settle(core.Outcome{Result: core.Failed, Reason: core.ReasonProvider, Text: "No answer came."})
		synctest.Wait()
		want(t, "calls", len(w.p.calls), 0)
	})
}

func TestStopButtonComesAfterAWhile(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.say("one ")
		time.Sleep(100 * time.Millisecond)
		c.say("two")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		want(t, "buttons at once", len(w.p.shown["1"][0].buttons), 0)
		c.say(" three")
		time.Sleep(3 * time.Second)
		c.say(" four")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		m := w.p.shown["1"][0]
		if len(m.buttons) != 1 || m.buttons[0][0].Data != "stop:"+string(c.claim.Admission.ID) {
			t.Errorf("buttons after a while: %v", m.buttons)
		}
		c.answer("one two three four")
		wantTexts(t, w.p, "1", "one two three four")
		want(t, "buttons in the end", len(m.buttons), 0)
	})
}

// A model that hangs is what one wants to stop: the button does not wait for more text. It is put there by one call.
func TestStopButtonComesWithoutMoreText(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.say("Let me think")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		want(t, "buttons", len(w.p.shown["1"][0].buttons), 1)
		n := len(w.p.calls)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		for _, call := range w.p.calls[n:] {
			if call.method == "edit" {
				t.Errorf("another call: %+v", call)
			}
		}
		c.answer("Let me think")
		want(t, "buttons in the end", len(w.p.shown["1"][0].buttons), 0)
	})
}

// An answer that was complete within a second costs no call after its text stood.
func TestQuickAnswerNeedsNoLastCall(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.say("one ")
		time.Sleep(100 * time.Millisecond)
		c.say("two")
		c.view.End("one two")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		wantTexts(t, w.p, "1", "one two")
		n := len(w.p.calls)
		d := c.answer("one two")
		want(t, "calls after the text stood", len(w.p.calls)-n, 0)
		want(t, "state", d.State, core.DeliveryDelivered)
	}, unlimited)
}
