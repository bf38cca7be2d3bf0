package deliver

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// drafter is the platform in memory with drafts: in private chats only, one a chat, gone with the next message.
type drafter struct {
	*platform
	drafts map[string]string // by chat
	ids    []int64           // of the calls, in order
	stops  int               // drafts with a stop control
}

func (d *drafter) Draft(_ context.Context, to adapters.Target, id int64, m adapters.Outgoing) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.enter(call{method: "draft", chat: to.Chat, thread: to.Thread, text: m.Text, buttons: len(m.Buttons)}); err != nil {
		return err
	}
	switch {
	case to.Group:
		return &adapters.Error{Kind: adapters.Unsupported, Method: "draft", Code: 400}
	case id == 0 || m.Text == "" || len([]rune(m.Text)) > d.limits.Text:
		return &adapters.Error{Kind: adapters.Misuse, Method: "draft", Code: 400}
	}
	d.drafts[to.Chat] = m.Text
	d.ids = append(d.ids, id)
	if len(m.Buttons) > 0 {
		d.stops++
	}
	return nil
}

func (d *drafter) Send(ctx context.Context, to adapters.Target, m adapters.Outgoing) (adapters.Ref, error) {
	ref, err := d.platform.Send(ctx, to, m)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.drafts, to.Chat)
	}
	return ref, err
}

func (d *drafter) draft(chat string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drafts[chat]
}

// watch sets what is asked of every call from now on.
func (d *drafter) watch(fail func(call) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = fail
}

// drafting runs fn in a bubble with a world whose platform has drafts.
func drafting(t *testing.T, fn func(t *testing.T, w *world, p *drafter), opts ...option) {
	t.Helper()
	var d *drafter
	set := func(c *Config, p *platform) {
		d = &drafter{platform: p, drafts: map[string]string{}}
		o := c.Platforms[""]
		o.Mode = "draft"
		c.Platforms[""], c.Adapters = o, []adapters.Adapter{d}
	}
	bubble(t, func(t *testing.T, w *world) { fn(t, w, d) }, append([]option{set}, opts...)...)
}

func (t *turn) rows() []core.Delivery {
	t.w.t.Helper()
	rows, err := t.w.s.Outbox().Of(t.w.t.Context(), t.claim.Admission.ID)
	if err != nil {
		t.w.t.Fatal(err)
	}
	return rows
}

// A draft is in no row; the final is one row and one creation, which is stored before it is made.
func TestDraftThenOneMessage(t *testing.T) {
	for _, mode := range []string{"draft", "native"} {
		drafting(t, func(t *testing.T, w *world, p *drafter) {
			c := w.turn("1")
			for range 10 {
				c.say("word ")
				time.Sleep(500 * time.Millisecond)
			}
			synctest.Wait()
			want(t, "rows while it grows", len(c.rows()), 0)
			want(t, "draft", strings.HasPrefix(p.draft("1"), "word word"), true)
			want(t, "typing beside a draft", len(p.made("1", "typing")), 0)
			p.watch(func(a call) error {
				if a.method == "send" {
					r := c.rows()
					if len(r) != 1 || r[0].State != core.DeliverySending || !pending(r[0].Parts) {
						t.Errorf("stored before the send: %+v", r)
					}
				}
				return nil
			})
			before := time.Now()
			d := c.answer(strings.TrimSpace(c.text))
			want(t, "time to the message", time.Since(before), 0)
			synctest.Wait()
			wantTexts(t, p.platform, "1", strings.TrimSpace(c.text))
			want(t, "draft", p.draft("1"), "")
			want(t, "sends", len(p.made("1", "send")), 1)
			want(t, "edits", len(p.made("1", "edit")), 0)
			want(t, "rows", len(c.rows()), 1)
			want(t, "state", d.State, core.DeliveryDelivered)
			want(t, "sent", d.Parts[0].Sent, 1)
			want(t, "stops", p.stops, len(p.ids))
		}, func(c *Config, _ *platform) {
			o := c.Platforms[""]
			o.Mode = mode
			c.Platforms[""] = o
		})
	}
}

// One id a message: changes of the same draft are animated, what comes below a message is another one.
func TestDraftIDs(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		c := w.turn("1")
		for range 30 {
			c.say("A sentence. ")
			time.Sleep(time.Second)
		}
		sends := len(p.made("1", "send"))
		c.answer(strings.TrimSpace(c.text))
		want(t, "visible", strings.Join(p.texts("1"), " "), strings.TrimSpace(c.text))
		want(t, "messages", len(p.made("1", "send")), sends+1)
		want(t, "edits", len(p.made("1", "edit")), 0)
		ids := slices.Compact(slices.Clone(p.ids))
		want(t, "ids", len(ids), sends+1)
		slices.Sort(ids)
		want(t, "different ids", len(slices.Compact(ids)), sends+1)
	})
}

