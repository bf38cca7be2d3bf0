package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters"
	"bellhop/core"
	"bellhop/gateway/session"
)

// Commands get through while a turn runs, and the turn they stop is the one that runs.
func TestCommandsDuringATurn(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	w.receive(w.message("work"))
	c := w.conversation("fake:1")
	ctx, _, end := w.run(c.ID)
	w.receive(w.message("next"))
	for text, part := range map[string]string{"/status": "at work", "/queue": "next", "/whoami": "fake:1", "/help": "/stop", "/approve": "nothing to answer"} {
		w.receive(w.message(text))
		if said := w.mouth.texts(); len(said) != 1 || !strings.Contains(said[0], part) {
			t.Errorf("%s: %q", text, said)
		}
	}
	w.receive(w.message("/stop"))
	if i, ok := core.InterruptOf(ctx); !ok || i.Reason != core.ReasonStopped {
		t.Error("the turn was not stopped")
	}
	if said := w.mouth.texts(); len(said) != 1 || !strings.Contains(said[0], "Stopped. Still waiting:\n1. `next`") {
		t.Errorf("said: %q", said)
	}
	end()
	if got := w.queued(); !slices.Equal(got, []string{"next"}) {
		t.Errorf("queued: %q", got)
	}
}

func TestBusyModes(t *testing.T) {
	for _, mode := range []string{"queue", "steer", "interrupt"} {
		t.Run(mode, func(t *testing.T) {
			c := trusted
			c.busy = mode
			w := newWorld(t, c)
			defer w.close()
			w.receive(w.message("work"))
			conv := w.conversation("fake:1")
			ctx, _, end := w.run(conv.ID)
			defer end()
			w.receive(w.message("more"))
			if got := w.queued(); len(got) != 2 {
				t.Errorf("the message is no row: %q", got)
			}
			i, interrupted := core.InterruptOf(ctx)
			want(t, "interrupted", interrupted, mode == "interrupt")
			if interrupted {
				want(t, "reason", i.Reason, core.ReasonReplaced)
			}
			want(t, "offered", len(w.sessions.Steered(conv.ID)), map[string]int{"steer": 1}[mode])
			want(t, "told to wait", len(w.mouth.waiting), map[string]int{"queue": 1}[mode])
		})
	}
	t.Run("chosen with a command", func(t *testing.T) {
		w := newWorld(t, trusted)
		defer w.close()
		w.receive(w.message("work"), w.message("/busy steer"))
		conv := w.conversation("fake:1")
		_, _, end := w.run(conv.ID)
		defer end()
		w.receive(w.message("more"), w.message("/queue later"), w.message("/steer now"))
		want(t, "offered", len(w.sessions.Steered(conv.ID)), 2)
		want(t, "told to wait", len(w.mouth.waiting), 1)
		if got := w.queued(); len(got) != 4 {
			t.Errorf("queued: %q", got)
		}
	})
	t.Run("another member of a group", func(t *testing.T) {
		c := trusted
		c.busy, c.options.Shared = "interrupt", true
		w := newWorld(t, c)
		defer w.close()
		w.receive(w.message("work", group(true)))
		ctx, _, end := w.run(w.conversation("fake:-5").ID)
		defer end()
		w.receive(w.message("more", group(true), func(in *adapters.Inbound) { in.From.ID = "2" }))
		if ctx.Err() != nil {
			t.Error("somebody else's turn was interrupted")
		}
	})
}

// changing is a desk during whose commit the turn that runs ends and the next row begins.
type changing struct {
	Desk
	change func()
}

func (d changing) Admit(ctx context.Context, e []core.Entry, cur *core.Cursor) ([]core.Admitted, error) {
	out, err := d.Desk.Admit(ctx, e, cur)
	d.change()
	return out, err
}

// A message meets what ran before it was there: neither itself nor what began since is interrupted or steered.
func TestNotWhatBeganSince(t *testing.T) {
	for _, mode := range []string{"interrupt", "steer"} {
		for _, ahead := range []int{0, 1} {
			t.Run(fmt.Sprint(mode, ahead), func(t *testing.T) {
				c := trusted
				c.busy = "queue"
				w := newWorld(t, c)
				defer w.close()
				w.receive(w.message("work"))
				conv := w.conversation("fake:1")
				_, _, end := w.run(conv.ID)
				for range ahead {
					w.receive(w.message("ahead"))
				}
				w.g.cfg.Busy = mode
				var next context.Context
				w.g.cfg.Desk = changing{w.g.cfg.Desk, func() {
					end()
					next, _, end = w.run(conv.ID)
				}}
				w.receive(w.message("more"))
				defer end()
				if next.Err() != nil {
					t.Errorf("interrupted: %v", context.Cause(next))
				}
				want(t, "offered", len(w.sessions.Steered(conv.ID)), 0)
			})
		}
	}
}

// ending is a registry whose turn ends after somebody has looked at it and before they act.
type ending struct {
	Sessions
	end func()
}

