package telegram_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/adapters/adaptertest"
	"bellhop/adapters/telegram/telegramtest"
)

// polling is a running adapter in a bubble.
type polling struct {
	*harness
	in   *adaptertest.Inbox
	a    adapters.Adapter
	done chan error
}

// bubble runs f in a synctest bubble with an adapter that is not started yet.
func bubble(t *testing.T, f func(t *testing.T, p *polling)) {
	synctest.Test(t, func(t *testing.T) {
		p := &polling{harness: newHarness(t), in: adaptertest.NewInbox(), done: make(chan error, 1)}
		a, err := p.Open()
		if err != nil {
			t.Fatal(err)
		}
		p.a = a
		f(t, p)
	})
}

func (p *polling) start() {
	ctx, cancel := context.WithCancel(p.t.Context())
	ended := make(chan struct{})
	go func() {
		p.done <- p.a.Run(ctx, p.in)
		close(ended)
	}()
	p.t.Cleanup(func() { cancel(); <-ended })
	synctest.Wait()
}

func (p *polling) got(n int) []adapters.Inbound {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Hour)
	defer cancel()
	all, err := p.in.Wait(ctx, n)
	if err != nil || len(all) != n {
		p.t.Fatalf("received %d acts, want %d", len(all), n)
	}
	return all
}

// health waits until the last Health satisfies f.
func (p *polling) health(f func(error) bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Hour)
	defer cancel()
	if p.in.Until(ctx, f) != nil {
		p.t.Fatalf("health never came: %v", p.in.Healths())
	}
}

func healthy(err error) bool { return err == nil }

// polls returns the offsets asked for, in order.
func (p *polling) polls() []string {
	var out []string
	for _, c := range p.fake.Calls("getUpdates") {
		out = append(out, c.Args["offset"])
	}
	return out
}

func TestPollAsksFor(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.start()
		p.dm.Say(p.ann, "one")
		p.got(1)
		synctest.Wait()
		calls := p.fake.Calls("getUpdates")
		if calls[0].Args["timeout"] != "0" || calls[1].Args["timeout"] != "50" || calls[0].Args["limit"] != "100" {
			t.Errorf("first polls are %v and %v", calls[0].Args, calls[1].Args)
		}
		if want := `["message","edited_message","callback_query","my_chat_member","stopped_message_generation"]`; calls[0].Args["allowed_updates"] != want {
			t.Errorf("allowed updates are %s", calls[0].Args["allowed_updates"])
		}
	})
}

// After a restart the stored place is asked for first, and the 100 to 105 of before do not come again (C062).
func TestRestartGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		for range 6 {
			p.dm.Say(p.ann, "x")
		}
		first := p.fake.Waiting()
		if _, err := p.in.Receive(t.Context(), adapters.Batch{Cursor: "1004"}); err != nil {
			t.Fatal(err)
		}
		p.start()
		if got := p.got(3); got[0].ID != "1004" || first != 6 {
			t.Errorf("first is %s", got[0].ID)
		}
		if p.polls()[0] != "1004" {
			t.Errorf("offsets are %v", p.polls())
		}
	})
}

// One update that nobody can read holds nothing up, in a batch or alone.
func TestPoisonedUpdate(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.dm.Say(p.ann, "before")
		p.fake.Inject(`{"message":{"message_id":"poison"}}`)
		p.dm.Say(p.ann, "after")
		p.start()
		got := p.got(3)
		if got[1].Kind != adapters.KindRaw || got[1].ID != "1002" || !strings.Contains(string(got[1].Raw), "poison") || got[2].Text != "after" {
			t.Errorf("received %+v", got)
		}
		synctest.Wait()
		if p.fake.Waiting() != 0 {
			t.Error("the poisoned update was not acknowledged")
		}
	})
}

// Ids jump after a quiet week; exact ids count, not their order of magnitude.
func TestIDsJump(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.start()
		p.dm.Say(p.ann, "one")
		p.fake.SkipIDs(900_000_000)
		p.dm.Say(p.ann, "two")
		if got := p.got(2); got[1].ID != "900001002" {
			t.Errorf("received %+v", got)
		}
	})
}

func TestConflictIsReportedAndBacksOff(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.start()
		p.health(healthy)
		p.fake.Fail(telegramtest.Fault{Method: "getUpdates", Times: 4, Status: 409, Text: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"})
		p.fake.Cut()
		p.health(func(err error) bool { return adapters.KindOf(err) == adapters.Conflict })
		begin := time.Now()
		p.health(healthy)
		if waited := time.Since(begin); waited < 15*time.Second || waited > 5*time.Minute {
			t.Errorf("four conflicts took %v", waited)
		}
	})
}

