package openai

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/tmaxmax/go-sse"
)

// streams are inputs with the data of the events in them.
var streams = map[string]struct {
	in   string
	want []string
}{
	"plain":                    {"data: a\n\ndata: b\n\n", []string{"a", "b"}},
	"no blank after the colon": {"data:a\n\ndata:b\n\n", []string{"a", "b"}},
	"CRLF":                     {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
	"CR":                       {"data: a\r\rdata: b\r\r", []string{"a", "b"}},
	"mixed ends":               {"data: a\r\n\ndata: b\n\r\n", []string{"a", "b"}},
	"comments":                 {": ping\n\n:\n\ndata: a\n: in between\n\n: OPENROUTER PROCESSING\n\n", []string{"a"}},
	"several data lines":       {"data: a\ndata: b\ndata\n\n", []string{"a\nb\n"}},
	"other fields":             {"event: x\nid: 1\nretry: 5\nunknown: y\ndata: a\n\n", []string{"a"}},
	"event without data":       {"event: ping\n\ndata: a\n\n", []string{"a"}},
	"two blanks":               {"data:  a\n\n", []string{" a"}},
	"colon in data":            {"data: {\"a\":1}\n\n", []string{`{"a":1}`}},
	"no last blank line":       {"data: a\n\ndata: b", []string{"a", "b"}},
	"byte order mark":          {"\xef\xbb\xbfdata: a\n\n", []string{"a"}},
	"runes":                    {"data: wörld 😀\n\n", []string{"wörld 😀"}},
	"200 KB":                   {"data: " + strings.Repeat("x", 200<<10) + "\n\ndata: b\n\n", []string{strings.Repeat("x", 200<<10), "b"}},
	"3 MB":                     {"data: " + strings.Repeat("x", 3<<20) + "\n\n", []string{strings.Repeat("x", 3<<20)}},
	"nothing":                  {"", nil},
	"blank lines":              {"\n\n\r\n\n", nil},
}

func readAll(r io.Reader) (got []string, err error) {
	es := newEvents(r)
	for {
		data, err := es.next()
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, string(data))
	}
}

func TestEvents(t *testing.T) {
	for name, c := range streams {
		for how, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader,
			"data with EOF": iotest.DataErrReader, "halves": iotest.HalfReader,
		} {
			if len(c.in) > 1<<20 && how != "whole" {
				continue
			}
			t.Run(name+", "+how, func(t *testing.T) {
				got, err := readAll(wrap(strings.NewReader(c.in)))
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
					t.Errorf("%v %s", err, diff)
				}
			})
		}
	}
}

func TestEventsFail(t *testing.T) {
	cut := errors.New("cut")
	got, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(cut)))
	if !errors.Is(err, cut) || len(got) != 1 {
		t.Errorf("%q, %v: an event that a failure cut off is no event", got, err)
	}
	if _, err := readAll(endless{}); !errors.Is(err, errTooLong) {
		t.Errorf("an endless line: %v", err)
	}
	many := bytes.NewReader(bytes.Repeat([]byte("data: "+strings.Repeat("x", 1<<20)+"\n"), maxEvent>>20+1))
	if _, err := readAll(many); !errors.Is(err, errTooLong) {
		t.Errorf("an endless event: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestEventsAsALibraryReadsThem checks that the inputs mean what a library that follows the standard reads in them.
func TestEventsAsALibraryReadsThem(t *testing.T) {
	for name, c := range streams {
		if name == "event without data" || name == "no last blank line" {
			continue // it hands out an empty event for the one, and an error for the other
		}
		var got []string
		for e, err := range sse.Read(strings.NewReader(c.in), &sse.ReadConfig{MaxEventSize: maxEvent}) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got = append(got, e.Data)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-ours +theirs): %s", name, diff)
		}
	}
}

// FuzzEvents checks that how a stream is cut into reads changes nothing.
func FuzzEvents(f *testing.F) {
	for _, c := range streams {
		if len(c.in) < 1000 {
			f.Add([]byte(c.in))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readAll(bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		bytewise, err := readAll(iotest.OneByteReader(bytes.NewReader(in)))
		if diff := cmp.Diff(whole, bytewise); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	})
}

const tokenEvent = `data: {"id":"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG","object":"chat.completion.chunk","created":1790000000,"model":"gpt-x-2026","service_tier":"default","system_fingerprint":"fp_fc9f1d7035","choices":[{"index":0,"delta":{"content":" porter"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"k2Jx"}` + "\n\n"

func BenchmarkEvents(b *testing.B) {
	const n = 1000
	small := strings.Repeat(tokenEvent, n)
	large := "data: " + strings.Repeat("x", 200<<10) + "\n\n"
	ours := func(in string) func() int {
		return func() (count int) {
			es := newEvents(network{strings.NewReader(in)})
			for {
				if _, err := es.next(); err != nil {
					return count
				}
				count++
			}
		}
	}
	library := func(in string) func() int {
		return func() (count int) {
			for range sse.Read(network{strings.NewReader(in)}, &sse.ReadConfig{MaxEventSize: maxEvent}) {
				count++
			}
			return count
		}
	}
	for _, c := range []struct {
		name string
		run  func() int
		want int
	}{{"1000 tokens/ours", ours(small), n}, {"1000 tokens/go-sse", library(small), n}, {"200 KB/ours", ours(large), 1}, {"200 KB/go-sse", library(large), 1}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := c.run(); got != c.want {
					b.Fatal(got)
				}
			}
		})
	}
}

// network reads at most 4 KB at a time, as a connection does.
type network struct{ r io.Reader }

func (n network) Read(p []byte) (int, error) { return n.r.Read(p[:min(len(p), 4<<10)]) }
