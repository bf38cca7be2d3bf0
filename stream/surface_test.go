package stream

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/stream/markup"
)

// call is one call that a board got.
type call struct {
	at     time.Duration // since the board was made
	method string        // post, edit, delete
	ref    string
	v      View
}

// board is a Surface that shows what a person would see. It fails a test that sends what platforms refuse: blank text,
// text that is too long, an edit that changes nothing, two calls at a time.
type board struct {
	t     *testing.T
	max   int
	size  func(string) int
	delay time.Duration
	start time.Time
	fail  func(c call, nth int) error // nth call of all, from 1

	mu    sync.Mutex
	busy  bool
	calls []call
	order []string
	shown map[string]View
}

func newBoard(t *testing.T, max int) *board {
	return &board{t: t, max: max, size: markup.UTF16, start: time.Now(), shown: map[string]View{}, delay: 50 * time.Millisecond}
}

func (b *board) Size(md string) int { return b.size(md) }
func (b *board) Max() int           { return b.max }

func (b *board) begin(ctx context.Context, c call) error {
	b.mu.Lock()
	if b.busy {
		b.t.Error("two calls at a time")
	}
	b.busy = true
	c.at = time.Since(b.start)
	b.calls = append(b.calls, c)
	n := len(b.calls)
	b.mu.Unlock()
	time.Sleep(b.delay)
	b.mu.Lock()
	b.busy = false
	b.mu.Unlock()
	if c.method != "delete" && strings.TrimSpace(strings.Trim(c.v.Text, " ▉")) == "" {
		b.t.Errorf("blank message %q", c.v.Text)
	}
	if b.size(c.v.Text) > b.max {
		b.t.Errorf("%s of %d > %d", c.method, b.size(c.v.Text), b.max)
	}
	if b.fail != nil {
		return b.fail(c, n)
	}
	return ctx.Err()
}

func (b *board) Post(ctx context.Context, v View) (string, error) {
	if err := b.begin(ctx, call{method: "post", v: v}); err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	ref := "m" + strconv.Itoa(len(b.calls))
	b.order = append(b.order, ref)
	b.shown[ref] = v
	return ref, nil
}

func (b *board) Edit(ctx context.Context, ref string, v View) error {
	if err := b.begin(ctx, call{method: "edit", ref: ref, v: v}); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	old, ok := b.shown[ref]
	if !ok {
		return fmt.Errorf("edit: %w", ErrGone)
	}
	if Hash(old) == Hash(v) {
		b.t.Errorf("edit changes nothing: %q", v.Text)
	}
	b.shown[ref] = v
	return nil
}

func (b *board) Delete(ctx context.Context, ref string) error {
	if err := b.begin(ctx, call{method: "delete", ref: ref}); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.shown[ref]; !ok {
		return ErrGone
	}
	delete(b.shown, ref)
	return nil
}

// vanish is a person who deletes a message.
func (b *board) vanish(ref string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.shown, ref)
}

// texts is what a person sees, oldest first; [Stop] marks a button.
func (b *board) texts() (ts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, ref := range b.order {
		if v, ok := b.shown[ref]; ok {
			t := v.Text
			for _, x := range v.Buttons {
				t += " [" + x.Label + "]"
			}
			ts = append(ts, t)
		}
	}
	return ts
}

// log is a copy of the calls.
func (b *board) log() []call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// count counts the calls of a method.
func (b *board) count(method string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		if c.method == method {
			n++
		}
	}
	return n
}

// talk drives a Consumer inside a synctest bubble.
type talk struct {
	*Consumer
	b    *board
	t    *testing.T
	stop context.CancelFunc
	ctx  context.Context
}

// newTalk lets it paint; said is what was said before it.
func newTalk(t *testing.T, b *board, o ConsumerOptions, said ...string) *talk {
	return newTalkOn(t, b, b, o, said...)
}

// newTalkOn paints on s, which is b or built on it.
func newTalkOn(t *testing.T, s Surface, b *board, o ConsumerOptions, said ...string) *talk {
	ctx, stop := context.WithCancel(t.Context())
	o.Go = func(paint func(context.Context)) bool {
		if ctx.Err() == nil {
			go paint(ctx)
		}
		return ctx.Err() == nil
	}
	k := &talk{Consumer: NewConsumer(s, o), b: b, t: t, stop: stop, ctx: ctx}
	for _, s := range said {
		k.say(s)
	}
	if len(said) > 0 {
		k.End(strings.Join(said, ""))
	}
	return k
}

func (k *talk) say(text string) { k.On(event(core.EventBody{Type: core.MessageDelta, Text: text})) }
func (k *talk) tool(name string) {
	k.On(event(core.EventBody{Type: core.ToolStart, Call: name, Name: name}))
}
func (k *talk) toolDone(name string) {
	k.On(event(core.EventBody{Type: core.ToolComplete, Call: name, Name: name}))
}

func (k *talk) finish(final string) []core.Part {
	k.t.Helper()
	parts, err := k.Finish(k.ctx, final)
	if err != nil {
		k.t.Errorf("Finish: %v", err)
	}
	k.Wait()
	k.stop()
	return parts
}

func event(b core.EventBody) core.Event { return core.Event{EventBody: b} }

func (k *talk) sees(want ...string) {
	k.t.Helper()
	if got := k.b.texts(); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		k.t.Errorf("sees %q\nwant %q", got, want)
	}
}
