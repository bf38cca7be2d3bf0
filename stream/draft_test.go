package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// easel is a board that shows drafts, which fade after 30 s. It fails a test that draws what is there already, unless it
// is about to fade.
type easel struct {
	*board
	draft string
	drawn time.Time
	fresh time.Duration // how long at least before the same is drawn again
}

func newEasel(t *testing.T, max int) *easel {
	return &easel{board: newBoard(t, max), fresh: 10 * time.Second}
}

func (e *easel) Draft(ctx context.Context, v View) error {
	if err := e.begin(ctx, call{method: "draft", v: v}); err != nil {
		return err
	}
	text := v.Text
	for _, b := range v.Buttons {
		text += " [" + b.Label + "]"
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if text == e.draft && time.Since(e.drawn) < e.fresh {
		e.t.Errorf("draft changes nothing: %q", text)
	}
	e.draft, e.drawn = text, time.Now()
	return nil
}

func (e *easel) Post(ctx context.Context, v View) (string, error) {
	ref, err := e.board.Post(ctx, v)
	if err == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.draft = ""
	}
	return ref, err
}

// seen is the draft that a person sees now.
func (e *easel) seen() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.drawn) > 30*time.Second {
		return ""
	}
	return e.draft
}

func (e *easel) shows(draft string, messages ...string) {
	e.t.Helper()
	if got := e.seen(); got != draft {
		e.t.Errorf("draft %q, want %q", got, draft)
	}
	if got := e.texts(); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", messages) {
		e.t.Errorf("messages %q, want %q", got, messages)
	}
}

// sketching starts a turn on an easel.
func sketching(t *testing.T, e *easel, change ...func(*ConsumerOptions)) *talk {
	o := editing
	o.Mode, o.StopAfter = ModeDraft, time.Second
	for _, f := range change {
		f(&o)
	}
	return newTalkOn(t, e, e.board, o)
}

func TestDraftCadence(t *testing.T) {
	bubble("first text at once, then every second, one message in the end", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		var all string
		for i := range 100 {
			word := fmt.Sprintf("w%d ", i)
			all += word
			k.say(word)
			time.Sleep(100 * time.Millisecond)
		}
		log := e.log()
		if c := log[0]; c.at != 0 || c.method != "draft" || c.v.Text != "w0" || len(c.v.Buttons) != 1 || c.v.Final {
			t.Errorf("first call %+v", c)
		}
		for i := 1; i < len(log); i++ {
			if gap := log[i].at - log[i-1].at; gap < time.Second || gap > 1200*time.Millisecond {
				t.Errorf("draft %d after %v", i, gap)
			}
		}
		k.End(all)
		k.finish(all)
		e.shows("", strings.TrimSpace(all))
		if n := e.count("post"); n != 1 {
			t.Errorf("%d messages were made", n)
		}
	})
	bubble("a commit at once saves the last draft", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		k.say("Hello ")
		time.Sleep(500 * time.Millisecond)
		k.say("world")
		k.End("Hello world")
		time.Sleep(10 * time.Millisecond)
		k.finish("Hello world")
		e.shows("", "Hello world")
		if n := e.count("draft"); n != 1 {
			t.Errorf("%d drafts", n)
		}
	})
	bubble("a slow commit does not hide the end, nor let it fade", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		k.say("Hello ")
		time.Sleep(500 * time.Millisecond)
		k.End("Hello world")
		time.Sleep(200 * time.Millisecond)
		e.shows("Hello world")
		time.Sleep(45 * time.Second)
		e.shows("Hello world")
		k.finish("Hello world")
		e.shows("", "Hello world")
	})
	bubble("an end without news needs no draft", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		k.say("Hello")
		time.Sleep(500 * time.Millisecond)
		k.End("Hello")
		time.Sleep(5 * time.Second)
		if n := e.count("draft"); n != 1 {
			t.Errorf("%d drafts", n)
		}
		k.finish("Hello")
	})
	bubble("a silent model's draft is shown again before it fades", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		k.say("Wait for it")
		for range 300 {
			time.Sleep(time.Second)
			e.shows("Wait for it [Stop]")
		}
		if n := e.count("draft"); n > 16 {
			t.Errorf("%d drafts in five minutes", n)
		}
		k.finish("Wait for it: done")
		e.shows("", "Wait for it: done")
	})
	bubble("blank text is not drawn, and what fades is not missed", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		k.say("\n\n")
		time.Sleep(5 * time.Second)
		e.shows("")
		k.say("x")
		time.Sleep(time.Second)
		k.On(event(core.EventBody{Type: core.MessageReset, Text: "**"}))
		time.Sleep(time.Minute)
		k.say("y**")
		time.Sleep(2 * time.Second)
		e.shows("**y** [Stop]")
		k.finish("**y**")
		e.shows("", "**y**")
	})
	bubble("an interval of its own, until drafts are over", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		e.fail = func(_ call, nth int) error {
			if nth == 10 {
				return ErrNoDraft
			}
			return nil
		}
		k := sketching(t, e, func(o *ConsumerOptions) { o.DraftInterval = 300 * time.Millisecond })
		for range 100 {
			k.say("x")
			time.Sleep(100 * time.Millisecond)
		}
		log := e.log()
		for i := 1; i < 9; i++ {
			if gap := log[i].at - log[i-1].at; gap < 300*time.Millisecond || gap > 500*time.Millisecond {
				t.Errorf("draft %d after %v", i, gap)
			}
		}
		for i := 11; i < len(log); i++ {
			if gap := log[i].at - log[i-1].at; log[i].method != "edit" || gap < time.Second {
				t.Errorf("%s %d after %v", log[i].method, i, gap)
			}
		}
		k.finish(strings.Repeat("x", 100))
	})
	bubble("earlier where calls cost nothing", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e, func(o *ConsumerOptions) { o.Unlimited, o.BufferThreshold = true, 10 })
		k.say("one")
		time.Sleep(100 * time.Millisecond)
		k.say(" and two and three")
		time.Sleep(100 * time.Millisecond)
		e.shows("one and two and three [Stop]")
		k.finish("one and two and three")
	})
}