// A peer that has no drafts gets edits, in the same turn and without asking again for an hour.
func TestPeerWithoutDrafts(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		p.fail = func(c call) error {
			if c.method == "draft" {
				return &adapters.Error{Kind: adapters.Unsupported, Method: "draft", Code: 400}
			}
			return nil
		}
		for i := range 2 {
			c := w.turn("1")
			c.say("one ")
			time.Sleep(2 * time.Second)
			c.say("two")
			time.Sleep(2 * time.Second)
			synctest.Wait()
			want(t, "growing", p.texts("1")[i], "one two ▉")
			d := c.answer("one two")
			want(t, "state", d.State, core.DeliveryDelivered)
			want(t, "creations", d.Parts[0].Sent, 1)
		}
		wantTexts(t, p.platform, "1", "one two", "one two")
		want(t, "drafts", len(p.made("1", "draft")), 1)
		time.Sleep(offFor)
		w.turn("1").say("x")
		synctest.Wait()
		want(t, "drafts after an hour", len(p.made("1", "draft")), 2)
	})
}

func TestGroupsHaveNoDrafts(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		c := w.claim(w.admit("-5", "hello", func(s *core.Submission) { s.Route.Group = true }).Conversation)
		c.say("one ")
		time.Sleep(time.Second)
		synctest.Wait()
		wantTexts(t, p.platform, "-5", "one ▉")
		c.answer("one two")
		time.Sleep(time.Minute)
		wantTexts(t, p.platform, "-5", "one two")
		want(t, "drafts", len(p.made("-5", "draft")), 0)
	})
}

// A flood refusal is a time to wait in that chat, and no missing capability.
func TestDraftFlood(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		until := time.Now().Add(9 * time.Second)
		p.fail = func(c call) error {
			if c.chat == "1" && c.method == "draft" && time.Now().Before(until) {
				return &adapters.Error{Kind: adapters.Limited, Method: "draft", Code: 429, RetryAfter: time.Until(until)}
			}
			return nil
		}
		c, other := w.turn("1"), w.turn("2")
		for range 12 {
			c.say("x")
			other.say("y")
			time.Sleep(time.Second)
		}
		synctest.Wait()
		made := p.made("1", "draft")
		if len(made) < 2 || made[1].at.Before(until) || !strings.HasPrefix(made[1].text, "xxxxxxxxx") {
			t.Errorf("calls %+v", made)
		}
		if n := len(p.made("2", "draft")); n < 9 {
			t.Errorf("%d drafts in the other chat", n)
		}
		c.answer("xxx")
		other.answer("yyy")
		synctest.Wait()
		wantTexts(t, p.platform, "1", "xxx")
		wantTexts(t, p.platform, "2", "yyy")
	})
}

// Nobody knows whether a draft arrived, and nobody needs to: the final is no repeat.
func TestDraftOfUnknownFate(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		p.fail = func(c call) error {
			if c.method == "draft" {
				return &adapters.Error{Kind: adapters.Ambiguous, Method: "draft"}
			}
			return nil
		}
		c := w.turn("1")
		c.say("one")
		time.Sleep(5 * time.Second)
		d := c.answer("one two")
		wantTexts(t, p.platform, "1", "one two")
		want(t, "state", d.State, core.DeliveryDelivered)
	})
}

// Text before a tool that was only a draft when the turn ended becomes a message of its own, before the answer.
func TestDraftBeforeATool(t *testing.T) {
	for _, pause := range []time.Duration{0, 10 * time.Millisecond, 5 * time.Second} {
		drafting(t, func(t *testing.T, w *world, p *drafter) {
			c, made := w.turn("1"), false
			p.fail = func(a call) error {
				if a.method == "send" && a.text == "Found it." {
					made = slices.ContainsFunc(c.rows(), func(d core.Delivery) bool {
						return d.Kind == core.DeliverFinal && pending(d.Parts)
					})
				}
				return nil
			}
			c.say("I will look.")
			time.Sleep(pause)
			c.event(core.EventBody{Type: core.ToolStart, Call: "1", Name: "search"})
			c.event(core.EventBody{Type: core.ToolComplete, Call: "1", Name: "search"})
			d := c.answer("Found it.")
			time.Sleep(10 * time.Second)
			synctest.Wait()
			wantTexts(t, p.platform, "1", "I will look.", "Found it.")
			want(t, "state", c.row(d.ID).State, core.DeliveryDelivered)
			want(t, "stored before it was made", made, true)
		})
	}
}

