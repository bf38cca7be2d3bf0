package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"bellhop/core/tool"
)

const (
	maxLine  = 64 << 10 // bytes of a line the judge reads; a longer one asks
	maxDepth = 8        // strings within strings
)

// place is where a line would run.
type place struct {
	workspace string
	spill     string   // may be read, too
	secret    []string // must not be named
	home      string
	gateway   []int // process ids that must not be signalled
}

// opinion is what the judge thinks of a line.
type opinion struct {
	verdict tool.Verdict
	why     string
	key     string
	kinds   []string // of the commands that ask, each as a key of its own
}

// judge reads a command line. It has no effect and reads no file but to follow links.
func judge(line string, p place) opinion {
	p.workspace, p.spill, p.home = follow(p.workspace), follow(p.spill), follow(p.home)
	j := &judging{place: p, cwds: []string{p.workspace}, verdict: tool.Allow}
	j.script(line, 0)
	o := opinion{verdict: j.verdict, why: j.why}
	slices.Sort(j.keys)
	j.keys = slices.Compact(j.keys)
	for _, k := range j.keys {
		o.kinds = append(o.kinds, "shell:"+strings.TrimSpace(k))
	}
	switch {
	case j.verdict != tool.Ask:
	case j.exact || len(j.keys) == 0:
		sum := sha256.Sum256([]byte(strings.TrimSpace(line)))
		o.key = "shell=" + hex.EncodeToString(sum[:8])
	default:
		o.key = "shell:" + strings.Join(j.keys, " + ")
	}
	return o
}

// judging is one reading of a line. The verdict only ever gets worse.
type judging struct {
	place
	cwds    []string // every folder that could be the current one
	there   []string // the same, if the last command succeeded
	verdict tool.Verdict
	why     string
	keys    []string // kinds of commands that ask
	exact   bool     // an approval holds for exactly this line
}

// ask notes that a person must be asked, and that the answer is about this very line.
func (j *judging) ask(why string) {
	j.exact = true
	j.askFor("", why)
}

// askFor notes that a person must be asked about a kind of command.
func (j *judging) askFor(key, why string) {
	if key != "" {
		j.keys = append(j.keys, key)
	}
	if j.verdict == tool.Allow {
		j.verdict, j.why = tool.Ask, why
	}
}

func (j *judging) forbid(why string) {
	if j.verdict != tool.Forbid {
		j.verdict, j.why = tool.Forbid, why
	}
}

// script judges shell code.
func (j *judging) script(code string, depth int) {
	if len(code) > maxLine || depth > maxDepth {
		j.ask("is too long or too deep to read")
		return
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(code), "")
	if err != nil {
		j.ask("does not parse as a command line")
		return
	}
	j.stmts(f.Stmts, depth)
}

func (j *judging) stmts(list []*syntax.Stmt, depth int) {
	for _, s := range list {
		j.stmt(s, depth)
	}
}

func (j *judging) stmt(s *syntax.Stmt, depth int) {
	if s == nil {
		return
	}
	if s.Background || s.Coprocess || s.Disown {
		j.ask("runs in the background")
	}
	for _, r := range s.Redirs {
		j.redirect(r, depth)
	}
	j.there = nil
	j.command(s.Cmd, depth)
	if _, compound := s.Cmd.(*syntax.BinaryCmd); s.Negated || j.there == nil || !compound && !isCall(s.Cmd) {
		j.there = j.cwds
	}
	if j.shellCall(s.Cmd) { // what a shell is given to read is code
		for _, r := range s.Redirs {
			j.code(r.Word, r.Op == syntax.WordHdoc, depth)
			j.code(r.Hdoc, r.Hdoc != nil, depth)
		}
	}
}

// code judges a word that a shell will read as code.
func (j *judging) code(w *syntax.Word, is bool, depth int) {
	if !is || w == nil {
		return
	}
	if text, ok := j.literal(w); ok {
		j.script(text, depth+1)
	}
}

// command judges one node of the tree; what is not listed here asks.
func (j *judging) command(c syntax.Command, depth int) {
	switch c := c.(type) {
	case nil:
	case *syntax.CallExpr:
		j.call(c, depth)
	case *syntax.BinaryCmd:
		j.binary(c, depth)
	case *syntax.Block:
		j.stmts(c.Stmts, depth)
	case *syntax.Subshell:
		j.stmts(c.Stmts, depth)
	case *syntax.IfClause:
		for i := c; i != nil; i = i.Else {
			j.stmts(i.Cond, depth)
			j.stmts(i.Then, depth)
		}
	case *syntax.WhileClause:
		j.stmts(c.Cond, depth)
		j.stmts(c.Do, depth)
	case *syntax.ForClause:
		if each, ok := c.Loop.(*syntax.WordIter); !ok || !plainName.MatchString(each.Name.Value) {
			j.ask("sets a variable") // PATH, or by arithmetic, which can run commands
		}
		j.inside(c.Loop, depth)
		j.stmts(c.Do, depth)
	case *syntax.CaseClause:
		j.inside(c.Word, depth)
		for _, i := range c.Items {
			for _, p := range i.Patterns {
				j.inside(p, depth)
			}
			j.stmts(i.Stmts, depth)
		}
	case *syntax.TimeClause:
		j.stmt(c.Stmt, depth)
	case *syntax.TestClause:
		j.test(c)
		j.inside(c, depth)
	case *syntax.FuncDecl:
		j.function(c, depth)
	default: // declare, let, coproc, arithmetic, and what later versions of the parser add
		j.ask("changes the shell's state")
		j.inside(c, depth)
	}
}