func TestDraftReset(t *testing.T) {
	bubble("the text is replaced", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		k.say("the wrong beginning")
		time.Sleep(2 * time.Second)
		k.On(event(core.EventBody{Type: core.MessageReset, Text: "the right"}))
		time.Sleep(2 * time.Second)
		e.shows("the right [Stop]")
		k.say(" one")
		k.finish("the right one")
		e.shows("", "the right one")
	})
	bubble("after it filled messages", t, func(t *testing.T) {
		e := newEasel(t, 100)
		k := sketching(t, e)
		k.say(strings.Repeat("word ", 50))
		time.Sleep(5 * time.Second)
		k.On(event(core.EventBody{Type: core.MessageReset, Text: "short"}))
		time.Sleep(5 * time.Second)
		k.say(" and new")
		time.Sleep(5 * time.Second)
		k.finish("short and new")
		if e.shows(e.seen(), "short and new"); e.count("post") != 2 {
			t.Errorf("%d messages were made", e.count("post"))
		}
	})
}

func TestDraftBelowVanishedMessage(t *testing.T) {
	bubble("the answer is whole all the same", t, func(t *testing.T) {
		e := newEasel(t, 100)
		k := sketching(t, e)
		k.say(strings.Repeat("word ", 30))
		time.Sleep(5 * time.Second)
		if len(e.texts()) != 1 || e.seen() == "" {
			t.Fatalf("sees %q and %q", e.texts(), e.seen())
		}
		e.vanish(e.order[0])
		k.On(event(core.EventBody{Type: core.MessageReset, Text: "short"}))
		time.Sleep(time.Minute)
		k.finish("short and new")
		e.shows("", "short and new")
	})
}

