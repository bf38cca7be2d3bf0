package stream

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bellhop/core"
	"bellhop/stream/markup"
)

// silent hears everything and does nothing.
type silent struct{ n int }

func (s *silent) On(core.Event) { s.n++ }

func BenchmarkHubEmit(b *testing.B) {
	for _, n := range []int{0, 1, 8, 128} {
		b.Run(fmt.Sprintf("listeners=%d", n), func(b *testing.B) {
			h := NewHub(newShelf(), HubOptions{})
			for range n {
				defer h.Attach("c", &silent{})()
			}
			ctx, d := context.Background(), delta("word ")
			b.ReportAllocs()
			for b.Loop() {
				h.Emit(ctx, "c", "a", "t", d)
			}
		})
	}
}

func BenchmarkHubEmitParallel(b *testing.B) {
	h := NewHub(newShelf(), HubOptions{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		c := core.ConversationID(fmt.Sprintf("%p", pb))
		defer h.Attach(c, &silent{})()
		for d := delta("word "); pb.Next(); {
			h.Emit(context.Background(), c, "a", "t", d)
		}
	})
}

func BenchmarkSubscription(b *testing.B) {
	s := NewSubscription(256)
	e := core.Event{Seq: 1, EventBody: delta("word ")}
	b.ReportAllocs()
	for b.Loop() {
		s.On(e)
		if _, err := s.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConsumerOn(b *testing.B) {
	c := NewConsumer(paper{}, ConsumerOptions{})
	e := core.Event{EventBody: delta("word ")}
	b.ReportAllocs()
	for b.Loop() {
		c.On(e)
	}
}

func BenchmarkSplit(b *testing.B) {
	md := answer(100_000)
	for name, size := range map[string]func(string) int{"raw": markup.UTF16, "rendered": markup.TelegramSize} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(md)))
			b.ReportAllocs()
			for b.Loop() {
				Split(md, 4096, size)
			}
		})
	}
}

// BenchmarkStream streams a whole answer in deltas of five bytes with a paint after each 200 bytes, which is what a fast
// model brings in a second; the time per byte must not grow with the answer.
func BenchmarkStream(b *testing.B) {
	for _, n := range []int{2_000, 20_000, 200_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			md := answer(n)
			b.SetBytes(int64(len(md)))
			b.ReportAllocs()
			for b.Loop() {
				streamed(b, md)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(md)), "ns/byte")
		})
	}
}

func streamed(b *testing.B, md string) {
	c := NewConsumer(paper{}, ConsumerOptions{Cursor: " ▉"})
	ctx := context.Background()
	for i, painted := 0, 0; i < len(md); i += 5 {
		c.On(core.Event{EventBody: delta(md[i:min(i+5, len(md))])})
		if i-painted >= 200 {
			painted = i
			c.step(ctx)
		}
	}
	if _, err := c.Finish(ctx, md); err != nil {
		b.Fatal(err)
	}
}

// paper is a Surface that takes everything.
type paper struct{}

func (paper) Post(context.Context, View) (string, error) { return "m", nil }
func (paper) Edit(context.Context, string, View) error   { return nil }
func (paper) Delete(context.Context, string) error       { return nil }
func (paper) Size(md string) int                         { return markup.TelegramSize(md) }
func (paper) Max() int                                   { return 4096 }

// answer is Markdown of about n bytes.
func answer(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Part %d\n\nSome **bold** text with `code` and a [link](https://example.com/%d), and a sentence. "+
			"Then one more of them, which is longer.\n\n- item one\n- item *two*\n\n```go\nx := compute(%d)\nfmt.Println(x)\n```\n\n", i, i, i)
	}
	return b.String()[:n]
}
