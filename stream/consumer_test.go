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

var editing = ConsumerOptions{Cursor: " ▉", StopButton: &core.Button{Label: "Stop", Data: "stop:1"}}

func bubble(name string, t *testing.T, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func TestConsumerCadence(t *testing.T) {
	bubble("first text at once, then every second", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		var all string
		for i := range 30 {
			word := fmt.Sprintf("w%d ", i)
			all += word
			k.say(word)
			time.Sleep(100 * time.Millisecond)
		}
		k.End(all)
		synctest.Wait()
		k.finish(all)
		k.sees(strings.TrimSpace(all))
		if c := k.b.log()[0]; c.at != 0 || c.method != "post" || c.v.Text != "w0 ▉" || len(c.v.Buttons) != 1 {
			t.Errorf("first call %+v", c)
		}
		if n := len(k.b.log()); n > 6 {
			t.Errorf("%d calls in three seconds", n)
		}
		for i := 2; i < len(k.b.log())-2; i++ {
			if gap := k.b.log()[i].at - k.b.log()[i-1].at; gap < time.Second {
				t.Errorf("edit %d after %v", i, gap)
			}
		}
	})
	bubble("C041 nothing to do at the end", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing, "H", "i")
		time.Sleep(time.Second)
		k.sees("Hi")
		k.finish("Hi")
		k.sees("Hi")
		if len(k.b.log()) != 1 {
			t.Errorf("calls %+v", k.b.log())
		}
	})
	bubble("Stop stays until the commit when it was shown", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("Hello wor")
		time.Sleep(100 * time.Millisecond)
		k.sees("Hello wor ▉ [Stop]")
		k.End("Hello world.")
		time.Sleep(100 * time.Millisecond)
		k.sees("Hello world. [Stop]")
		k.finish("Hello world.")
		k.sees("Hello world.")
	})
	bubble("C053 blank text is not shown", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("\n\n\n")
		time.Sleep(5 * time.Second)
		k.sees()
		k.say("\nx")
		time.Sleep(time.Second)
		k.sees("x ▉ [Stop]")
		k.finish("x")
		k.sees("x")
	})
	bubble("blank end", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("**")
		time.Sleep(2 * time.Second)
		k.End("")
		synctest.Wait()
		k.finish("")
		if k.sees(); len(k.b.log()) != 0 {
			t.Errorf("calls %+v", k.b.log())
		}
	})
	bubble("earlier where edits cost nothing", t, func(t *testing.T) {
		o := editing
		o.Unlimited, o.BufferThreshold = true, 10
		k := newTalk(t, newBoard(t, 4096), o)
		k.say("one")
		time.Sleep(100 * time.Millisecond)
		k.say(" and two and three")
		time.Sleep(100 * time.Millisecond)
		k.sees("one and two and three ▉ [Stop]")
		k.finish("one and two and three")
	})
	bubble("other turns are ignored", t, func(t *testing.T) {
		o := editing
		o.Turn = "mine"
		k := newTalk(t, newBoard(t, 4096), o)
		k.say("theirs")
		k.On(core.Event{Turn: "mine", EventBody: core.EventBody{Type: core.MessageDelta, Text: "mine"}})
		time.Sleep(time.Second)
		k.sees("mine ▉ [Stop]")
		k.finish("mine")
	})
}

func TestConsumerOverflow(t *testing.T) {
	bubble("C042 rolls over, no call without news", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 400), editing)
		var all strings.Builder
		for i := range 250 {
			s := fmt.Sprintf("word%03d ", i)
			all.WriteString(s)
			k.say(s)
			time.Sleep(80 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		before := len(k.b.log())
		time.Sleep(time.Minute)
		if n := len(k.b.log()) - before; n != 0 {
			t.Errorf("%d calls without news", n)
		}
		posts := k.b.count("post")
		parts := k.finish(all.String())
		if k.b.count("post") != posts || k.b.count("delete") != 0 {
			t.Errorf("the final was sent anew: %d posts, was %d", k.b.count("post"), posts)
		}
		got := strings.Join(k.b.texts(), " ")
		if got != strings.TrimSpace(all.String()) {
			t.Errorf("sees %q", got)
		}
		if len(parts) != len(k.b.texts()) {
			t.Errorf("%d parts, %d messages", len(parts), len(k.b.texts()))
		}
	})
	bubble("code over several messages", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 300), editing)
		md := "Look:\n\n```go\n" + strings.Repeat("x := compute(1)\n", 60) + "```\n\nDone."
		for _, s := range strings.SplitAfter(md, "\n") {
			k.say(s)
			time.Sleep(50 * time.Millisecond)
		}
		k.End(md)
		synctest.Wait()
		k.finish(md)
		k.sees(trimAll(Split(md, 300, k.b.size))...)
	})
}