func TestDraftOverflow(t *testing.T) {
	bubble("full pieces are messages, the rest is a draft", t, func(t *testing.T) {
		e := newEasel(t, 400)
		k := sketching(t, e)
		var all strings.Builder
		for i := range 250 {
			s := fmt.Sprintf("word%03d ", i)
			all.WriteString(s)
			k.say(s)
			time.Sleep(80 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		full := e.texts()
		if got := strings.Join(full, " ") + " " + e.seen(); got != strings.TrimSpace(all.String())+" [Stop]" {
			t.Errorf("sees %q", got)
		}
		parts := k.finish(all.String())
		if got := e.texts(); strings.Join(got, " ") != strings.TrimSpace(all.String()) || len(parts) != len(full)+1 {
			t.Errorf("%d parts after %d, sees %q", len(parts), len(full), got)
		}
		if e.count("edit")+e.count("delete") != 0 || e.count("post") != len(parts) {
			t.Errorf("%d edits, %d deletes, %d posts for %d parts", e.count("edit"), e.count("delete"), e.count("post"), len(parts))
		}
	})
}

func TestDraftInterim(t *testing.T) {
	bubble("text before a tool becomes a message at once, later text a draft below", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		k.say("I will look.")
		time.Sleep(100 * time.Millisecond)
		e.shows("I will look. [Stop]")
		k.tool("search")
		time.Sleep(100 * time.Millisecond)
		e.shows("", "I will look.")
		time.Sleep(3 * time.Second)
		e.shows("", "I will look.", "⏳ Searching [Stop]")
		k.toolDone("search")
		k.say("Found")
		time.Sleep(1500 * time.Millisecond)
		e.shows("Found [Stop]", "I will look.", "✓ Searching [Stop]")
		k.End("Found it.")
		k.finish("Found it.")
		e.shows("", "I will look.", "Found it.")
	})
	bubble("C048 three blocks once each, whatever the pace", t, func(t *testing.T) {
		for _, pause := range []time.Duration{0, 10 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second} {
			e := newEasel(t, 4096)
			k := sketching(t, e)
			for _, s := range []string{"A", "B"} {
				k.say(s)
				time.Sleep(pause)
				k.tool(s)
				time.Sleep(pause)
				k.toolDone(s)
			}
			k.say("C")
			time.Sleep(pause)
			k.End("C")
			k.finish("C")
			e.shows("", "A", "B", "C")
		}
	})
	bubble("the same words again are another draft", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		for range 2 {
			k.say("Looking.")
			time.Sleep(2 * time.Second)
			if e.seen() != "Looking. [Stop]" {
				t.Errorf("draft %q", e.seen())
			}
			k.tool("x")
			k.toolDone("x")
			time.Sleep(2 * time.Second)
		}
		k.finish("Done.")
		e.shows("", "Looking.", "Looking.", "Done.")
	})
	bubble("text that is hidden is replaced", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e, func(o *ConsumerOptions) { o.HideInterim = true })
		k.say("I will look.")
		time.Sleep(2 * time.Second)
		k.tool("search")
		k.toolDone("search")
		k.say("Found it.")
		time.Sleep(2 * time.Second)
		e.shows("Found it. [Stop]")
		k.finish("Found it.")
		e.shows("", "Found it.")
	})
}