func (s ending) Offer(c core.ConversationID, o session.Steered) bool {
	s.end()
	return s.Sessions.Offer(c, o)
}

// A /steer is taken in by what runs, or is a message of its own; who wrote it is told of the latter at every moment at which
// the turn may end.
func TestSteerThatComesLate(t *testing.T) {
	start := func(t *testing.T) (*world, core.Conversation, func()) {
		w := newWorld(t, trusted)
		t.Cleanup(w.close)
		w.receive(w.message("work"))
		conv := w.conversation("fake:1")
		_, _, end := w.run(conv.ID)
		return w, conv, end
	}
	rest := func(t *testing.T, w *world, words string) {
		t.Helper()
		said := w.mouth.texts()
		if len(said) != min(len(words), 1) || words != "" && said[0] != words {
			t.Errorf("said %q, want %q", said, words)
		}
		if got := w.queued(); got[len(got)-1] != "left" {
			t.Errorf("queued %q", got)
		}
	}
	t.Run("while it runs", func(t *testing.T) {
		w, conv, end := start(t)
		defer end()
		w.receive(w.message("/steer left"))
		rest(t, w, "")
		want(t, "offered", len(w.sessions.Steered(conv.ID)), 1)
		w.sessions.Steered(conv.ID)[0].Late(t.Context()) // it ended without a look at it
		rest(t, w, steerLate)
	})
	t.Run("before the commit", func(t *testing.T) {
		w, _, end := start(t)
		w.g.cfg.Desk = changing{w.g.cfg.Desk, end}
		w.receive(w.message("/steer left"))
		rest(t, w, steerMissed)
	})
	t.Run("before the offer", func(t *testing.T) {
		w, _, end := start(t)
		w.g.cfg.Sessions = ending{w.g.cfg.Sessions, end}
		w.receive(w.message("/steer left"))
		rest(t, w, steerMissed)
	})
	t.Run("after the end", func(t *testing.T) {
		w, _, end := start(t)
		end()
		w.receive(w.message("/steer left"))
		rest(t, w, steerMissed)
	})
	t.Run("in a mode that steers anyway", func(t *testing.T) {
		w, conv, end := start(t)
		defer end()
		w.g.cfg.Busy = "steer"
		w.receive(w.message("left"))
		rest(t, w, "")
		if w.sessions.Steered(conv.ID)[0].Late != nil {
			t.Error("each message that is simply next would be announced")
		}
	})
	t.Run("by another member", func(t *testing.T) {
		c := trusted
		c.options.Shared = true
		w := newWorld(t, c)
		defer w.close()
		w.receive(w.message("work", group(true)))
		conv := w.conversation("fake:-5")
		_, _, end := w.run(conv.ID)
		defer end()
		w.receive(w.message("/steer left", group(true), func(in *adapters.Inbound) { in.From.ID = "2" }))
		rest(t, w, steerDenied)
		want(t, "offered", len(w.sessions.Steered(conv.ID)), 0)
	})
}

func TestQueueCap(t *testing.T) {
	c := trusted
	c.cap = 2
	w := newWorld(t, c)
	defer w.close()
	w.receive(w.message("1"), w.message("2"), w.message("3"), w.message("4"))
	want(t, "queued", len(w.queued()), 2)
	if said := w.mouth.texts(); len(said) != 1 || !strings.Contains(said[0], "This one was not stored") {
		t.Errorf("said: %q", said)
	}
	wantBalanced(t, w)
}

func TestEditsOfWaitingMessages(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	m := w.message("helo")
	w.receive(m)
	e := m
	e.Kind, e.ID, e.Text, e.Edited = adapters.KindEdit, "e1", "hello", time.Now()
	w.receive(e)
	if got := w.queued(); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("queued: %q", got)
	}
	e.Kind, e.ID = adapters.KindDelete, "e2"
	w.receive(e)
	want(t, "queued", len(w.queued()), 0)
	want(t, "said", len(w.mouth.texts()), 0)
}

// The rest of an album and of a long paste come without a mention, in a batch of their own.
func TestPiecesInAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, trusted)
		defer w.close()
		photo := func(caption string, mentioned bool) adapters.Inbound {
			return w.message(caption, group(mentioned), func(in *adapters.Inbound) {
				in.Album, in.Files = "a1", []adapters.File{{Kind: "photo", Ref: "f" + in.ID}}
			})
		}
		w.receive(photo("before", false), photo("", true))
		w.receive(photo("after", false))
		w.receive(w.message(strings.Repeat("x", 4096), group(true), func(in *adapters.Inbound) { in.Near, in.Sent = true, time.Now() }))
		time.Sleep(1177 * time.Millisecond)
		w.receive(w.message(strings.Repeat("y", 1904), group(false), func(in *adapters.Inbound) { in.Sent = time.Now() }))
		w.receive(w.message("talk among people", group(false)))
		got := w.queued()
		if len(got) != 2 || got[0] != "Image 1: before\nImage 3: after" || got[1] != strings.Repeat("x", 4096)+strings.Repeat("y", 1904) {
			t.Errorf("queued: %.80q", got)
		}
	})
}

