package deliver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// polling says for a while, twice a second, that polls work.
func (w *world) polling(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; time.Sleep(500 * time.Millisecond) {
		w.m.Heard("fake")
	}
}

// tries sums the attempts of what is said in n chats.
func (w *world) tries(n int) (sum int) {
	for i := range n {
		sum += w.rows(itoa(i))[0].Attempts
	}
	return sum
}

var refusals = map[string]error{"refused": broken, "not reached": &adapters.Error{Kind: adapters.Temporary}}

// That polls work hastens nothing that the server refuses, and one row, once, where nothing got an answer.
func TestPollsDoNotHastenSends(t *testing.T) {
	failures := map[string]func(call) error{"nothing but polls is answered": every(refusals["not reached"])}
	for name, refusal := range refusals {
		failures[name] = sends(refusal)
	}
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.p.failing(fail)
				for i := range 8 {
					w.say(notice(itoa(i), "one"))
				}
				w.polling(30 * time.Second)
				synctest.Wait()
				n := 0
				for i := range 8 {
					n += len(w.p.made(itoa(i), "send"))
				}
				if n > 8*6+1 {
					t.Errorf("%d sends in half a minute for 8 rows", n)
				}
				for i := range 8 {
					if a := w.rows(itoa(i))[0].Attempts; a > 6 {
						t.Errorf("%d attempts count", a)
					}
				}
			}, longMessages, unlimited)
		})
	}
}

// Two answers each of many chats stand in their order after any time in which messages are refused and polls work, and soon.
func TestOrderAfterPartialOutage(t *testing.T) {
	for name, refusal := range refusals {
		for _, polls := range []bool{false, true} {
			for _, secs := range []int{5, 20, 60, 180} {
				t.Run(name, func(t *testing.T) {
					bubble(t, func(t *testing.T, w *world) {
						w.p.failing(sends(refusal))
						for _, text := range []string{"one", "two"} {
							for i := range 8 {
								w.turn(itoa(i)).answer(text)
							}
						}
						if d := time.Duration(secs) * time.Second; polls {
							w.polling(d)
						} else {
							time.Sleep(d)
						}
						w.p.failing(nil)
						time.Sleep(40 * time.Second)
						synctest.Wait()
						for i := range 8 {
							wantTexts(t, w.p, itoa(i), "one", "two")
						}
					}, longMessages, unlimited)
				})
			}
		}
	}
}

// After calls without any answer one row is tried before the others: it shows whether messages are taken again.
func TestOneRowIsTriedFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.p.failing(every(&adapters.Error{Kind: adapters.Temporary}))
		for i := range 8 {
			w.say(notice(itoa(i), "one"))
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		w.p.failing(sends(broken))
		at, tries := time.Now(), w.tries(8)
		w.m.Heard("fake")
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		n := 0
		for i := range 8 {
			for _, c := range w.p.made(itoa(i), "send") {
				if !c.at.Before(at) {
					n++
				}
			}
		}
		want(t, "sends", n, 1)
		want(t, "attempts that count", w.tries(8), tries)
		w.p.failing(nil)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		for i := range 8 {
			wantTexts(t, w.p, itoa(i), "one")
		}
	}, unlimited)
}

// A row that was set aside is nobody's debt while it is sent again, and stays aside when its chat moves.
func TestAsideStaysAside(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.p.failing(func(c call) error {
			if c.text == "one" {
				time.Sleep(20 * time.Second)
				return broken
			}
			return nil
		})
		a := w.turn("1")
		d := a.settleLater("one")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		want(t, "aside", a.row(d.ID).Aside, true)
		if err := w.s.Rekey(t.Context(), "fake:1", "fake:2", "2"); err != nil {
			t.Fatal(err)
		}
		want(t, "aside in the new chat", a.row(d.ID).Aside, true)
		for range 60 {
			if w.m.debts.before(lane{platform: "fake", chat: "2"}, "") || w.m.debts.before(lane{platform: "fake", chat: "1"}, "") {
				t.Fatal("it is a debt")
			}
			time.Sleep(time.Second)
		}
	}, unlimited)
}

// settleLater commits an answer and leaves it to the outbox.
func (t *turn) settleLater(text string) core.Delivery {
	d, _ := t.commit(core.Outcome{Result: core.Completed, Reason: core.ReasonAnswered, Text: text})
	if err := t.view.leave(context.WithoutCancel(t.w.t.Context()), d); err != nil {
		t.w.t.Fatal(err)
	}
	t.view.Abandon()
	return d
}

// What is owed or paid while the store is read is not undone by what it held before.
func TestDebtsMeanwhile(t *testing.T) {
	b := newDebts()
	row := func(id core.DeliveryID) core.Delivery {
		return core.Delivery{ID: id, Kind: core.DeliverFinal, State: core.DeliveryOwed, Route: core.Route{Chat: string(id)}}
	}
	b.note(row("deleted"))
	b.note(row("paid"))
	err := b.renew(func() ([]core.Delivery, error) {
		b.note(row("new"))
		b.paid("paid")
		return []core.Delivery{row("paid"), row("known")}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, owed := range map[string]bool{"deleted": false, "paid": false, "new": true, "known": true} {
		want(t, id, b.before(lane{chat: id}, ""), owed)
	}
}

// While the end of an answer is refused the next turn, which runs already, shows nothing.
func TestNextAnswerWaitsForTheEndOfTheLast(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.turn("1")
		a.say("one")
		time.Sleep(2 * time.Second)
		w.p.failing(func(c call) error {
			if c.method == "edit" {
				return broken
			}
			return nil
		})
		d, _ := a.commit(core.Outcome{Result: core.Completed, Reason: core.ReasonAnswered, Text: "one, whole"})
		settled := make(chan error, 1)
		go func() { settled <- a.view.Settled(t.Context(), d) }()
		synctest.Wait()
		b := w.turn("1")
		b.say("two")
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if got := w.p.texts("1"); len(got) != 1 {
			t.Errorf("visible: %q", got)
		}
		w.p.failing(nil)
		time.Sleep(500 * time.Millisecond)
		b.answer("two, whole")
		if err := <-settled; err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "one, whole", "two, whole")
	}, unlimited)
}
