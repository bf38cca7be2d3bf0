package adaptertest

import (
	"errors"
	"fmt"
	"testing/synctest"

	"bellhop/adapters"
)

// receive: what a person writes arrives, whole, in order, with what answers need.
func receive(r *rig) {
	r.start()
	text := "hello 😀 there\nsecond line"
	id := r.say(r.DM(), text)
	in := r.got(1)[0]
	if in.Kind != adapters.KindMessage || in.Text != text || in.Message != id {
		r.t.Errorf("received %+v, want message %s %q", in, id, text)
	}
	if in.ID == "" || in.From.ID == "" || in.Sent.IsZero() {
		r.t.Errorf("id, sender or time is missing: %+v", in)
	}
	if in.Group || !in.Mentioned || in.Target.Chat != r.DM().Chat {
		r.t.Errorf("a direct message addresses the bot, in its own chat: %+v", in)
	}
	seen := map[string]bool{in.ID: true}
	for i := range 5 {
		r.say(r.DM(), fmt.Sprint("message ", i))
	}
	for i, in := range r.got(6)[1:] {
		if in.Text != fmt.Sprint("message ", i) || seen[in.ID] {
			r.t.Errorf("act %d is %q with id %s", i, in.Text, in.ID)
		}
		seen[in.ID] = true
	}
}

// acknowledge: the platform is told only after the batch is stored; what could not be stored comes again.
func acknowledge(r *rig) {
	r.start()
	fails := 3
	r.in.FailWith(func() error {
		if fails--; fails < 0 {
			return nil
		}
		if r.Unacknowledged() == 0 {
			r.t.Error("acknowledged before it was stored")
		}
		return errors.New("disk full")
	})
	r.say(r.DM(), "one")
	r.say(r.DM(), "two")
	for i, in := range r.got(2) {
		if want := []string{"one", "two"}[i]; in.Text != want {
			r.t.Errorf("act %d is %q, want %q", i, in.Text, want)
		}
	}
	r.say(r.DM(), "three")
	r.got(3)
}

// restart: a new process goes on from the stored place, and nothing comes twice.
func restart(r *rig) {
	stop := r.start()
	r.say(r.DM(), "before")
	r.got(1)
	synctest.Wait()
	if err := stop(); err != nil {
		r.t.Errorf("Run ended with %v, want nil", err)
	}
	r.say(r.DM(), "between")
	r.open()
	r.start()
	r.say(r.DM(), "after")
	for i, in := range r.got(3) {
		if want := []string{"before", "between", "after"}[i]; in.Text != want {
			r.t.Errorf("act %d is %q, want %q", i, in.Text, want)
		}
	}
}

// busy: a store that takes its time holds up neither sending nor the run's end.
func busy(r *rig) {
	stop := r.start()
	release := r.in.holdBack()
	defer release()
	r.say(r.DM(), "slow")
	synctest.Wait()
	r.sent(r.Group(), adapters.Outgoing{Text: "meanwhile"})
	if err := stop(); err != nil {
		r.t.Errorf("Run ended with %v, want nil", err)
	}
}

// edits: a changed message is an edit, never a command and never a new message.
func edits(r *rig) {
	r.start()
	id := r.say(r.DM(), "frist")
	r.got(1)
	r.Deliver(Act{Kind: adapters.KindEdit, In: r.DM(), Message: id, Text: "/stop"})
	in := r.got(2)[1]
	if in.Kind != adapters.KindEdit || in.Message != id || in.Text != "/stop" || in.Command != "" || in.Edited.IsZero() {
		r.t.Errorf("received %+v, want an edit of %s without a command", in, id)
	}
}

// bots: what another bot writes is marked.
func bots(r *rig) {
	r.start()
	r.Deliver(Act{Kind: adapters.KindMessage, In: r.Group(), Text: "beep", Bot: true})
	if in := r.got(1)[0]; !in.From.Bot {
		r.t.Errorf("a bot's message is not marked: %+v", in)
	}
}
