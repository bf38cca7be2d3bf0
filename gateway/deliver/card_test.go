package deliver

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"

	"github.com/oklog/ulid/v2"
)

// asked opens a question in a turn, as the ask desk does.
func (t *turn) asked(kind core.QuestionKind, ask core.Ask) core.Question {
	t.w.t.Helper()
	ask.Kind = kind
	now := time.Now()
	q, err := t.w.s.Put(t.w.t.Context(), core.Question{ID: core.QuestionID(ulid.Make().String()), Conversation: t.fence.Conversation,
		Admission: t.claim.Admission.ID, Turn: t.fence.Turn, Ask: ask, State: core.QuestionOpen, For: t.claim.Admission.By,
		Created: now, Deadline: now.Add(5 * time.Minute)})
	if err != nil {
		t.w.t.Fatal(err)
	}
	t.w.m.On(core.Event{Conversation: q.Conversation, Admission: q.Admission, EventBody: core.EventBody{Type: core.ApprovalRequest, Question: q.ID}})
	return q
}

func (w *world) resolved(q core.Question) {
	w.m.On(core.Event{Conversation: q.Conversation, EventBody: core.EventBody{Type: core.QuestionResolved, Question: q.ID}})
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

func home(c *Config, _ *platform) {
	c.Home = func(context.Context) (core.Route, bool) { return core.Route{Platform: "fake", Chat: "home"}, true }
}

var rm = core.Ask{Title: "Run a command?", Detail: "rm -rf ```build```", Risk: "deletes files", Key: "rm"}

func TestApprovalOfAUserGoesToTheOwner(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		q := c.asked(core.Approval, rm)
		time.Sleep(time.Second)
		synctest.Wait()
		card := w.p.shown["home"][0]
		for _, part := range []string{"Run a command?", "````\nrm -rf ```build```\n````", "deletes files", "Ann", "/approve " + string(q.ID)} {
			if !strings.Contains(card.text, part) {
				t.Errorf("the card lacks %q:\n%s", part, card.text)
			}
		}
		var data []string
		for _, row := range card.buttons {
			for _, b := range row {
				data = append(data, b.Data)
				if len(b.Data) > 64 {
					t.Errorf("%d bytes of data", len(b.Data))
				}
			}
		}
		want(t, "buttons", strings.Join(data, " "), strings.ReplaceAll("ans:ID:once ans:ID:session ans:ID:always ans:ID:deny", "ID", string(q.ID)))
		if got := w.p.texts("1"); len(got) != 1 || !strings.Contains(got[0], "owner's permission") {
			t.Errorf("in the chat of the turn: %q", got)
		}
		// the same news again, as after a restart of the turn
		w.m.On(core.Event{EventBody: core.EventBody{Type: core.ApprovalRequest, Question: q.ID}})
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "cards", len(w.p.texts("home")), 1)

		if _, err := w.s.Answer(t.Context(), q.ID, string(core.ChoiceOnce), core.Principal{ID: "fake:9", Name: "Otto"}); err != nil {
			t.Fatal(err)
		}
		w.resolved(q)
		for _, chat := range []string{"home", "1"} {
			m := w.p.shown[chat]
			if len(m) != 1 || !strings.Contains(m[0].text, "allowed once by Otto at ") || len(m[0].buttons) != 0 {
				t.Errorf("in %s after the answer: %+v", chat, m[0])
			}
		}
		n := len(w.p.made("home"))
		w.resolved(q)
		want(t, "calls for news that is old", len(w.p.made("home")), n)
	}, home, longMessages)
}

func TestApprovalOfAnAdminIsAskedWhereTheyAre(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		q := c.asked(core.Approval, core.Ask{Title: "Run it?"})
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "cards at home", len(w.p.texts("home")), 0)
		want(t, "cards in the chat", len(w.p.texts("1")), 1)
		want(t, "choices without a key", len(w.p.shown["1"][0].buttons[0]), 2)
		if _, err := w.s.Expire(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		w.resolved(q)
		if got := w.p.texts("1"); len(got) != 1 || !strings.Contains(got[0], "expired") || len(w.p.shown["1"][0].buttons) != 0 {
			t.Errorf("after its time: %q", got)
		}
	}, home, longMessages, func(c *Config, _ *platform) { c.Turns = admins{c.Turns} })
}