func TestCommandInACaption(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	photo := func(caption string) adapters.Inbound {
		return w.message(caption, func(in *adapters.Inbound) { in.Album, in.Files = "a1", []adapters.File{{Kind: "photo", Ref: "f"}} })
	}
	w.receive(photo("/status"), photo(""))
	want(t, "queued", len(w.queued()), 0)
	want(t, "answers", len(w.mouth.texts()), 1)
}

func TestPressesAndQuestions(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	w.receive(w.message("work", from("9")))
	c := w.conversation("fake:9")
	ctx, a, end := w.run(c.ID)
	defer end()
	q, err := w.s.Put(t.Context(), core.Question{ID: "01HZZZZZZZZZZZZZZZZZZZZZZZ", Conversation: c.ID, Admission: a.ID, State: core.QuestionOpen,
		For: "fake:9", Ask: core.Ask{Kind: core.Approval, Title: "Run?"}, Created: time.Now(), Deadline: time.Now().Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	press := func(who, data string) string {
		return w.receive(w.message("", from(who), func(in *adapters.Inbound) { in.Kind, in.Data, in.PressID = adapters.KindPress, data, in.ID }))[0].Answer
	}
	want(t, "another person", press("1", "ans:"+string(q.ID)+":once"), "This is not yours to answer; the owner of this gateway is asked.")
	want(t, "the author", press("9", "ans:"+string(q.ID)+":once"), "Allowed once.")
	want(t, "again", press("9", "ans:"+string(q.ID)+":deny"), "Already answered by Ann.")
	want(t, "another turn's stop", press("9", "stop:01HYYYYYYYYYYYYYYYYYYYYYYY"), "I cannot find that.")
	want(t, "somebody else's stop", press("1", "stop:"+string(a.ID)), "You may not do that.")
	want(t, "stop", press("9", "stop:"+string(a.ID)), "Stopped.")
	if ctx.Err() == nil {
		t.Error("the turn was not stopped")
	}
}

// C083: so many per minute, then silence; a person's word starts the count anew; bots are told of nothing.
func TestBotsTalkingToEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := trusted
		c.options.Bots = 3
		w := newWorld(t, c)
		defer w.close()
		bot := func(in *adapters.Inbound) {
			in.From = adapters.Person{ID: "2", Name: "Robot", Bot: true}
			in.Target.Chat = "1"
		}
		for range 50 {
			w.receive(w.message("hello", bot))
		}
		want(t, "answered in a burst", len(w.queued()), 3)
		time.Sleep(time.Minute)
		for range 50 {
			w.receive(w.message("hello", bot))
		}
		want(t, "a minute later", len(w.queued()), 6)
		w.receive(w.message("a person speaks"))
		w.receive(w.message("hello", bot))
		want(t, "after a person's word", len(w.queued()), 8)
		want(t, "notices", len(w.mouth.texts()), 0)
	})
}

// C084.
func TestChatMoves(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	w.receive(w.message("hello", group(true)))
	old := w.conversation("fake:-5:u1")
	w.receive(w.message("", group(true), func(in *adapters.Inbound) { in.Kind, in.Migrate = adapters.KindService, "-1005" }))
	want(t, "conversation", w.conversation("fake:-1005:u1").ID, old.ID)
	want(t, "turns", len(w.queued()), 1)
}

// A move that makes no sense is not kept for ever in front of what comes behind it.
func TestChatMovesNowhere(t *testing.T) {
	w := newWorld(t, trusted)
	defer w.close()
	move := w.message("", group(true), func(in *adapters.Inbound) { in.Kind, in.Migrate = adapters.KindService, in.Target.Chat })
	w.receive(move, w.message("hello"))
	want(t, "turns", len(w.queued()), 1)
}

func TestRateOfThoseWhoAreOnlyTolerated(t *testing.T) {
	w := newWorld(t, setup{access: AccessConfig{Default: "allow", Allow: []string{"fake:1"}}, rate: Rate{time.Hour, 2}})
	defer w.close()
	for range 5 {
		w.receive(w.message("x"), w.message("y", from("7")))
	}
	want(t, "queued", len(w.queued()), 7)
}

// What follows a command in one batch is not there yet when the command runs: it must not be what the command clears.
func TestACommandIsAboutWhatCameBefore(t *testing.T) {
	for _, clear := range []string{"/stop all", "/queue clear"} {
		w := newWorld(t, trusted)
		w.receive(w.message("before", from("1")), w.message(clear, from("1")), w.message("after", from("1")))
		if got := w.queued(); len(got) != 1 || got[0] != "after" {
			t.Errorf("%s left %q, want what came after it", clear, got)
		}
		w.close()
	}
}
