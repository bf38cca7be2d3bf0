package adaptertest

import (
	"bytes"
	"io"
	"slices"
	"testing/synctest"

	"bellhop/adapters"
)

var rows = [][]adapters.Button{{{Label: "Stop", Data: "stop:1", Style: "danger"}}, {{Label: "A", Data: "a"}, {Label: "B", Data: "b", Style: "primary"}}}

// edit: a message of ours changes in place; an edit that changes nothing is told apart, and so is one of nothing.
func edit(r *rig) {
	if !r.Caps().Edit {
		return
	}
	ref := r.sent(r.DM(), adapters.Outgoing{Text: "one ▉", Live: true, Buttons: rows})
	if err := r.caps.Editor.Edit(r.ctx(), r.DM(), ref, adapters.Outgoing{Text: "**one** two"}); err != nil {
		r.t.Fatal(err)
	}
	if m := r.one(r.DM()); m.Text != "one two" || m.Edits != 1 || len(m.Buttons) != 0 {
		r.t.Errorf("visible is %+v, want the new text, one edit, no buttons", m)
	}
	err := r.caps.Editor.Edit(r.ctx(), r.DM(), ref, adapters.Outgoing{Text: "**one** two"})
	if err != nil {
		r.kind(err, adapters.Unchanged)
	}
	r.kind(r.caps.Editor.Edit(r.ctx(), r.DM(), "987654", adapters.Outgoing{Text: "x"}), adapters.Gone)
}

// remove: a message of ours goes away, once.
func remove(r *rig) {
	if !r.Caps().Delete {
		return
	}
	ref := r.sent(r.DM(), adapters.Outgoing{Text: "x"})
	if err := r.caps.Deleter.Delete(r.ctx(), r.DM(), ref); err != nil {
		r.t.Fatal(err)
	}
	if all := r.Visible(r.DM()); len(all) != 0 {
		r.t.Errorf("still visible: %+v", all)
	}
	r.kind(r.caps.Deleter.Delete(r.ctx(), r.DM(), ref), adapters.Gone)
}

// typing: it shows, and lasts as long as the adapter says at most.
func typing(r *rig) {
	if !r.Caps().Typing {
		return
	}
	if err := r.caps.Typer.Typing(r.ctx(), r.DM()); err != nil {
		r.t.Fatal(err)
	}
	if !r.Typing(r.DM()) || r.caps.Typer.TypingFor() <= 0 {
		r.t.Errorf("typing %v for %v", r.Typing(r.DM()), r.caps.Typer.TypingFor())
	}
}

// presses: a pressed button comes with its data and who pressed, and is answered.
func presses(r *rig) {
	if !r.Caps().Buttons {
		return
	}
	r.start()
	ref := r.sent(r.Group(), adapters.Outgoing{Text: "choose", Buttons: rows})
	if m := r.one(r.Group()); !slices.Equal(m.Buttons, []string{"stop:1", "a", "b"}) {
		r.t.Errorf("buttons are %v", m.Buttons)
	}
	press := Act{Kind: adapters.KindPress, In: r.Group(), Message: string(ref), Data: "b"}
	r.Deliver(press)
	in := r.got(1)[0]
	if in.Kind != adapters.KindPress || in.Data != "b" || in.Message != string(ref) || in.From.ID == "" || in.PressID == "" || in.Target.Chat != r.Group().Chat {
		r.t.Errorf("received %+v, want the press of b", in)
	}
	if r.Caps().Press {
		if err := r.caps.Presser.AnswerPress(r.ctx(), in.PressID, "done"); err != nil {
			r.t.Error(err)
		}
		r.kind(r.caps.Presser.AnswerPress(r.ctx(), "nonsense", ""), adapters.Gone)
	}
	r.in.AnswerPresses("at once")
	r.Deliver(press)
	r.got(2)
	synctest.Wait()
	if got := r.Toasts(r.Group()); got[len(got)-1] != "at once" {
		r.t.Errorf("presses were answered with %q", got)
	}
}

// files: what is sent can be fetched, what is uploaded is shown.
func files(r *rig) {
	data := bytes.Repeat([]byte("bellhop "), 4096)
	if r.Caps().Fetch {
		r.start()
		r.Deliver(Act{Kind: adapters.KindMessage, In: r.DM(), Text: "look", File: data})
		in := r.got(1)[0]
		if len(in.Files) != 1 || in.Files[0].Ref == "" || in.Text != "look" {
			r.t.Fatalf("received %+v, want one file and its caption", in)
		}
		body, err := r.caps.Fetcher.Fetch(r.ctx(), in.Files[0])
		if err != nil {
			r.t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		if err != nil || !bytes.Equal(got, data) || body.Close() != nil {
			r.t.Errorf("fetched %d bytes, %v", len(got), err)
		}
		_, err = r.caps.Fetcher.Fetch(r.ctx(), adapters.File{Ref: "nothing", Kind: "document"})
		r.kind(err, adapters.Gone)
	}
	if !r.Caps().Upload {
		return
	}
	for i, kind := range []string{"document", "photo", "voice", "audio", "video"} {
		ref, err := r.caps.Uploader.Upload(r.ctx(), r.DM(), adapters.Upload{Kind: kind, Name: "a.bin", Caption: "*see*", Body: bytes.NewReader(data)})
		if err != nil || ref == "" {
			r.t.Fatalf("%s: %q, %v", kind, ref, err)
		}
		if m := r.Visible(r.DM())[i]; m.File != kind || m.Text != "see" {
			r.t.Errorf("visible is %+v, want a %s with its caption", m, kind)
		}
	}
}

// reactions: an emoji on a person's message, and off again.
func reactions(r *rig) {
	if !r.Caps().React {
		return
	}
	id := r.say(r.DM(), "nice")
	for _, emoji := range []string{"👀", ""} {
		if err := r.caps.Reactor.React(r.ctx(), r.DM(), id, emoji); err != nil {
			r.t.Errorf("%q: %v", emoji, err)
		}
	}
	r.kind(r.caps.Reactor.React(r.ctx(), r.DM(), id, "🧿🧿"), adapters.Unsupported)
}
