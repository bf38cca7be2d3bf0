package deliver

import (
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// A model that hangs is no secret: one message says so, is changed now and then, and goes with the answer.
func TestSilenceIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.turn("1")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "⏳ Still waiting for the model")
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		wantTexts(t, w.p, "1", "⏳ Still waiting for the model (4 min)")
		want(t, "messages", len(w.p.made("1", "send")), 1)
		if n := len(w.p.made("1", "edit")); n > 5 {
			t.Errorf("%d edits in four minutes", n)
		}
		c.say("At last")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantTexts(t, w.p, "1", "At last ▉")
		c.answer("At last.")
		synctest.Wait()
		wantTexts(t, w.p, "1", "At last.")
	}, func(c *Config, _ *platform) { c.Leases = nil })
}

// A call that failed in passing is no reason to show no typing any more.
func TestTypingSurvivesAFault(t *testing.T) {
	for kind, more := range map[adapters.ErrorKind]bool{adapters.Temporary: true, adapters.Ambiguous: true, adapters.Limited: true,
		adapters.Unsupported: false} {
		t.Run(string(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.p.failing(refuse(1, "typing", adapters.Error{Kind: kind, RetryAfter: time.Second}))
				c := w.turn("1")
				time.Sleep(20 * time.Second)
				synctest.Wait()
				if n := len(w.p.made("1", "typing")); (n > 1) != more {
					t.Errorf("%d calls", n)
				}
				c.view.Abandon()
			})
		})
	}
}

// Silence that has another reason is not the model's.
func TestSilenceOfOthers(t *testing.T) {
	for name, news := range map[string]core.EventBody{
		"a tool runs":     {Type: core.ToolStart, Name: "shell", Call: "c1"},
		"a question open": {Type: core.ApprovalRequest},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				c := w.turn("1")
				c.event(news)
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				for _, text := range w.p.texts("1") {
					if text != "⏳ Running a command" {
						t.Errorf("visible: %q", text)
					}
				}
				c.view.Abandon()
			})
		})
	}
	t.Run("nothing can be edited", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			c := w.turn("1")
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			wantTexts(t, w.p, "1")
			c.answer("At last.")
			synctest.Wait()
			wantTexts(t, w.p, "1", "At last.")
		}, noCapabilities)
	})
}