func trimAll(ss []string) []string {
	for i := range ss {
		ss[i] = trimmed(ss[i])
	}
	return ss
}

func TestConsumerTools(t *testing.T) {
	bubble("C048 text, tool, text stand in order", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("First.")
		time.Sleep(500 * time.Millisecond)
		k.tool("shell")
		time.Sleep(1100 * time.Millisecond)
		k.sees("First.")
		time.Sleep(300 * time.Millisecond)
		k.sees("First.", "⏳ Running a command [Stop]")
		k.toolDone("shell")
		k.say("Second.")
		time.Sleep(1500 * time.Millisecond)
		k.sees("First.", "✓ Running a command [Stop]", "Second. ▉ [Stop]")
		k.tool("read_file")
		k.toolDone("read_file")
		k.say("Third.")
		time.Sleep(1500 * time.Millisecond)
		k.sees("First.", "✓ Running a command\n✓ Reading a file [Stop]", "Second.", "Third. ▉ [Stop]")
		k.End("Third.")
		time.Sleep(200 * time.Millisecond)
		k.sees("First.", "Second.", "Third. [Stop]")
		parts := k.finish("Third.")
		k.sees("First.", "Second.", "Third.")
		if len(parts) != 1 {
			t.Errorf("parts of the answer %v", parts)
		}
	})
	bubble("quick tools show nothing", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		for range 5 {
			k.tool("shell")
			time.Sleep(300 * time.Millisecond)
			k.toolDone("shell")
		}
		time.Sleep(5 * time.Second)
		k.finish("Done.")
		if k.sees("Done."); len(k.b.log()) != 1 {
			t.Errorf("calls %+v", k.b.log())
		}
	})
	bubble("at most four lines, no arguments", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		for _, n := range []string{"todo", "shell", "shell", "web_search", "memory", "frob_nicate"} {
			k.On(event(core.EventBody{Type: core.ToolStart, Call: n, Name: n, Detail: "secret argument"}))
			time.Sleep(2 * time.Second)
			k.toolDone(n)
		}
		time.Sleep(2 * time.Second)
		k.sees("✓ Running a command ×2\n✓ Searching the web\n✓ Remembering\n✓ Using frob nicate [Stop]")
		k.finish("ok")
		k.sees("ok")
	})
	bubble("C050 progress after the final is dropped", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("Answer")
		k.End("Answer")
		synctest.Wait()
		k.tool("shell")
		k.say(" late")
		k.finish("Answer")
		k.tool("shell")
		k.say(" later")
		time.Sleep(10 * time.Second)
		k.sees("Answer")
	})
	bubble("interim text is authoritative", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("Let me lo")
		time.Sleep(100 * time.Millisecond)
		k.On(event(core.EventBody{Type: core.MessageInterim, Text: "Let me look."}))
		k.tool("shell")
		time.Sleep(1100 * time.Millisecond)
		k.sees("Let me look.")
		k.finish("Found.")
		k.sees("Let me look.", "Found.")
	})
	bubble("interim text hidden", t, func(t *testing.T) {
		o := editing
		o.HideInterim = true
		k := newTalk(t, newBoard(t, 4096), o)
		k.say("Let me look.")
		time.Sleep(100 * time.Millisecond)
		k.tool("shell")
		k.toolDone("shell")
		k.say("Found.")
		time.Sleep(2 * time.Second)
		k.sees("Found. ▉ [Stop]")
		k.finish("Found.")
		k.sees("Found.")
	})
	bubble("the final repeats interim text", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("All there is.")
		k.tool("shell")
		time.Sleep(time.Second)
		k.finish("All there is.")
		k.sees("All there is.")
	})
}

