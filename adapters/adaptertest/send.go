package adaptertest

import (
	"strings"

	"bellhop/adapters"
)

// send: a message is shown as its Markdown means it, where it belongs.
func send(r *rig) {
	ref := r.sent(r.DM(), adapters.Outgoing{Text: "**bold** & <b>raw</b> `code`"})
	if m := r.one(r.DM()); m.ID != string(ref) || m.Text != "bold & <b>raw</b> code" {
		r.t.Errorf("visible is %+v, want %s without markup", m, ref)
	}
	r.sent(r.DM(), adapters.Outgoing{Text: "Step 1 - **done**.", Plain: true})
	if m := r.Visible(r.DM())[1]; m.Text != "Step 1 - done." {
		r.t.Errorf("plain text shows %q", m.Text)
	}
	r.sent(r.Group(), adapters.Outgoing{Text: "to all"})
	r.one(r.Group())
	if r.Caps().Threads {
		r.sent(r.Topic(), adapters.Outgoing{Text: "in a topic"})
		if m := r.one(r.Topic()); m.Thread != r.Topic().Thread {
			r.t.Errorf("sent to thread %q, want %q", m.Thread, r.Topic().Thread)
		}
	}
	if r.Caps().Replies {
		id := r.say(r.DM(), "question")
		r.sent(r.DM(), adapters.Outgoing{Text: "answer", ReplyTo: id})
		if m := r.Visible(r.DM())[2]; m.ReplyTo != id {
			r.t.Errorf("answers %q, want %q", m.ReplyTo, id)
		}
		r.sent(r.DM(), adapters.Outgoing{Text: "to nothing", ReplyTo: "987654"})
	}
	_, err := r.a.Send(r.ctx(), adapters.Target{Chat: "77665544"}, adapters.Outgoing{Text: "x"})
	r.kind(err, adapters.NoTarget)
	r.Block()
	_, err = r.a.Send(r.ctx(), r.DM(), adapters.Outgoing{Text: "x"})
	r.kind(err, adapters.NoTarget)
}

// limits: Size measures what the platform counts. A text of exactly the limit passes, a longer one is refused as such.
func limits(r *rig) {
	most := r.a.Limits().Text
	if most == 0 {
		r.t.Skip("the platform has no known limit")
	}
	for _, unit := range []string{"a", "ж", "字", "😀"} {
		n := most / r.a.Size(unit)
		text := strings.Repeat(unit, n)
		if size := r.a.Size(text); size > most {
			r.t.Fatalf("Size of %d × %q is %d", n, unit, size)
		}
		r.sent(r.DM(), adapters.Outgoing{Text: text})
		if all := r.Visible(r.DM()); all[len(all)-1].Text != text {
			r.t.Errorf("%d × %q is not shown whole", n, unit)
		}
		_, err := r.a.Send(r.ctx(), r.DM(), adapters.Outgoing{Text: text + unit})
		r.kind(err, adapters.TooLong)
	}
	_, err := r.a.Send(r.ctx(), r.DM(), adapters.Outgoing{Text: " \n"})
	r.kind(err, adapters.Empty)
}