func TestStoppedDraftKeepsWhatWasSeen(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		c := w.turn("1")
		c.say("The first part")
		time.Sleep(2 * time.Second)
		c.settle(core.Outcome{Result: core.Interrupted, Reason: core.ReasonStopped, Text: "(stopped)"})
		synctest.Wait()
		wantTexts(t, p.platform, "1", "The first part\n\n(stopped)")
	})
}

// A slow commit lets the person read the end already; the message comes once all the same.
func TestDraftShowsTheEndBeforeASlowCommit(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		c := w.turn("1")
		c.say("one ")
		time.Sleep(3 * time.Second)
		c.view.End("one two three")
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "draft", p.draft("1"), "one two three")
		wantTexts(t, p.platform, "1")
		c.answer("one two three")
		wantTexts(t, p.platform, "1", "one two three")
		want(t, "sends", len(p.made("1", "send")), 1)
	})
}

// A draft leaves nothing to adopt: the retried turn begins a new one.
func TestRetriedTurnDraftsAnew(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		a := w.turn("1")
		a.say("half an ans")
		time.Sleep(2 * time.Second)
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
		if b.claim.Preview != nil {
			t.Errorf("a draft was left behind: %+v", b.claim.Preview)
		}
		b.say("half an answer")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		want(t, "draft", p.draft("1"), "half an answer")
		b.answer("half an answer")
		time.Sleep(time.Minute)
		wantTexts(t, p.platform, "1", "half an answer")
	})
}

// Where drafts have an allowance of their own they come faster than edits may, stay inside what is reported for the
// platform, and cost the message nothing.
func TestDraftsHaveTheirOwnAllowance(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		c := w.turn("1")
		for range 600 {
			c.say("x")
			time.Sleep(100 * time.Millisecond)
		}
		made := p.made("1", "draft")
		if gap := made[1].at.Sub(made[0].at); gap != 300*time.Millisecond {
			t.Errorf("the second draft after %v", gap)
		}
		for _, most := range []struct {
			n    int
			span time.Duration
		}{{20, 5 * time.Second}, {40, 30 * time.Second}} {
			for i := most.n; i < len(made); i++ {
				if span := made[i].at.Sub(made[i-most.n].at); span < most.span {
					t.Fatalf("%d drafts in %v", most.n+1, span)
				}
			}
		}
		want(t, "drafts in a minute", len(made) > 60, true)
		for range 3 {
			if err := w.m.channels["fake"].now(adapters.Target{Chat: "1"}, forFinal); err != nil {
				t.Errorf("drafts cost messages: %v", err)
			}
		}
		c.view.Abandon()
	}, ownAllowance)
}

// A refusal of anything in the chat holds drafts up, too.
func TestNoDraftIntoARefusal(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		until := time.Now().Add(7 * time.Second)
		p.fail = func(c call) error {
			if c.method == "send" && time.Now().Before(until) {
				return &adapters.Error{Kind: adapters.Limited, Method: "send", Code: 429, RetryAfter: time.Until(until)}
			}
			return nil
		}
		w.say(core.Delivery{Route: core.Route{Platform: "fake", Chat: "1"}, Text: "notice"})
		synctest.Wait()
		c := w.turn("1")
		c.say("one")
		time.Sleep(10 * time.Second)
		if made := p.made("1", "draft"); len(made) != 1 || made[0].at.Before(until) {
			t.Errorf("drafts %+v", made)
		}
		c.answer("one")
	}, ownAllowance)
}

func ownAllowance(c *Config, p *platform) {
	p.limits.Text, p.limits.DraftRate, p.limits.DraftBurst = 4096, 1100*time.Millisecond, 13
	o := c.Platforms[""]
	o.DraftInterval = 300 * time.Millisecond
	c.Platforms[""] = o
}

// When the message has to wait for the budget, the draft has all of the text meanwhile.
func TestDraftShowsTheEndWhileTheMessageWaits(t *testing.T) {
	drafting(t, func(t *testing.T, w *world, p *drafter) {
		c := w.turn("1")
		c.say("one ")
		time.Sleep(time.Second)
		to := adapters.Target{Chat: "1"}
		for w.m.channels["fake"].now(to, forFinal) == nil {
			continue
		}
		draft := ""
		p.watch(func(a call) error {
			if a.method == "send" {
				draft = p.drafts["1"]
				if r := c.rows(); len(r) != 1 || r[0].State != core.DeliverySending || !pending(r[0].Parts) {
					t.Errorf("stored before the send: %+v", r)
				}
			}
			return nil
		})
		d := c.answer("one two three")
		want(t, "draft until the message came", draft, "one two three")
		wantTexts(t, p.platform, "1", "one two three")
		want(t, "state", d.State, core.DeliveryDelivered)
		want(t, "sent", d.Parts[0].Sent, 1)
	}, ownAllowance)
}
