package openai

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// split plays text in pieces of n characters and returns what a reader is left with.
func splitThink(p Think, text string, n int) (seen, reasoning string) {
	s := newSplitter(p)
	var frags []fragment
	take := func() {
		for _, f := range frags {
			switch f.kind {
			case visible:
				seen += f.text
			case hidden:
				reasoning += f.text
			case recant:
				reasoning += seen
				seen = ""
			}
		}
	}
	for rest := []rune(text); len(rest) > 0; {
		k := min(n, len(rest))
		frags = s.add(string(rest[:k]), nil)
		take()
		rest = rest[k:]
	}
	frags = s.end(nil)
	take()
	return seen, reasoning
}

func TestThink(t *testing.T) {
	const code = "Use the `<think>` tag:\n```xml\n<think>x</think>\n```"
	for name, c := range map[string]struct {
		policy          Think
		in              string
		text, reasoning string
	}{
		"C137 one delta":                {ThinkAuto, "<think>a</think>b", "b", "a"},
		"C137 no opener":                {ThinkAuto, "plan…</think>Answer", "Answer", "plan…"},
		"C137 never closed":             {ThinkAuto, "<think>all of it", "", "all of it"},
		"C137 two blocks":               {ThinkAuto, "<think>a</think>\n<think>b</think>\n\nc", "c", "ab"},
		"C138 code":                     {ThinkAuto, code, code, ""},
		"C138 code, filtering anywhere": {ThinkAny, code, code, ""},
		"C138 late block":               {ThinkAuto, "Hi <think>x</think> there", "Hi <think>x</think> there", ""},
		"C138 late block, anywhere":     {ThinkAny, "Hi <think>x</think>there", "Hi there", "x"},
		"after a leading block":         {ThinkAuto, "<think>a</think>b<think>c</think>", "b<think>c</think>", "a"},
		"off":                           {ThinkOff, "<think>a</think>b", "<think>a</think>b", ""},
		"open":                          {ThinkOpen, "a</think>b </think>", "b </think>", "a"},
		"open, never closed":            {ThinkOpen, "a", "", "a"},
		"blanks around":                 {ThinkAuto, "\n <thinking>\na\n</thinking>\n\n b", "b", "\na\n"},
		"empty block":                   {ThinkAuto, "<think>\n\n</think>\n\nb", "b", "\n\n"},
		"closer first":                  {ThinkAuto, "\n</think>\n\nb", "b", ""},
		"closer in code":                {ThinkAuto, "End with `</think>` then.", "End with `</think>` then.", ""},
		"closer in a fence":             {ThinkAuto, "~~~\n</think>\n~~~\nx", "~~~\n</think>\n~~~\nx", ""},
		"closer after a fence":          {ThinkAuto, "```\nx\n```\nplan</think>y", "y", "```\nx\n```\nplan"},
		"a lone backtick":               {ThinkAuto, "it`s\n\nplan</think>y", "y", "it`s\n\nplan"},
		"second closer":                 {ThinkAuto, "a</think>b</think>c", "b</think>c", "a"},
		"less than":                     {ThinkAuto, "<b> < 3 <thin", "<b> < 3 <thin", ""},
		"only blanks":                   {ThinkAuto, " \n", " \n", ""},
		"leading blanks":                {ThinkAuto, "  x", "  x", ""},
		"an opener at the end":          {ThinkAuto, "x <think>", "x <think>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; n <= len(c.in); n++ {
				text, reasoning := splitThink(c.policy, c.in, n)
				if text != c.text || reasoning != c.reasoning {
					t.Errorf("in pieces of %d: text %q, reasoning %q", n, text, reasoning)
				}
			}
		})
	}
}

// FuzzThink checks that how text is cut changes nothing, and that only tags and blanks at the head ever vanish.
func FuzzThink(f *testing.F) {
	f.Add("<think>a</think>b", uint8(3), uint8(0))
	f.Add("a `x` <think>a</think>b\n```\n", uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, in string, n, policy uint8) {
		if !utf8.ValidString(in) {
			return
		}
		p := []Think{ThinkAuto, ThinkAny, ThinkOpen, ThinkOff}[policy%4]
		text, reasoning := splitThink(p, in, int(n%7)+1)
		wholeText, wholeReasoning := splitThink(p, in, len(in)+1)
		if text != wholeText || reasoning != wholeReasoning {
			t.Errorf("text %q against %q, reasoning %q against %q", text, wholeText, reasoning, wholeReasoning)
		}
		if !strings.Contains(in, "think") && !strings.Contains(in, "thought") && text+reasoning != in {
			t.Errorf("%q became %q and %q", in, text, reasoning)
		}
	})
}
