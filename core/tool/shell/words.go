package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word is one argument as the judge sees it.
type word struct {
	text  string // its value, when literal
	lit   bool   // the value can be told, good enough to find what is forbidden
	known bool   // bash is sure to make this value of it, or the names that match it as a pattern
	glob  bool   // it is a pattern for file names
}

// words splits the arguments of a call, braces expanded.
func (j *judging) words(args []*syntax.Word) []word {
	var out []word
	for _, a := range args {
		if text, glob, ok := known(a); ok {
			out = append(out, word{text: text, lit: true, known: true, glob: glob})
			continue
		}
		list, ok := braces(a)
		if !ok {
			out = append(out, word{})
			continue
		}
		for _, b := range list {
			text, ok := j.literal(b)
			out = append(out, word{text: text, lit: ok, glob: globbed(b)})
		}
	}
	return out
}

// braces returns the words that a word with braces stands for. false: they are too many to look at.
func braces(w *syntax.Word) ([]*syntax.Word, bool) {
	parts := *w
	parts.Parts = append([]syntax.WordPart(nil), w.Parts...)
	if !syntax.SplitBraces(&parts) {
		return []*syntax.Word{w}, true
	}
	var out []*syntax.Word
	for b, err := range expand.BracesSeq(nil, &parts) {
		if err != nil || len(out) == 64 {
			return nil, false
		}
		out = append(out, b)
	}
	return out, true
}

// literal returns the value of a word if it is known before the line runs: no expansion but HOME, PWD and PPID.
func (j *judging) literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", false
	}
	known := true
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			known = known && plainParam(n)
			return false
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob, *syntax.BraceExp:
			known = false
			return false
		}
		return known
	})
	if !known {
		return "", false
	}
	env := expand.ListEnviron("HOME="+j.home, "PWD="+j.cwds[0], "PPID="+strconv.Itoa(first(j.gateway)))
	text, err := expand.Literal(&expand.Config{Env: env}, unescaped(w))
	return text, err == nil
}

// unescaped returns the word with its backslashes turned into quotes: expand.Literal leaves them standing.
func unescaped(w *syntax.Word) *syntax.Word {
	out := &syntax.Word{}
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			out.Parts = append(out.Parts, p)
			continue
		}
		rest := l.Value
		for {
			before, after, found := strings.Cut(rest, `\`)
			if before != "" {
				out.Parts = append(out.Parts, &syntax.Lit{Value: before})
			}
			if !found || after == "" {
				break
			}
			_, n := utf8.DecodeRuneInString(after)
			out.Parts = append(out.Parts, &syntax.SglQuoted{Value: after[:n]})
			rest = after[n:]
		}
	}
	return out
}

func first(n []int) int {
	if len(n) == 0 {
		return 0
	}
	return n[0]
}

// plainParam reports whether p is $NAME or ${NAME} of a name whose value the judge knows.
func plainParam(p *syntax.ParamExp) bool {
	return insertsOnly(p) && (p.Param.Value == "HOME" || p.Param.Value == "PWD" || p.Param.Value == "PPID")
}

// insertsOnly reports whether p is $NAME or ${NAME}. Other forms can set variables (:=) and run their values (@P, [ ]).
func insertsOnly(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 &&
		p.Exp == nil && p.NestedParam == nil && p.Flags == nil && len(p.Modifiers) == 0
}

// globbed reports whether a word has a pattern character outside quotes.
func globbed(w *syntax.Word) bool {
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			continue
		}
		for i := 0; i < len(l.Value); i++ {
			switch l.Value[i] {
			case '\\':
				i++
			case '*', '?', '[':
				return true
			}
		}
	}
	return false
}
