package shell

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word is one argument as the judge sees it.
type word struct {
	text string // its value, when literal
	lit  bool   // the value is known before the line runs
	glob bool   // it is a pattern for file names
}

// words splits the arguments of a call, braces expanded.
func (j *judging) words(args []*syntax.Word) []word {
	var out []word
	for _, a := range args {
		for _, b := range braces(a) {
			text, ok := j.literal(b)
			out = append(out, word{text: text, lit: ok, glob: globbed(b)})
		}
	}
	return out
}

// braces returns the words a word with braces stands for; when they are too many, or it has none, the word itself.
func braces(w *syntax.Word) []*syntax.Word {
	parts := *w
	parts.Parts = append([]syntax.WordPart(nil), w.Parts...)
	if !syntax.SplitBraces(&parts) {
		return []*syntax.Word{w}
	}
	var out []*syntax.Word
	for b, err := range expand.BracesSeq(nil, &parts) {
		if err != nil || len(out) == 64 {
			return []*syntax.Word{w}
		}
		out = append(out, b)
	}
	return out
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
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 ||
		p.Exp != nil || p.NestedParam != nil || p.Flags != nil {
		return false
	}
	return p.Param.Value == "HOME" || p.Param.Value == "PWD" || p.Param.Value == "PPID"
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

// resolve returns every absolute path that a name could mean, depending on the current folder.
func (j *judging) resolve(name string) []string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(j.home, rest)
	}
	if name == "~" {
		name = j.home
	}
	if filepath.IsAbs(name) {
		return []string{filepath.Clean(name)}
	}
	out := make([]string, 0, len(j.cwds))
	for _, c := range j.cwds {
		out = append(out, filepath.Join(c, name))
	}
	return out
}

var procSecret = regexp.MustCompile(`^/proc/[^/]+/(task/[^/]+/)?(environ|mem|maps|fd|root|cwd|auxv)(/|$)`)

// path judges a name that a command may read or write: free inside the workspace, asks outside, forbidden where the
// gateway keeps its data and secrets.
func (j *judging) path(name string) {
	if name == "/dev/null" || name == "-" {
		return
	}
	for _, abs := range j.resolve(name) {
		switch {
		case procSecret.MatchString(abs):
			j.forbid("looks into a process: " + name)
		case j.isSecret(abs):
			j.forbid("reaches into the gateway's own files: " + name)
		case !j.inWorkspace(abs) || strings.HasPrefix(name, "~"):
			j.ask("leaves the workspace: " + name)
		}
	}
}

func (j *judging) inWorkspace(abs string) bool {
	abs = follow(abs)
	return within(follow(j.workspace), abs) || j.spill != "" && within(follow(j.spill), abs)
}

func (j *judging) isSecret(abs string) bool {
	abs = follow(abs)
	if j.inWorkspace(abs) {
		return false
	}
	for _, s := range j.secret {
		if within(follow(s), abs) {
			return true
		}
	}
	return false
}

// follow resolves links of the longest part of abs that exists.
func follow(abs string) string {
	rest := ""
	for dir := abs; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return abs
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = up
	}
}

// within reports whether abs is dir or lies below it.
func within(dir, abs string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, abs)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

var pathStart = regexp.MustCompile(`/|~|\.\.`)

// pathIn returns the part of an argument that may be a path, "" when there is none: the value of an option, what stands
// behind a one-letter option, or the argument itself.
func pathIn(arg string) string {
	switch {
	case strings.HasPrefix(arg, "--"):
		_, value, _ := strings.Cut(arg, "=")
		return value
	case strings.HasPrefix(arg, "-") && arg != "-":
		if loc := pathStart.FindStringIndex(arg); loc != nil {
			return arg[loc[0]:]
		}
		return ""
	}
	return arg
}

var diskName = regexp.MustCompile(`^/dev/(sd|hd|vd|xvd|nvme|mmcblk|md|dm-|loop|mapper/|disk/|mem$|kmem$|port$|fb)`)

// disk reports whether a path is a device whose content must not be overwritten.
func disk(path string) bool { return diskName.MatchString(filepath.Clean(path)) }