func TestConsumerFinal(t *testing.T) {
	bubble("C047 C057 the final is authoritative", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("Answer: 41")
		time.Sleep(time.Second)
		k.finish("Answer: 42 (checked)")
		k.sees("Answer: 42 (checked)")
		if k.b.count("post") != 1 {
			t.Error("a second message")
		}
	})
	bubble("a shorter final takes messages away", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 100), editing)
		k.say(strings.Repeat("word ", 60))
		time.Sleep(3 * time.Second)
		k.finish("Short.")
		k.sees("Short.")
	})
	bubble("a changed final that was never painted is cut anew", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 100), editing)
		text := strings.Repeat("word ", 60)
		k.say(text)
		time.Sleep(3 * time.Second)
		k.stop()
		k.Wait()
		final := "Checked: " + text
		k.End(final)
		if _, err := k.Finish(t.Context(), final); err != nil {
			t.Error(err)
		}
		k.sees(trimAll(Split(final, 100, k.b.size))...)
	})
	bubble("reset replaces without doubling", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 100), editing)
		k.say(strings.Repeat("word ", 60))
		time.Sleep(3 * time.Second)
		k.On(event(core.EventBody{Type: core.MessageReset, Text: "Again "}))
		time.Sleep(2 * time.Second)
		k.sees("Again ▉ [Stop]")
		k.say("and on")
		time.Sleep(2 * time.Second)
		k.sees("Again and on ▉ [Stop]")
		k.On(event(core.EventBody{Type: core.MessageReset}))
		time.Sleep(2 * time.Second)
		k.sees("Again and on ▉ [Stop]")
		k.say("New")
		time.Sleep(2 * time.Second)
		k.sees("New ▉ [Stop]")
		k.finish("New")
		k.sees("New")
	})
	bubble("interrupted text stands", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("Step 1\n```go\nx")
		time.Sleep(time.Second)
		final := k.Stands("Stopped.")
		k.End(final)
		synctest.Wait()
		k.finish(final)
		k.sees("Step 1\n```go\nx\n```\n\nStopped.")
	})
	bubble("C059 media lines are held back", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		for _, s := range []string{"Summary.\nME", "DIA:/p/a", ".png\nIt", "em A"} {
			k.say(s)
			time.Sleep(1500 * time.Millisecond)
			k.sees("Summary. ▉ [Stop]")
		}
		k.finish("Summary.\nMEDIA:/p/a.png\nItem A")
		k.sees("Summary.")
	})
	bubble("without Run", t, func(t *testing.T) {
		b := newBoard(t, 50)
		md := strings.Repeat("word ", 30)
		parts, err := NewConsumer(b, ConsumerOptions{ReplyTo: "7"}).Finish(t.Context(), md)
		if err != nil || len(parts) != 3 || b.log()[0].v.ReplyTo != "7" || b.log()[1].v.ReplyTo != "" || !b.log()[0].v.Final {
			t.Errorf("%v %v %+v", parts, err, b.log())
		}
		again, err := NewConsumer(b, ConsumerOptions{Adopt: parts}).Finish(t.Context(), md)
		if err != nil || len(again) != 3 || len(b.log()) != 3 {
			t.Errorf("sent again: %v %v", err, b.log()[3:])
		}
	})
	bubble("adopts an earlier attempt", t, func(t *testing.T) {
		b := newBoard(t, 50)
		k := newTalk(t, b, editing)
		var stored []core.Part
		k.p.o.OnPart = func(p []core.Part) { stored = p }
		k.say(strings.Repeat("word ", 30))
		time.Sleep(3 * time.Second)
		k.tool("shell")
		time.Sleep(3 * time.Second)
		k.stop()
		k.Wait()
		o := editing
		o.Adopt = append(stored, core.Part{Sent: 1})
		k = newTalk(t, b, o)
		k.say("New")
		k.End("New answer")
		time.Sleep(5 * time.Second)
		k.finish("New answer")
		texts := b.texts()
		if got := texts[len(texts)-1]; got != "New answer" || strings.Contains(strings.Join(texts, " "), "Running") {
			t.Errorf("sees %q", texts)
		}
	})
	bubble("abandoned", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("Hello")
		time.Sleep(time.Second)
		k.Abandon()
		k.say(" more")
		if _, err := k.Finish(t.Context(), "Hello more"); !errors.Is(err, ErrAbandoned) {
			t.Error(err)
		}
		k.Wait()
		k.sees("Hello ▉ [Stop]")
	})
	bubble("buffer", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), ConsumerOptions{Mode: ModeBuffer})
		k.say("First.")
		time.Sleep(3 * time.Second)
		k.sees()
		k.tool("shell")
		time.Sleep(3 * time.Second)
		k.sees("First.")
		k.say("Second.")
		k.End("Second.")
		time.Sleep(time.Second)
		k.sees("First.")
		k.finish("Second!")
		k.sees("First.", "Second!")
	})
	bubble("off", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), ConsumerOptions{Mode: ModeOff})
		k.say("First.")
		k.tool("shell")
		time.Sleep(3 * time.Second)
		k.End("Second.")
		k.finish("Second.")
		k.sees("Second.")
	})
}

