package deliver

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// failing sets what fails from now on.
func (p *platform) failing(fail func(call) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = fail
}

var (
	noAnswer = &adapters.Error{Kind: adapters.Ambiguous}
	broken   = &adapters.Error{Kind: adapters.Temporary, Code: 502}
)

func every(err error) func(call) error { return func(call) error { return err } }

func sends(err error) func(call) error {
	return func(c call) error {
		if c.method == "send" {
			return err
		}
		return nil
	}
}

// While a platform is away nothing is sent into the void: a probe asks, ever more seldom, and the first sign of life sends
// what is owed, in order, at once. There are as many copies as there were sends without an answer.
func TestOutage(t *testing.T) {
	for name, again := range map[string]func(w *world){
		"found by a probe":      func(*world) { time.Sleep(45 * time.Second) },
		"heard of by an update": func(w *world) { w.m.Heard("fake"); time.Sleep(100 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.p.failing(every(noAnswer))
				w.say(notice("1", "one"))
				time.Sleep(5 * time.Second)
				w.say(notice("1", "two"))
				w.say(notice("2", "three"))
				time.Sleep(time.Hour + 10*time.Second)
				synctest.Wait()
				want(t, "sends", len(w.p.made("1", "send"))+len(w.p.made("2", "send")), 1)
				if n := len(w.p.made("", "probe")); n < 90 || n > 150 {
					t.Errorf("%d probes in an hour", n)
				}
				w.p.failing(nil)
				again(w)
				synctest.Wait()
				wantTexts(t, w.p, "1", repeated+"one", "two")
				wantTexts(t, w.p, "2", "three")
			}, unlimited)
		})
	}
}

// An answer whose sends get no answer, although the platform otherwise works, is never given up before its time; its
// copies are few, and others do not wait for it.
func TestCopiesAreFew(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.p.failing(func(c call) error {
			if c.method == "send" && strings.HasSuffix(c.text, "one") {
				return noAnswer
			}
			return nil
		})
		w.say(notice("1", "one"))
		w.say(notice("1", "two"))
		time.Sleep(time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "two")
		if n := len(w.p.made("1", "send")); n > 6 {
			t.Errorf("%d sends in a minute", n)
		}
		time.Sleep(4 * time.Hour)
		if n := len(w.p.made("1", "send")); n > 9 {
			t.Errorf("%d sends in four hours", n)
		}
		want(t, "state", w.rows("1")[0].State, core.DeliveryOwed)
		w.p.failing(nil)
		time.Sleep(7 * time.Hour)
		synctest.Wait()
		wantTexts(t, w.p, "1", "two", repeated+"one")
	}, unlimited)
}

// What fails for good although the platform answers is dead when its time is over, and not before.
func TestGivenUpByAge(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.p.failing(sends(broken))
		w.say(notice("1", "one"))
		time.Sleep(50 * time.Minute)
		synctest.Wait()
		want(t, "state", w.rows("1")[0].State, core.DeliveryOwed)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		want(t, "state", w.rows("1")[0].State, core.DeliveryDead)
	}, unlimited, func(c *Config, _ *platform) { c.GiveUp = time.Hour })
}

// A row that fails again and again holds up its chat for a minute at most, and is sent when it can be.
func TestOneFailingRowHoldsNobodyUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.p.failing(func(c call) error {
			if c.method == "send" && c.text == "one" {
				return broken
			}
			return nil
		})
		w.turn("1").answer("one")
		w.turn("1").answer("two")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1") // order is kept at first
		time.Sleep(65 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "two")
		w.p.failing(nil)
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "two", "one")
	}, unlimited)
}

// Answers stand in the order of their turns, whatever the platform refuses at first; also across a restart.
func TestAnswersInOrder(t *testing.T) {
	refusals := map[string]*adapters.Error{
		"flood":     {Kind: adapters.Limited, Code: 429, RetryAfter: 7 * time.Second},
		"temporary": broken,
		"no answer": noAnswer,
	}
	for name, refusal := range refusals {
		for _, restart := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					w.p.failing(sends(refusal))
					a := w.turn("1")
					a.answer("first")
					w.p.failing(nil)
					if restart {
						w.stop()
						w.start()
						synctest.Wait()
					}
					b := w.turn("1")
					b.say("second ")
					time.Sleep(500 * time.Millisecond)
					b.say("answer")
					time.Sleep(500 * time.Millisecond)
					b.answer("second answer")
					time.Sleep(20 * time.Second)
					synctest.Wait()
					got := w.p.texts("1")
					if len(got) != 2 || !strings.HasSuffix(got[0], "first") || got[1] != "second answer" {
						t.Errorf("visible: %q", got)
					}
					want(t, "made", len(w.p.made("1", "send")), 3)
				}, unlimited)
			})
		}
	}
}

// That other calls work is no reason to try a row again that fails by itself.
func TestOthersDoNotHasten(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.p.failing(func(c call) error {
			if c.chat == "1" && c.method == "send" {
				return broken
			}
			return nil
		})
		w.say(notice("1", "one"))
		for range 600 {
			w.say(notice("2", "other"))
			time.Sleep(time.Second)
		}
		if n := len(w.p.made("1", "send")); n < 10 || n > 26 {
			t.Errorf("%d sends in ten minutes", n)
		}
	}, unlimited)
}

// An answer to which nobody can listen any more does not hold back the next one.
func TestDeadAnswerHoldsNobodyUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.p.failing(sends(&adapters.Error{Kind: adapters.Misuse, Code: 400}))
		a := w.turn("1")
		d := a.answer("first")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		want(t, "state", a.row(d.ID).State, core.DeliveryDead)
		w.p.failing(nil)
		w.turn("1").answer("second")
		synctest.Wait()
		wantTexts(t, w.p, "1", "second")
	}, unlimited)
}

// An answer that was owed and deleted holds nobody up for long.
func TestDeletedAnswerHoldsNobodyUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		synctest.Wait()
		w.m.debts.owe(core.Delivery{ID: "deleted", Route: core.Route{Platform: "fake", Chat: "1"}})
		c := w.turn("1")
		c.say("second")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1")
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if n := len(w.p.texts("1")); n == 0 {
			t.Error("nothing is shown")
		}
		c.view.Abandon()
	}, unlimited, func(c *Config, _ *platform) { c.Leases = nil })
}

// When messages are made again, one whose sends were lost many times does not wait for all of its long pause.
func TestLongPausesEndSooner(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		lost := 0
		w.p.failing(func(c call) error {
			if c.chat == "1" && c.method == "send" && lost < 5 {
				lost++
				return noAnswer
			}
			return nil
		})
		w.say(notice("1", "one"))
		for range 20 {
			time.Sleep(10 * time.Second)
			w.say(notice("2", "other"))
		}
		synctest.Wait()
		wantTexts(t, w.p, "1", repeated+"one")
	}, unlimited)
}
