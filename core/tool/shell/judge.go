package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"bellhop/core/tool"
)

const unreadable = "cannot be read as a command line"

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

// reach is how far an approval may go: the larger, the less far.
type reach uint8

const (
	kind reach = iota // other lines whose commands are of the same kinds
	line              // exactly this line, whenever it comes
	once              // this call: what the line does depends on more than the line
)

// opinion is what the judge thinks of a line.
type opinion struct {
	verdict tool.Verdict
	why     string
	key     string
	kinds   []string // of the commands that ask, each as a key of its own
	plain   bool     // kinds say all there is to ask about
	reach   reach
}

// judge reads a command line. It has no effect and reads no file but to follow links.
func judge(text string, p place) opinion {
	p.workspace, p.spill, p.home = follow(p.workspace), follow(p.spill), follow(p.home)
	j := &judging{place: p, cwds: []string{p.workspace}, verdict: tool.Allow, plainly: true}
	if odd(text) {
		j.ask(once, "has characters in it that cannot be seen")
	}
	j.script(text, 0)
	o := opinion{verdict: j.verdict, why: j.why, reach: j.reach}
	slices.Sort(j.kinds)
	j.kinds = slices.Compact(j.kinds)
	for _, k := range j.kinds {
		o.kinds = append(o.kinds, "shell:"+k)
	}
	switch {
	case j.verdict != tool.Ask:
	case j.reach == kind:
		o.key = "shell:" + strings.Join(j.kinds, " + ")
	default:
		sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
		o.key = "shell=" + hex.EncodeToString(sum[:16])
	}
	o.plain = j.plainly && len(j.kinds) > 0
	return o
}

// judging is one reading of a line. The verdict only ever gets worse, the reach shorter.
type judging struct {
	place
	cwds    []string // every folder that could be the current one
	there   []string // the same, if the last command succeeded
	loops   int      // around what is read: it may run again, from wherever it has gone to
	verdict tool.Verdict
	why     string
	kinds   []string // of commands that ask
	reach   reach
	plainly bool // only whole commands asked, for what they are
}

// ask notes that a person must be asked, and how far the answer reaches.
func (j *judging) ask(r reach, why string) {
	j.plainly = false
	j.askFor(r, why)
}

// askFor is ask for a command whose kind says it all.
func (j *judging) askFor(r reach, why string) {
	j.reach = max(j.reach, r)
	if j.verdict == tool.Allow {
		j.verdict, j.why = tool.Ask, why
	}
}

// kind notes what kind of command runs.
func (j *judging) kind(name string) { j.kinds = append(j.kinds, name) }

func (j *judging) forbid(why string) {
	if j.verdict != tool.Forbid {
		j.verdict, j.why = tool.Forbid, why
	}
}

// script judges shell code.
func (j *judging) script(code string, depth int) {
	if len(code) > maxLine || depth > maxDepth {
		j.ask(once, "has too long or too deep a text to read")
		return
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(code), "")
	if err != nil {
		j.ask(once, unreadable)
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
		j.ask(line, "runs in the background")
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
		j.loops++
		j.stmts(c.Cond, depth)
		j.stmts(c.Do, depth)
		j.loops--
	case *syntax.ForClause:
		j.ask(once, "sets a variable")
		j.inside(c.Loop, depth)
		j.loops++
		j.stmts(c.Do, depth)
		j.loops--
	case *syntax.CaseClause:
		j.ask(once, "decides by text")
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
		j.ask(once, "changes the shell's state")
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

var (
	fileTests = []syntax.UnTestOperator{syntax.TsExists, syntax.TsRegFile, syntax.TsDirect, syntax.TsSmbLink, syntax.TsRead, syntax.TsWrite,
		syntax.TsExec, syntax.TsNoEmpty, syntax.TsEmpStr, syntax.TsNempStr, syntax.TsNot}
	textTests = []syntax.BinTestOperator{syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch, syntax.AndTest, syntax.OrTest, syntax.TsNewer,
		syntax.TsOlder}
)

// test judges [[ ]]: comparisons of numbers and of what is set evaluate text, which can run commands.
func (j *judging) test(c *syntax.TestClause) {
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryTest:
			if !slices.Contains(textTests, n.Op) {
				j.ask(once, "evaluates text as arithmetic")
			}
		case *syntax.UnaryTest:
			if !slices.Contains(fileTests, n.Op) {
				j.ask(once, "evaluates text as a variable")
			}
		case *syntax.Word:
			if text, _, ok := known(n); ok {
				j.path(text)
			} else {
				j.ask(once, notKnown)
			}
			return false
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
			j.ask(once, "runs a command inside another")
			j.stmts(n.Stmts, depth+1)
			return false
		case *syntax.ProcSubst:
			j.ask(once, "runs a command inside another")
			j.stmts(n.Stmts, depth+1)
			return false
		case *syntax.ParamExp:
			if !insertsOnly(n) {
				j.ask(once, "uses a special expansion")
			}
		case *syntax.ArithmExp:
			j.ask(once, "evaluates text as arithmetic")
		}
		return true
	})
}

// function judges a function: it hides what a name means, and one that calls itself twice at once is a fork bomb.
func (j *judging) function(f *syntax.FuncDecl, depth int) {
	j.ask(once, "defines a function")
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