// admins makes every turn an admin's.
type admins struct{ Turns }

func (a admins) Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error) {
	row, err := a.Turns.Admission(ctx, id)
	row.Admin = true
	return row, err
}

func TestClarifyIsAskedInTheChat(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		c.asked(core.Clarify, core.Ask{Title: "Which one?", Choices: []string{"the red", "the blue"}})
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "cards", len(w.p.texts("1")), 1)
		want(t, "buttons", w.p.shown["1"][0].buttons[1][0].Label, "the blue")
	}, home, longMessages)
}

// A question that was answered while its card waited for the platform is never shown as open.
func TestAnsweredBeforeItWasShown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		w.m.channels["fake"].budget.cool("1", false, 20*time.Second)
		q := c.asked(core.Clarify, core.Ask{Title: "Which one?", Choices: []string{"a"}})
		time.Sleep(time.Second)
		if _, err := w.s.Answer(t.Context(), q.ID, "a", core.Principal{ID: "fake:1", Name: "Ann"}); err != nil {
			t.Fatal(err)
		}
		w.resolved(q)
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, m := range w.p.shown["1"] {
			if len(m.buttons) > 0 && strings.HasPrefix(m.buttons[0][0].Data, "ans:") {
				t.Errorf("an answered question can be pressed: %+v", m)
			}
		}
	}, home, longMessages)
}

func TestReplaceTakesButtonsAway(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.say(notice("1", "Cut off.", func(d *core.Delivery) {
			d.Buttons = []core.Button{{Label: "done", Data: "fate:A1:done"}}
		}))
		time.Sleep(time.Second)
		synctest.Wait()
		if err := w.m.Replace(t.Context(), "A1", "fate:", "Noted (Ann)"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "Cut off.\n\nNoted (Ann)")
		want(t, "buttons", len(w.p.shown["1"][0].buttons), 0)
	})
}

// What waits may be cleared without another turn: what was said about it goes, whatever the platform answers at first.
func TestPlaceOfAClearedQueue(t *testing.T) {
	for name, fail := range map[string]func(call) error{
		"at once":   nil,
		"temporary": refuse(1, "delete", adapters.Error{Kind: adapters.Temporary, Code: 502}),
		"no answer": refuse(1, "delete", adapters.Error{Kind: adapters.Ambiguous}),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				c := w.turn("1")
				var waiting []core.AdmissionID
				for n := range 3 {
					a := w.admit("1", "more")
					waiting = append(waiting, a.ID)
					w.m.Waiting(a, n+1)
				}
				time.Sleep(4 * time.Second)
				synctest.Wait()
				wantTexts(t, w.p, "1", placeText(3))
				w.p.failing(fail)
				if _, err := w.s.Cancel(t.Context(), c.fence.Conversation, core.Outcome{Result: core.Cancelled, Reason: core.ReasonStopped}, waiting...); err != nil {
					t.Fatal(err)
				}
				c.view.Abandon()
				time.Sleep(5 * time.Second)
				synctest.Wait()
				wantTexts(t, w.p, "1")
				want(t, "watched places", len(w.m.pulse.places), 0)
			})
		})
	}
}

func TestPlaceInTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		for n := range 3 {
			w.m.Waiting(w.admit("1", "more"), n+1)
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		want(t, "told at once", len(w.p.texts("1")), 0)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", placeText(3))
		c.view.Abandon()
		if _, err := w.s.Settle(t.Context(), c.fence, c.claim.Admission.ID, core.Settlement{Outcome: core.Outcome{Result: core.Completed}}); err != nil {
			t.Fatal(err)
		}
		next := w.claim(c.fence.Conversation)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", placeText(2))
		w.m.pulse.begins(c.fence.Conversation, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1")
		next.view.Abandon()
		time.Sleep(time.Second)
		want(t, "watched places", len(w.m.pulse.places), 0)
	})
}