// binary judges a list or pipe of two. What follows && runs only where the command before it has led.
func (j *judging) binary(c *syntax.BinaryCmd, depth int) {
	j.stmt(c.X, depth)
	if c.Op != syntax.AndStmt {
		j.stmt(c.Y, depth)
		j.there = j.cwds
		j.piped(c, depth)
		return
	}
	anyway := j.cwds
	j.cwds = slices.Clone(j.there)
	j.stmt(c.Y, depth)
	j.cwds = union(anyway, j.cwds)
}

// union returns a with what of b it lacks.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func isCall(c syntax.Command) bool {
	_, ok := c.(*syntax.CallExpr)
	return ok
}

// plainName is a variable that means nothing to the shell.
var plainName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// test judges [[ ]]: its comparisons of numbers and of what is set evaluate text, which can run commands.
func (j *judging) test(c *syntax.TestClause) {
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				j.ask("evaluates text as arithmetic")
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				j.ask("evaluates text as a variable")
			}
		}
		return true
	})
}

// inside judges the code hidden in a node that is not itself a command: substitutions, and expansions that do more than
// insert a value.
func (j *judging) inside(n syntax.Node, depth int) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			j.ask("runs a command inside another")
			j.stmts(n.Stmts, depth+1)
			return false
		case *syntax.ProcSubst:
			j.ask("runs a command inside another")
			j.stmts(n.Stmts, depth+1)
			return false
		case *syntax.ParamExp:
			if !insertsOnly(n) {
				j.ask("uses a special expansion")
			}
		case *syntax.ArithmExp:
			j.ask("evaluates text as arithmetic")
		}
		return true
	})
}

// function judges a function: it hides what a name means, and one that calls itself twice at once is a fork bomb.
func (j *judging) function(f *syntax.FuncDecl, depth int) {
	j.ask("defines a function")
	j.stmt(f.Body, depth)
	name := ""
	if f.Name != nil {
		name = f.Name.Value
	}
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && calls(n.X, name) && calls(n.Y, name) {
				j.forbid("is a fork bomb")
			}
		case *syntax.Stmt:
			if n.Background && calls(n, name) {
				j.forbid("is a fork bomb")
			}
		}
		return true
	})
}

// calls reports whether the node calls the function by name.
func calls(n syntax.Node, name string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
			found = true
		}
		return !found
	})
	return found
}

// piped judges code that is piped, as literal text, into a shell.
func (j *judging) piped(c *syntax.BinaryCmd, depth int) {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll || c.Y == nil || !j.shellCall(c.Y.Cmd) || c.X == nil {
		return
	}
	left, ok := c.X.Cmd.(*syntax.CallExpr)
	if !ok || len(left.Args) < 2 {
		return
	}
	var code []string
	for _, w := range left.Args[1:] {
		if text, ok := j.literal(w); ok {
			code = append(code, text)
		}
	}
	if name := left.Args[0].Lit(); name == "echo" || name == "printf" {
		j.script(strings.Join(code, " "), depth+1)
	}
}

// redirect judges a redirection: reading inside the workspace is free, writing asks.
func (j *judging) redirect(r *syntax.Redirect, depth int) {
	if r.Hdoc != nil {
		j.inside(r.Hdoc, depth)
		return
	}
	j.inside(r.Word, depth)
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
		j.ask("sets a variable")
	}
	if r.Op == syntax.WordHdoc {
		return
	}
	target, ok := j.literal(r.Word)
	if !ok {
		j.ask("redirects to a name that is not known before it runs")
		return
	}
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		if target != "-" && strings.Trim(target, "0123456789") != "" {
			j.writes(target)
		}
	case syntax.RdrIn:
		j.path(target)
	default:
		j.writes(target)
	}
}

// writes judges a redirection into a file.
func (j *judging) writes(target string) {
	if target == "/dev/null" || target == "/dev/stdout" || target == "/dev/stderr" {
		return
	}
	if disk(target) || target == "/proc/sysrq-trigger" {
		j.forbid("writes to the device " + target)
		return
	}
	j.path(target)
	j.ask("writes the file " + target)
}
