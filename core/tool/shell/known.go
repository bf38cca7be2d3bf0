package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// known returns what a word is once its quotes are removed. ok is false unless bash is sure to make exactly one argument
// of it, or, where glob is true, the names that the pattern text matches: nothing is expanded but patterns. Braces and a
// leading tilde are expanded by bash, and $'…' and $"…" read differently by versions and languages: none of them is known.
func known(w *syntax.Word) (text string, glob, ok bool) {
	if w == nil || len(w.Parts) == 0 {
		return "", false, false
	}
	if lit := w.Lit(); lit == "{}" || lit == "[" {
		return lit, false, true
	}
	var b strings.Builder
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(p.Value, "~") || !bare(&b, p.Value, &glob) {
				return "", false, false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false, false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if !quoted(&b, p) {
				return "", false, false
			}
		default:
			return "", false, false
		}
	}
	text = b.String()
	return text, glob, !glob || !strings.Contains(text, `\`)
}

// bare adds unquoted text to b, without its backslashes. false: it means more than itself.
func bare(b *strings.Builder, s string, glob *bool) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i == len(s) {
				return false
			}
		case '*', '?', '[':
			*glob = true
		case '{', '$', '`':
			return false
		}
		b.WriteByte(s[i])
	}
	return true
}

// quoted adds the text between double quotes to b. false: something in it is expanded.
func quoted(b *strings.Builder, q *syntax.DblQuoted) bool {
	if q.Dollar {
		return false
	}
	for _, p := range q.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			return false
		}
		for i := 0; i < len(l.Value); i++ {
			if l.Value[i] == '\\' && i+1 < len(l.Value) && strings.IndexByte("$\"\\`\n", l.Value[i+1]) >= 0 {
				i++
			}
			b.WriteByte(l.Value[i])
		}
	}
	return true
}

// anchored reports whether what a pattern matches can be nothing but a path below a folder it names: never an option.
func anchored(pattern string) bool {
	head, _, ok := strings.Cut(pattern, "/")
	return ok && head != "" && !strings.HasPrefix(head, "-") && !strings.ContainsAny(head, "*?[")
}

// odd reports whether a line has characters that parsers disagree about, carriage returns first: the one used here takes
// them for part of a line's end, bash for text.
func odd(line string) bool {
	return !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.IsSpace(r) && r != ' ' || r == '\uFEFF')
	})
}
