package shell

import (
	"os"
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

// resolve returns every absolute path that a name could mean, depending on the current folder.
func (j *judging) resolve(name string) []string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(j.home, rest)
	}
	if name == "~" {
		name = j.home
	}
	if filepath.IsAbs(name) {
		return []string{walk("/", name)}
	}
	out := make([]string, 0, len(j.cwds))
	for _, c := range j.cwds {
		out = append(out, walk(c, name))
	}
	return out
}

// walk goes from a folder along a path as the kernel does: ".." behind a link leaves what the link points to.
func walk(dir, name string) string {
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			dir = filepath.Dir(dir)
		default:
			dir = follow(filepath.Join(dir, part))
		}
	}
	return dir
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
	return within(j.workspace, abs) || within(j.spill, abs)
}

func (j *judging) isSecret(abs string) bool {
	if j.inWorkspace(abs) {
		return false
	}
	for _, s := range j.secret {
		if s = follow(s); within(s, abs) || s != "" && strings.HasPrefix(abs, s+"-") { // a database has files beside it: -wal, -shm
			return true
		}
	}
	return false
}

// follow resolves the links in a path, as far as it exists; also one that leads nowhere yet.
func follow(abs string) string {
	for range maxLinks {
		next := followOnce(abs)
		if next == abs {
			break
		}
		abs = next
	}
	return abs
}

const maxLinks = 16

func followOnce(abs string) string {
	rest := ""
	for dir := abs; dir != ""; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(dir); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(dir), to)
			}
			return filepath.Join(to, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return abs
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = up
	}
	return abs
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

// matches judges what a pattern for file names matches now, as far as that can be told.
func (j *judging) matches(pattern string) {
	if strings.Contains(pattern, "[") {
		j.ask("uses a pattern that only the shell can tell")
		return
	}
	for _, abs := range j.resolve(pattern) {
		found, err := filepath.Glob(abs)
		if err != nil || len(found) > maxMatches {
			j.ask("uses a pattern that matches too much to look at")
			return
		}
		for _, f := range found {
			j.path(f)
		}
	}
}

const maxMatches = 500

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