func TestConsumerTrouble(t *testing.T) {
	bubble("C045 waits, then the newest text", t, func(t *testing.T) {
		b := newBoard(t, 4096)
		b.fail = func(c call, nth int) error {
			if nth == 2 {
				return &Wait{Until: time.Now().Add(9 * time.Second)}
			}
			return nil
		}
		k := newTalk(t, b, editing)
		for i := range 30 {
			k.say(fmt.Sprintf("w%d ", i))
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(3 * time.Second)
		if gap := b.log()[2].at - b.log()[1].at; gap < 9*time.Second || !strings.Contains(b.log()[2].v.Text, "w29") {
			t.Errorf("after %v: %q", gap, b.log()[2].v.Text)
		}
		k.finish("end")
		k.sees("end")
	})
	bubble("C044 the last edit is refused", t, func(t *testing.T) {
		b := newBoard(t, 4096)
		refused := 0
		b.fail = func(c call, nth int) error {
			if c.v.Final && refused < 3 {
				refused++
				return &Wait{Until: time.Now().Add(7 * time.Second)}
			}
			return nil
		}
		k := newTalk(t, b, editing)
		k.say("done")
		time.Sleep(time.Second)
		k.finish("done")
		k.sees("done")
		if b.count("post") != 1 {
			t.Errorf("calls %+v", b.log())
		}
	})
	bubble("a wait beyond the deadline comes back", t, func(t *testing.T) {
		b := newBoard(t, 10)
		b.fail = func(c call, nth int) error {
			if nth == 2 {
				return fmt.Errorf("flood: %w", &Wait{Until: time.Now().Add(time.Hour)})
			}
			return nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		start := time.Now()
		parts, err := NewConsumer(b, ConsumerOptions{}).Finish(ctx, "one two three four five")
		var w *Wait
		if !errors.As(err, &w) || time.Since(start) > time.Second || len(parts) != 2 || parts[0].Ref == "" || parts[1].Sent != 0 {
			t.Errorf("%v %v", parts, err)
		}
		parts, err = NewConsumer(b, ConsumerOptions{Adopt: parts}).Finish(t.Context(), "one two three four five")
		if err != nil || strings.Join(b.texts(), " ") != "one two three four five" {
			t.Errorf("%v %v %q", parts, err, b.texts())
		}
	})
	bubble("C054 the preview is deleted by a person", t, func(t *testing.T) {
		k := newTalk(t, newBoard(t, 4096), editing)
		k.say("one ")
		time.Sleep(time.Second)
		k.b.vanish("m1")
		for range 10 {
			k.say("more ")
			time.Sleep(time.Second)
		}
		if n := k.b.count("edit"); n != 1 {
			t.Errorf("%d edits of a message that is gone", n)
		}
		k.finish("the answer")
		if k.sees("the answer"); k.b.count("post") != 2 {
			t.Error("not sent once")
		}
	})
	bubble("C056 a failed part does not stop the others", t, func(t *testing.T) {
		b := newBoard(t, 20)
		b.fail = func(c call, nth int) error {
			if c.method == "edit" {
				return errors.New("refused")
			}
			return nil
		}
		k := newTalk(t, b, editing)
		k.say("first text")
		time.Sleep(time.Second)
		k.finish("one one one one one two two two two two three three")
		if got := strings.Join(b.texts(), " "); got != "one one one one one two two two two two three three" {
			t.Errorf("sees %q", b.texts())
		}
	})
	bubble("C056 a post fails", t, func(t *testing.T) {
		b := newBoard(t, 20)
		b.fail = func(c call, nth int) error {
			if nth == 1 {
				return errors.New("refused")
			}
			return nil
		}
		parts, err := NewConsumer(b, ConsumerOptions{}).Finish(t.Context(), "one one one one one two two two two two three three")
		if err == nil || len(parts) != 3 || parts[0].Ref != "" || parts[0].Sent != 1 || parts[2].Ref == "" {
			t.Errorf("%v %v", parts, err)
		}
		_, err = NewConsumer(b, ConsumerOptions{Adopt: parts}).Finish(t.Context(), "one one one one one two two two two two three three")
		if got := strings.Join(b.texts(), " "); err != nil || got != "one one one one one two two two two two three three" {
			t.Errorf("%v sees %q", err, b.texts())
		}
	})
	bubble("a dead target", t, func(t *testing.T) {
		b := newBoard(t, 4096)
		b.fail = func(call, int) error { return fmt.Errorf("blocked: %w", ErrDead) }
		k := newTalk(t, b, editing)
		k.say("one")
		synctest.Wait()
		if _, err := k.Finish(t.Context(), "one"); !errors.Is(err, ErrDead) || len(b.log()) != 1 {
			t.Errorf("%v, %d calls", err, len(b.log()))
		}
	})
	bubble("previews dropped for the budget", t, func(t *testing.T) {
		b := newBoard(t, 4096)
		b.fail = func(c call, nth int) error {
			if !c.v.Final {
				return ErrSkip
			}
			return nil
		}
		k := newTalk(t, b, editing)
		k.say("one")
		time.Sleep(10 * time.Second)
		if n := len(b.log()); n < 5 || n > 11 {
			t.Errorf("%d tries in ten seconds", n)
		}
		k.finish("one")
		k.sees("one")
	})
	bubble("measured too short", t, func(t *testing.T) {
		b := newBoard(t, 100)
		b.fail = func(c call, nth int) error {
			if len(c.v.Text) > 80 {
				return ErrTooLong
			}
			return nil
		}
		k := newTalk(t, b, editing)
		text := strings.TrimSpace(strings.Repeat("word ", 60))
		k.say(text)
		time.Sleep(10 * time.Second)
		k.finish(text)
		if got := strings.Join(b.texts(), " "); got != text {
			t.Errorf("sees %q", b.texts())
		}
		parts, err := NewConsumer(b, ConsumerOptions{}).Finish(t.Context(), text)
		if err != nil || len(parts) < 4 {
			t.Errorf("%v %v", parts, err)
		}
	})
}

func TestExtract(t *testing.T) {
	tests := []struct {
		md, text string
		media    string
	}{
		{"Summary.\nMEDIA:/p/a.png\nItem A", "Summary.", "[{photo /p/a.png Item A a.png}]"},
		{"MEDIA:/a.ogg\n\nText", "\nText", "[{voice /a.ogg  a.ogg}]"},
		{"MEDIA:/a.pdf\nMEDIA:`/b.mp4`", "", "[{document /a.pdf  a.pdf} {video /b.mp4  b.mp4}]"},
		{"```\nMEDIA:/a.png\n```", "```\nMEDIA:/a.png\n```", "[]"},
		{"MEDIA: and more\nMED", "", "[{document and more MED and more}]"},
		{"The MEDIA:/x is text\nMEDIA:", "The MEDIA:/x is text\nMEDIA:", "[]"},
		{"", "", "[]"},
	}
	for _, tt := range tests {
		text, media := Extract(tt.md)
		if text != tt.text || fmt.Sprint(media) != tt.media {
			t.Errorf("Extract(%q) = %q %v, want %q %v", tt.md, text, media, tt.text, tt.media)
		}
	}
}
