package adaptertest

import (
	"strings"

	"bellhop/adapters"
)

// address: in a group a message speaks to the bot by its name in any case, or by answering it; else it does not.
func address(r *rig) {
	r.start()
	own := r.sent(r.Group(), adapters.Outgoing{Text: "mine"})
	n := 0
	ask := func(text, replyTo string) adapters.Inbound {
		r.t.Helper()
		r.Deliver(Act{Kind: adapters.KindMessage, In: r.Group(), Text: text, ReplyTo: replyTo})
		n++
		return r.got(n)[n-1]
	}
	for _, tt := range []struct {
		text, replyTo, want string
		mentioned           bool
	}{
		{"just chatting", "", "just chatting", false},
		{r.Bot() + " hello", "", "hello", true},
		{strings.ToUpper(r.Bot()) + " hello", "", "hello", true},
		{"hello " + r.Bot() + " again", "", "hello again", true},
		{"😀 " + r.Bot() + " 👍", "", "😀 👍", true},
		{r.Bot() + "_2 hello", "", r.Bot() + "_2 hello", false},
		{"yes", string(own), "yes", true},
	} {
		in := ask(tt.text, tt.replyTo)
		if !in.Group || in.Mentioned != tt.mentioned || in.Text != tt.want {
			r.t.Errorf("%q: group %v mentioned %v text %q, want %v %q", tt.text, in.Group, in.Mentioned, in.Text, tt.mentioned, tt.want)
		}
		if tt.replyTo != "" && (in.Reply == nil || !in.Reply.Own || in.Reply.Message != tt.replyTo || in.Reply.Text != "mine") {
			r.t.Errorf("%q: reply is %+v, want one to our own message", tt.text, in.Reply)
		}
	}
	other := r.say(r.Group(), "from a person")
	n++
	if in := ask("and?", other); in.Mentioned || in.Reply == nil || in.Reply.Own {
		r.t.Errorf("an answer to somebody else is taken for one to the bot: %+v", in)
	}
}

// commands: a leading /name is one, whatever its case.
func commands(r *rig) {
	r.start()
	n := 0
	for _, tt := range []struct{ text, command, args string }{
		{"/new", "new", ""},
		{"/NEW", "new", ""},
		{"/title  A long title", "title", "A long title"},
		{"/queue\nsecond line", "queue", "second line"},
		{"/usr/bin/env", "", ""},
		{"say /new", "", ""},
		{"/ new", "", ""},
	} {
		r.say(r.DM(), tt.text)
		n++
		in := r.got(n)[n-1]
		if in.Command != tt.command || in.Args != tt.args || in.Kind != adapters.KindMessage {
			r.t.Errorf("%q: command %q args %q, want %q %q", tt.text, in.Command, in.Args, tt.command, tt.args)
		}
	}
}
