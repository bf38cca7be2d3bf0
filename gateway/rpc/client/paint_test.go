package client

import (
	"encoding/json"
	"strings"
	"testing"
)

// A turn that begins once more after a crash repeats nothing that is on the screen, however the pieces are cut.
func TestTextToldAgain(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after []string
		want          string
	}{
		{"nothing was shown", nil, []string{"a", "b"}, "ab\n"},
		{"the same text", []string{"a", "b"}, []string{"ab", "c"}, "abc\n"},
		{"cut in other places", []string{"one tw"}, []string{"on", "e two", " three"}, "one two three\n"},
		{"shorter pieces", []string{"abc"}, []string{"a", "b", "c", "d", "e"}, "abcde\n"},
		{"no more than before", []string{"abc"}, []string{"a", "b", "c"}, "abc\n"},
		{"less than before", []string{"abc"}, []string{"ab"}, "abc\nab\n"},
		{"another text", []string{"abc"}, []string{"a", "x", "y"}, "abc\naxy\n"},
		{"another from the start", []string{"abc"}, []string{"x", "y"}, "abc\nxy\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, err strings.Builder
			p := painter{out: &out, err: &err}
			tell := func(kind, text string) Event {
				b, err := json.Marshal(map[string]string{"text": text, "status": "complete"})
				if err != nil {
					t.Fatal(err)
				}
				return Event{Type: kind, Payload: b}
			}
			p.begin()
			for _, s := range tt.before {
				p.on(tell("message.delta", s))
			}
			p.again()
			for _, s := range tt.after {
				p.on(tell("message.delta", s))
			}
			if err := p.end(tell("message.complete", strings.Join(tt.after, ""))); err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.want {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
		})
	}
}