func TestDraftRefused(t *testing.T) {
	nth := func(n int, err error) func(call, int) error {
		return func(c call, _ int) error {
			if n--; n < 0 && c.method == "draft" {
				return err
			}
			return nil
		}
	}
	for _, err := range []error{ErrNoDraft, errors.New("refused"), ErrGone} {
		for _, after := range []int{0, 2} {
			bubble(fmt.Sprintf("%v after %d: the same turn goes on with a message", err, after), t, func(t *testing.T) {
				e := newEasel(t, 4096)
				e.fail = nth(after, err)
				k := sketching(t, e)
				var all string
				for i := range 5 {
					all += fmt.Sprintf("w%d ", i)
					k.say(fmt.Sprintf("w%d ", i))
					time.Sleep(1100 * time.Millisecond)
				}
				if got := e.texts(); len(got) != 1 || got[0] != strings.TrimSpace(all)+" ▉ [Stop]" {
					t.Errorf("sees %q", got)
				}
				if n := e.count("draft"); n != after+1 {
					t.Errorf("%d drafts", n)
				}
				k.End(all)
				synctest.Wait()
				k.finish(all)
				e.shows("", strings.TrimSpace(all))
				if n := e.count("post"); n != 1 {
					t.Errorf("%d messages were made", n)
				}
			})
		}
	}
	bubble("not asked again in the same turn", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		e.fail = nth(0, ErrNoDraft)
		k := sketching(t, e)
		k.say("A")
		time.Sleep(2 * time.Second)
		k.tool("x")
		k.toolDone("x")
		k.say("B")
		time.Sleep(2 * time.Second)
		k.finish("B")
		if e.shows("", "A", "B"); e.count("draft") != 1 {
			t.Errorf("%d drafts", e.count("draft"))
		}
	})
	bubble("C045 a wait is a wait", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		until := time.Now().Add(9 * time.Second)
		e.fail = func(call, int) error {
			if time.Now().Before(until) {
				return &Wait{until}
			}
			return nil
		}
		k := sketching(t, e)
		var all string
		for range 40 {
			all += "x"
			k.say("x")
			time.Sleep(300 * time.Millisecond)
		}
		log := e.log()
		if len(log) < 3 || log[1].at != 9*time.Second || log[1].method != "draft" || len(log[1].v.Text) < 29 {
			t.Errorf("calls %+v", log)
		}
		k.finish(all)
		e.shows("", all)
	})
	bubble("nobody is there", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		e.fail = nth(0, ErrDead)
		k := sketching(t, e)
		k.say("x")
		k.say("y")
		time.Sleep(time.Minute)
		if _, err := k.Finish(t.Context(), "xy"); !errors.Is(err, ErrDead) || len(e.log()) != 1 {
			t.Errorf("%v, calls %+v", err, e.log())
		}
	})
	bubble("a measure that was mistaken", t, func(t *testing.T) {
		e := newEasel(t, 1000)
		e.fail = func(c call, _ int) error {
			if len(c.v.Text) > 500 {
				return ErrTooLong
			}
			return nil
		}
		k := sketching(t, e)
		all := strings.TrimSpace(strings.Repeat("word ", 300))
		k.say(all)
		time.Sleep(time.Minute)
		k.finish(all)
		if got := strings.Join(e.texts(), " "); got != all {
			t.Errorf("sees %q", got)
		}
	})
}

func TestDraftEnds(t *testing.T) {
	bubble("stopped: what was seen stays", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		k.say("The first part")
		time.Sleep(2 * time.Second)
		k.finish(k.Stands("(stopped)"))
		e.shows("", "The first part\n\n(stopped)")
	})
	bubble("abandoned: nothing more is drawn", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		k := sketching(t, e)
		k.say("one")
		time.Sleep(time.Second)
		n := len(e.log())
		k.Abandon()
		k.say("two")
		time.Sleep(time.Minute)
		if len(e.log()) != n || e.seen() != "" {
			t.Errorf("calls %+v", e.log())
		}
		if _, err := k.Finish(k.ctx, "x"); !errors.Is(err, ErrAbandoned) {
			t.Errorf("Finish: %v", err)
		}
		k.stop()
	})
	bubble("messages of an earlier attempt go on as messages", t, func(t *testing.T) {
		e := newEasel(t, 4096)
		e.shown["old"], e.order = View{Text: "half an"}, []string{"old"}
		k := sketching(t, e, func(o *ConsumerOptions) { o.Adopt = []core.Part{{Ref: "old", Sent: 1}} })
		k.say("half an ans")
		time.Sleep(2 * time.Second)
		k.finish("half an answer")
		e.shows("", "half an answer")
		if e.count("draft")+e.count("post") != 0 {
			t.Errorf("calls %+v", e.log())
		}
	})
	bubble("a surface without drafts gets edits", t, func(t *testing.T) {
		o := editing
		o.Mode = ModeDraft
		k := newTalk(t, newBoard(t, 4096), o)
		k.say("Hello")
		time.Sleep(time.Second)
		k.sees("Hello ▉ [Stop]")
		k.finish("Hello")
		k.sees("Hello")
	})
}
