package adaptertest

import (
	"context"
	"slices"
	"strings"
	"time"

	"bellhop/adapters"
)

// menu: commands are told to the platform; names it cannot take do not spoil the rest.
func menu(r *rig) {
	if !r.Caps().Menu {
		return
	}
	items := []adapters.MenuItem{{Name: "new", About: "Start over"}, {Name: "allow", About: "Let somebody in", Admin: true},
		{Name: "Not-A-Name", About: "x"}, {Name: "long", About: strings.Repeat("字", 500)}}
	if err := r.caps.Menu.SetMenu(r.ctx(), items); err != nil {
		r.t.Error(err)
	}
}

// drafts: a growing answer is shown where the platform can, and told apart where it cannot.
func drafts(r *rig) {
	if !r.Caps().Draft {
		return
	}
	for _, text := range []string{"one", "one two"} {
		if err := r.caps.Drafter.Draft(r.ctx(), r.DM(), 7, adapters.Outgoing{Text: text, Live: true}); err != nil {
			r.t.Error(err)
		}
	}
	if all := r.Visible(r.DM()); len(all) != 0 {
		r.t.Errorf("a draft is a message: %+v", all)
	}
	r.kind(r.caps.Drafter.Draft(r.ctx(), r.Group(), 7, adapters.Outgoing{Text: "x"}), adapters.Unsupported)
}

// trace: a message whose send got no answer is found among few guesses once something newer is known; no id is a guess that
// is known or may still be given to somebody, and a mark of another process leads nowhere.
func trace(r *rig) {
	if !r.Caps().Trace {
		return
	}
	r.start()
	for _, place := range []adapters.Target{r.DM(), r.Group(), r.Topic()} {
		r.sent(place, adapters.Outgoing{Text: "before"})
		mark, near := r.caps.Tracer.Trace(place, "")
		if mark == "" || near != nil {
			r.t.Fatalf("marked %q, %v", mark, near)
		}
		r.FailNext(FailLost)
		_, err := r.a.Send(r.ctx(), place, adapters.Outgoing{Text: "lost"})
		r.kind(err, adapters.Ambiguous)
		if _, near := r.caps.Tracer.Trace(place, mark); len(near) > 0 {
			r.t.Fatalf("guessed %v: nothing newer is known", near)
		}
		r.say(place, "meanwhile")
		after := r.sent(place, adapters.Outgoing{Text: "after"})
		_, near = r.caps.Tracer.Trace(place, mark)
		if slices.Contains(near, after) || len(near) == 0 {
			r.t.Fatalf("guessed %v; %s is known", near, after)
		}
		r.claim(place, near)
		all := r.Visible(place)
		var texts []string
		for _, m := range all[len(all)-3:] {
			texts = append(texts, m.Text)
		}
		if !slices.Equal(texts, []string{"before", "found", "after"}) {
			r.t.Errorf("visible: %q", texts)
		}
		if _, again := r.caps.Tracer.Trace(place, mark); len(again) > 0 && again[0] == near[0] {
			r.t.Errorf("guessed again: %v", again)
		}
		r.open()
		if _, near := r.caps.Tracer.Trace(place, mark); len(near) > 0 {
			r.t.Errorf("guessed %v with another's mark", near)
		}
		if err := r.caps.Editor.Edit(r.ctx(), place, after, adapters.Outgoing{Text: "after all"}); err != nil {
			r.t.Fatal(err)
		}
		if mark, _ := r.caps.Tracer.Trace(place, ""); mark != "" {
			r.t.Errorf("marked %q without knowing what the process before has sent", mark)
		}
	}
}

// claim edits the first guess that is a message of ours.
func (r *rig) claim(place adapters.Target, near []adapters.Ref) {
	r.t.Helper()
	for _, ref := range near {
		err := r.caps.Editor.Edit(r.ctx(), place, ref, adapters.Outgoing{Text: "found"})
		if err == nil {
			return
		}
		r.kind(err, adapters.Gone)
	}
	r.t.Errorf("none of %v is there", near)
}

// probe: good credentials say who the bot is.
func probe(r *rig) {
	if !r.Caps().Probe {
		return
	}
	if who, err := r.caps.Prober.Probe(r.ctx()); err != nil || !strings.Contains(who, strings.TrimPrefix(r.Bot(), "@")) {
		r.t.Errorf("Probe is %q, %v", who, err)
	}
	r.Revoke()
	_, err := r.caps.Prober.Probe(r.ctx())
	r.kind(err, adapters.Auth)
}

// failures: every way a call fails has its kind, takes one call, and keeps secrets.
func failures(r *rig) {
	for _, tt := range []struct {
		fail  Failure
		want  adapters.ErrorKind
		shown int
	}{
		{FailLimited, adapters.Limited, 0},
		{FailServer, adapters.Temporary, 0},
		{FailDrop, adapters.Ambiguous, 0},
		{FailLost, adapters.Ambiguous, 1},
		{FailMarkup, adapters.Markup, 0},
		{FailForeign, adapters.Temporary, 0},
	} {
		before := len(r.Visible(r.DM()))
		r.FailNext(tt.fail)
		_, err := r.a.Send(r.ctx(), r.DM(), adapters.Outgoing{Text: "x"})
		e := r.kind(err, tt.want)
		r.clean(err)
		if tt.fail == FailLimited && e.RetryAfter != 7*time.Second {
			r.t.Errorf("wait is %v, want 7s", e.RetryAfter)
		}
		if n := len(r.Visible(r.DM())) - before; n != tt.shown {
			r.t.Errorf("%s: %d messages came of it, want %d", tt.fail, n, tt.shown)
		}
	}
	ctx, cancel := context.WithCancel(r.ctx())
	cancel()
	_, err := r.a.Send(ctx, r.DM(), adapters.Outgoing{Text: "x"})
	r.kind(err, adapters.Temporary)
	r.clean(err)
}

// clean asserts that an error holds no secret.
func (r *rig) clean(err error) {
	r.t.Helper()
	for _, s := range r.Secrets() {
		if err != nil && strings.Contains(err.Error(), s) {
			r.t.Errorf("an error shows a secret: %s", strings.ReplaceAll(err.Error(), s, "********"))
		}
	}
}

// capabilities: what the adapter has is what its harness says, no more and no less.
func capabilities(r *rig) {
	c, want := r.caps, r.Caps()
	got := Caps{Edit: c.Editor != nil, Delete: c.Deleter != nil, Typing: c.Typer != nil, React: c.Reactor != nil,
		Upload: c.Uploader != nil, Fetch: c.Fetcher != nil, Press: c.Presser != nil, Menu: c.Menu != nil,
		Mount: c.Mounter != nil, Probe: c.Prober != nil, Draft: c.Drafter != nil, Trace: c.Tracer != nil,
		Threads: want.Threads, Replies: want.Replies, Buttons: want.Buttons}
	if got != want {
		r.t.Errorf("capabilities are %+v, want %+v", got, want)
	}
	if r.a.Name() == "" || r.a.Size("") != 0 || r.a.Size("abc") <= 0 {
		r.t.Errorf("name %q, sizes %d and %d", r.a.Name(), r.a.Size(""), r.a.Size("abc"))
	}
}