// A webhook that an earlier program left keeps every poll out until it is deleted; nothing waiting is dropped with it.
func TestForgottenWebhook(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.dm.Say(p.ann, "waiting")
		c := telegramtest.Pipe(t, p.fake)
		resp, err := c.Post("http://t/bot"+p.fake.Bot().Token+"/setWebhook", "application/json", strings.NewReader(`{"url":"http://gone.invalid/"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		p.start()
		p.got(1)
		if n := len(p.fake.Calls("deleteWebhook")); n != 1 {
			t.Errorf("%d calls of deleteWebhook", n)
		}
	})
}

func TestPollHonoursRetryAfter(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.fake.Fail(telegramtest.Fault{Method: "getUpdates", Status: 429, RetryAfter: 90})
		begin := time.Now()
		p.start()
		p.health(healthy)
		if waited := time.Since(begin); waited < 90*time.Second || waited > 2*time.Minute {
			t.Errorf("polled again after %v, want 90 s", waited)
		}
	})
}

// A poll that hangs is noticed by its own age; afterwards a short poll finds out at once that the connection is back.
func TestDeadPoll(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.start()
		p.health(healthy)
		p.fake.Fail(telegramtest.Fault{Method: "getUpdates", Delay: time.Hour, Times: 3})
		p.fake.Cut()
		begin := time.Now()
		p.health(func(err error) bool { return err != nil && strings.Contains(err.Error(), "no successful poll for 1") })
		p.health(healthy)
		if waited := time.Since(begin); waited > 3*time.Minute {
			t.Errorf("back after %v", waited)
		}
		p.dm.Say(p.ann, "x")
		p.got(1)
	})
}

func TestOutageEndsWithinOnePause(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.fake.Fail(telegramtest.Fault{Method: "getUpdates", Status: 502, Body: "<html>", Times: -1})
		p.start()
		down := time.Now()
		p.health(func(error) bool { return time.Since(down) > 50*time.Minute })
		n := len(p.fake.Calls("getUpdates"))
		if n < 60 || n > 400 { // pauses of 30 s, half as long or half as much again
			t.Errorf("%d polls in 50 minutes of outage", n)
		}
		p.fake.Heal()
		up := time.Now()
		p.health(healthy)
		if waited := time.Since(up); waited > 46*time.Second {
			t.Errorf("back after %v", waited)
		}
	})
}

// An update that cannot be told to be forgotten comes again and again: that is said, and polls get rarer.
func TestUpdateWithoutAnID(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.fake.Fail(telegramtest.Fault{Method: "getUpdates", Status: 200, Body: `{"ok":true,"result":[{"update_id":"x"}]}`, Times: -1})
		p.start()
		time.Sleep(10 * time.Minute)
		if n := len(p.fake.Calls("getUpdates")); n < 10 || n > 100 {
			t.Errorf("%d polls in 10 minutes", n)
		}
		if h := p.in.Healths(); len(h) == 0 || h[len(h)-1] == nil {
			t.Errorf("nothing is said: %v", h)
		}
		p.fake.Heal()
		p.dm.Say(p.ann, "hello")
		p.health(healthy)
	})
}

// A store that fails keeps the update on the server's side too: a new process would get it again.
func TestStoreFails(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.in.FailWith(func() error { return errors.New("disk full") })
		p.start()
		p.dm.Say(p.ann, "x")
		time.Sleep(time.Hour) // of the bubble
		if p.fake.Waiting() != 1 {
			t.Error("acknowledged although it was never stored")
		}
		for _, offset := range p.polls() {
			if offset != "" {
				t.Errorf("offset %s was sent", offset)
			}
		}
		p.in.FailWith(nil)
		p.got(1)
	})
}

// Nothing waits for getMe but a group's message that names somebody; it then waits, and is not misread.
func TestNameIsWaitedForOnlyWhereItMatters(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.fake.Fail(telegramtest.Fault{Method: "getMe", Delay: 20 * time.Second})
		begin := time.Now()
		p.start()
		p.dm.Say(p.ann, "hello")
		p.got(1)
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("a plain message waited %v", waited)
		}
		p.group.Say(p.ann, "@bell_bot hello")
		if in := p.got(2)[1]; !in.Mentioned || time.Since(begin) != 20*time.Second {
			t.Errorf("mentioned %v after %v", in.Mentioned, time.Since(begin))
		}
	})
}

func TestNameCannotBeLearnedYet(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.fake.Fail(telegramtest.Fault{Method: "getMe", Status: 500, Times: 4})
		p.start()
		p.group.Say(p.ann, "@bell_bot hello")
		if in := p.got(1)[0]; !in.Mentioned || in.Text != "hello" {
			t.Errorf("received %+v", in)
		}
	})
}

func TestRunEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		fault telegramtest.Fault
		want  adapters.ErrorKind
	}{
		"revoked":     {telegramtest.Fault{Method: "getUpdates", Status: 401}, adapters.Auth},
		"wrong token": {telegramtest.Fault{Method: "getUpdates", Status: 404}, adapters.Misuse},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *polling) {
				p.fake.Fail(tt.fault)
				p.start()
				if err := <-p.done; adapters.KindOf(err) != tt.want {
					t.Errorf("Run ended with %v, want %q", err, tt.want)
				}
				p.done <- nil
			})
		})
	}
}

// The press is answered and chat B is served while chat A's store is slow to come back (C151).
func TestPressIsAnsweredAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, p *polling) {
		p.in.AnswerPresses("approved")
		p.start()
		begin := time.Now()
		p.fake.Fail(telegramtest.Fault{Method: "answerCallbackQuery", Delay: 10 * time.Second})
		query := p.group.Press(p.ann, 1, "ans:1:once")
		p.dm.Say(p.ann, "meanwhile")
		p.got(2)
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("a slow toast held the loop up for %v", waited)
		}
		time.Sleep(11 * time.Second) // of the bubble
		if p.fake.Pressed(query) != 1 {
			t.Error("the press was not answered")
		}
	})
}
