package main

import (
	"os"
	"strings"
	"testing"

	"bellhop/adapters/telegram/telegramtest"
	"bellhop/core/provider/providertest"
)

// newDraftRig makes surroundings whose answers grow as drafts. The model stops in the middle until more is closed.
func newDraftRig(t *testing.T) (r *rig, more chan struct{}) {
	t.Helper()
	more = make(chan struct{})
	r = newRig(t, func(q *providertest.Request) providertest.Reply {
		if strings.Contains(q.Last(), "work") && len(q.Results()) == 0 {
			return providertest.Reply{providertest.Text("I will look."), providertest.Call("call_1", "file_read", `{"path":"x"}`)}
		}
		return providertest.Reply{providertest.Text("ANSWER ", "begins "), providertest.Until(more), providertest.Text("and comes ", "to its END")}
	})
	text, err := os.ReadFile(r.config)
	if err != nil {
		t.Fatal(err)
	}
	r.write(strings.Replace(string(text), "stream: {", "stream: {mode: draft, ", 1))
	return r, more
}

const draftAnswer = "ANSWER begins and comes to its END"

// own are the bot's visible messages.
func own(c *telegramtest.Chat) (texts []string) {
	for _, m := range c.Visible() {
		if m.Own {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

func (r *rig) seesOnly(c *telegramtest.Chat, want ...string) {
	r.t.Helper()
	if got := own(c); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		r.t.Errorf("sees %q, want %q", got, want)
	}
	if d, ok := c.Draft(); ok {
		r.t.Errorf("the draft %q is still there", d.Text)
	}
}

func (r *rig) untilDraft(text string) telegramtest.Draft {
	r.t.Helper()
	var d telegramtest.Draft
	r.until("the draft "+text, func() bool {
		var ok bool
		d, ok = r.chat.Draft()
		return ok && d.Text == text
	})
	return d
}

func TestDraftGrowsIntoOneMessage(t *testing.T) {
	t.Parallel()
	r, more := newDraftRig(t)
	g := r.start()
	r.chat.Say(r.owner, "hello")
	if d := r.untilDraft("ANSWER begins"); !d.Stop || d.ID == 0 {
		t.Errorf("draft %+v", d)
	}
	if got := own(r.chat); len(got) != 0 {
		t.Errorf("messages beside the draft: %q", got)
	}
	close(more)
	r.until("the answer", func() bool { return r.says("END") > 0 })
	g.stop()
	r.seesOnly(r.chat, draftAnswer)
	if n := len(r.tg.Calls("sendMessage")); n != 1 {
		t.Errorf("%d messages were made", n)
	}
	if n := len(r.tg.Calls("editMessageText")); n != 0 {
		t.Errorf("%d edits", n)
	}
}

func TestDraftAndATool(t *testing.T) {
	t.Parallel()
	r, more := newDraftRig(t)
	g := r.start()
	r.chat.Say(r.owner, "work please")
	r.untilDraft("ANSWER begins")
	close(more)
	r.until("the answer", func() bool { return r.says("END") > 0 })
	g.stop()
	r.seesOnly(r.chat, "I will look.", draftAnswer)
}

// The platform's own control stops the turn; what was seen stays, in one message.
func TestDraftIsStoppedByItsOwnControl(t *testing.T) {
	t.Parallel()
	r, _ := newDraftRig(t)
	g := r.start()
	r.chat.Say(r.owner, "hello")
	r.untilDraft("ANSWER begins")
	if !r.chat.StopDraft() {
		t.Fatal("the draft cannot be stopped")
	}
	r.until("the end of the turn", func() bool { return r.says("ANSWER begins") > 0 })
	r.until("the model is left", func() bool { return r.model.Open() == 0 })
	g.stop()
	if n := r.says("ANSWER begins"); n != 1 {
		t.Errorf("the text stands %d times\n%s", n, r.screen())
	}
	if d, ok := r.chat.Draft(); ok {
		t.Errorf("the draft %q is still there", d.Text)
	}
}

// A draft leaves nothing behind: the turn that is tried again draws a new one.
func TestDraftAfterAKill(t *testing.T) {
	t.Parallel()
	r, more := newDraftRig(t)
	g := r.start()
	r.chat.Say(r.owner, "hello")
	first := r.untilDraft("ANSWER begins")
	g.kill()
	g = r.start()
	r.until("another draft", func() bool { d, ok := r.chat.Draft(); return ok && d.ID != first.ID })
	close(more)
	r.until("the answer", func() bool { return r.says("END") > 0 })
	g.stop()
	r.seesOnly(r.chat, draftAnswer)
}

// Where a peer takes no drafts, and in groups, the answer is a message that grows.
func TestNoDraftsHere(t *testing.T) {
	for _, where := range []string{"peer", "group"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			r, more := newDraftRig(t)
			chat, asks := r.chat, "hello"
			if where == "group" {
				chat, asks = r.tg.Group("Friends"), "@"+r.tg.Bot().Username+" hello"
			} else {
				r.tg.Fail(telegramtest.Fault{Method: "sendMessageDraft", Times: -1, Status: 400, Text: "Bad Request: TEXTDRAFT_PEER_INVALID"})
			}
			g := r.start()
			chat.Say(r.owner, asks)
			r.until("a message that grows", func() bool { got := own(chat); return len(got) == 1 && strings.HasPrefix(got[0], "ANSWER begins") })
			close(more)
			r.until("the answer", func() bool { got := own(chat); return len(got) > 0 && strings.Contains(got[0], "END") })
			g.stop()
			r.seesOnly(chat, draftAnswer)
			tries := map[string]int{"peer": 1, "group": 0}[where]
			if n := len(r.tg.Calls("sendMessageDraft")); n != tries {
				t.Errorf("%d drafts were tried, want %d", n, tries)
			}
		})
	}
}
