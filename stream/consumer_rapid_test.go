package stream

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
	"bellhop/stream/markup"
)

// TestConsumerShowsExactlyTheAnswer says random things to a platform that refuses at random, and demands that in the end
// a person sees every block once, in order, and the answer as it was committed.
func TestConsumerShowsExactlyTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(timeless{t}, func(rt *rapid.T) { newPlay(t, rt).run() })
	})
}

type play struct {
	rt   *rapid.T
	k    *talk
	max  int
	want []string // blocks that stand
	text string   // block under way
	tool int
}

func newPlay(t *testing.T, rt *rapid.T) *play {
	p := &play{rt: rt, max: rapid.IntRange(120, 400).Draw(rt, "max")}
	faults := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 40).Draw(rt, "faults")
	b := newBoard(t, p.max)
	b.delay = time.Duration(rapid.IntRange(0, 1500).Draw(rt, "delay")) * time.Millisecond
	b.fail = func(c call, nth int) error {
		switch {
		case nth > len(faults):
		case faults[nth-1] == 1 && !c.v.Final && c.method != "delete":
			return ErrSkip
		case faults[nth-1] == 2:
			return fmt.Errorf("flood: %w", &Wait{Until: time.Now().Add(5 * time.Second)})
		case faults[nth-1] == 3 && c.method != "post":
			return errors.New("refused")
		}
		return nil
	}
	var s Surface = b
	o := editing
	if rapid.Bool().Draw(rt, "drafts") {
		s, o.Mode = &easel{board: b}, ModeDraft
	}
	p.k = newTalkOn(t, s, b, o)
	return p
}

func (p *play) run() {
	p.rt.Repeat(map[string]func(*rapid.T){
		"say": func(rt *rapid.T) {
			for range rapid.IntRange(1, 30).Draw(rt, "n") {
				s := rapid.SampledFrom([]string{"word ", "*i* ", "**b** ", "`c` ", "x.\n\n", "\n- item ", "日本", "👍🏽", "\n```go\nx\n```\n"}).Draw(rt, "s")
				p.text += s
				p.k.say(s)
			}
		},
		"reset": func(rt *rapid.T) {
			p.text = rapid.SampledFrom([]string{"", "again "}).Draw(rt, "to")
			p.k.On(event(core.EventBody{Type: core.MessageReset, Text: p.text}))
		},
		"tool": func(rt *rapid.T) {
			p.seal()
			p.tool++
			name := fmt.Sprint("tool", p.tool)
			p.k.tool(name)
			time.Sleep(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "ms")) * time.Millisecond)
			p.k.toolDone(name)
		},
		"pass": func(rt *rapid.T) {
			time.Sleep(time.Duration(rapid.IntRange(0, 5000).Draw(rt, "ms")) * time.Millisecond)
		},
	})
	final := p.text + rapid.SampledFrom([]string{"", "More.", "\n\nThe end. It is longer than a message is. Much longer than one."}).Draw(p.rt, "end")
	if rapid.Bool().Draw(p.rt, "changed") {
		final = "Checked: " + final
	}
	p.k.End(final)
	if rapid.Bool().Draw(p.rt, "late") {
		time.Sleep(10 * time.Second)
	}
	p.finish(final)
}

func (p *play) seal() {
	if strings.TrimSpace(p.text) != "" {
		p.want = append(p.want, p.text)
	}
	p.text = ""
}

// finish tries as often as an outbox would; what was refused for good is done by the next Consumer.
func (p *play) finish(final string) {
	parts, err := p.k.Finish(p.k.ctx, final)
	if err != nil && errors.Is(err, ErrDead) {
		p.rt.Fatal(err)
	}
	p.k.Wait()
	p.k.stop()
	for range 50 {
		if err == nil {
			break
		}
		parts, err = NewConsumer(p.k.b, ConsumerOptions{Adopt: parts}).Finish(p.k.t.Context(), final)
	}
	if err != nil {
		p.rt.Fatal(err)
	}
	p.check(final, parts)
}

func (p *play) check(final string, parts []core.Part) {
	got := p.k.b.texts()
	text, _ := Extract(final)
	answer := trimAll(Split(text, p.max, markup.UTF16))
	if len(p.want) > 0 && strings.TrimSpace(p.want[len(p.want)-1]) == strings.TrimSpace(text) {
		p.want = p.want[:len(p.want)-1] // the answer repeats the block before: it is said once
	}
	if len(got) < len(answer) || !slices.Equal(got[len(got)-len(answer):], answer) {
		p.rt.Fatalf("sees %q\nends with %q", got, answer)
	}
	if len(parts) != len(answer) {
		p.rt.Fatalf("%d parts of %q", len(parts), answer)
	}
	before := strings.Join(got[:len(got)-len(answer)], "\n")
	if !rejoins(strings.Join(p.want, "\n"), []string{before}) || strings.Count(before, "word") != strings.Count(strings.Join(p.want, ""), "word") {
		p.rt.Fatalf("before the answer %q\nwant %q", before, p.want)
	}
	if strings.Contains(strings.Join(got, ""), "▉") || strings.Contains(strings.Join(got, ""), "[Stop]") {
		p.rt.Fatalf("sees %q", got)
	}
}
