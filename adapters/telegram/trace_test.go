package telegram

import (
	"slices"
	"testing"
)

// made makes a message in a chat; id 0 is a call without an answer. It returns the mark taken before.
func (p *places) made(chat int64, id int) (mark string) {
	mark = p.mark(chat)
	p.begin(chat)
	p.end(chat, id)
	return mark
}

// An id that may still be given to a message is no guess, and one that was given to a known message is none any more.
func TestGuessesAreGaps(t *testing.T) {
	const supergroup = -1_000_000_000_111
	tests := map[string]struct {
		chat int64
		then func(p *places, chat int64)
		want []int
	}{
		"nothing newer":              {111, func(*places, int64) {}, nil},
		"it never arrived":           {111, func(p *places, c int64) { p.made(c, 101) }, nil},
		"it arrived":                 {111, func(p *places, c int64) { p.made(c, 102) }, []int{101}},
		"a person wrote":             {111, func(p *places, c int64) { p.note(c, 102) }, []int{101}},
		"another chat of the space":  {111, func(p *places, _ int64) { p.made(222, 102) }, []int{101}},
		"another space":              {111, func(p *places, _ int64) { p.made(supergroup, 102) }, nil},
		"a supergroup's own space":   {supergroup, func(p *places, c int64) { p.made(222, 102); p.made(c, 103) }, []int{101, 102}},
		"one is being made":          {111, func(p *places, c int64) { p.made(c, 102); p.begin(c) }, nil},
		"one is made elsewhere":      {111, func(p *places, c int64) { p.made(c, 102); p.begin(222) }, []int{101}},
		"the gap was found":          {111, func(p *places, c int64) { p.made(c, 102); p.note(c, 101) }, nil},
		"more than is worth a guess": {111, func(p *places, c int64) { p.made(c, 200) }, []int{101, 102, 103, 104, 105, 106, 107, 108, 109, 110}},
		"too much came since": {111, func(p *places, c int64) {
			for i := range keepPlaces + 1 {
				p.note(c, 102+i)
			}
		}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := &places{epoch: 1}
			p.made(tc.chat, 100)
			mark := p.made(tc.chat, 0)
			tc.then(p, tc.chat)
			if got := p.since(tc.chat, mark); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// When many messages are lost at once each is looked for first where it should be.
func TestLikeliestGuess(t *testing.T) {
	p := &places{epoch: 1}
	p.made(1, 100)
	marks := map[int64]string{}
	for chat := int64(1); chat <= 30; chat++ {
		marks[chat] = p.mark(chat)
		p.begin(chat)
	}
	for chat := int64(1); chat <= 30; chat++ {
		p.end(chat, 0)
	}
	p.made(99, 131)
	for chat, mark := range marks {
		if near := p.since(chat, mark); len(near) != guesses || near[0] != 100+int(chat) {
			t.Errorf("chat %d: %v", chat, near)
		}
	}
}
