package shell

import (
	"regexp"
	"strings"
)

// rule says when a command of the table only reads.
type rule struct {
	letters string   // one-letter options that do more than read
	long    []string // options by name that do, given as one writes them; their abbreviations too
	max     int      // arguments that are not options, 0: any number. One more would be written to
	exec    bool     // an option can run a program, so no argument may come from a file name that was not seen
	text    bool     // arguments are text, not files; they may be unknown, for nothing secret is in the environment
	check   func(args []word) string
}

// noLinks is for what reads a whole folder: it must not follow links out of it.
var noLinks = rule{letters: "R", long: []string{"--dereference-recursive"}}

// readers are the commands that read and print, nothing else, under the conditions of their rule.
var readers = map[string]rule{
	"echo": {text: true}, "printf": {text: true, letters: "v"}, "true": {text: true}, "false": {text: true}, ":": {text: true},
	"seq": {text: true}, "sleep": {text: true}, "exit": {text: true}, "tr": {text: true}, "expr": {text: true},
	"ls": {}, "cat": {}, "head": {}, "tail": {}, "wc": {}, "pwd": {}, "stat": {},
	"test": {long: []string{"-v", "-R"}}, "[": {long: []string{"-v", "-R"}}, "du": {letters: "L", long: []string{"--dereference"}}, "df": {}, "basename": {}, "dirname": {}, "realpath": {}, "readlink": {},
	"uname": {}, "whoami": {}, "id": {}, "nproc": {}, "uptime": {}, "free": {}, "which": {}, "type": {}, "cut": {},
	"comm": {}, "diff": {letters: "r", long: []string{"--recursive"}}, "cmp": {}, "paste": {}, "fold": {}, "column": {}, "nl": {}, "tac": {}, "rev": {}, "expand": {},
	"md5sum": {}, "sha1sum": {}, "sha256sum": {}, "sha512sum": {}, "cksum": {}, "od": {}, "hexdump": {}, "strings": {},
	"grep": noLinks, "egrep": noLinks, "fgrep": noLinks, "command": {}, "groups": {}, "jq": {check: jqReads},
	"file": {letters: "Cm", long: []string{"--compile", "--magic-file"}},
	"date": {letters: "s", long: []string{"--set"}, check: dateReads},
	"uniq": {max: 1},
	"xxd":  {letters: "r", max: 1},
	"sort": {letters: "oT", long: []string{"--output", "--compress-program", "--temporary-directory"}, exec: true},
	"tree": {letters: "oRl"},
	"rg":   {letters: "zL", long: []string{"--pre", "--search-zip", "--hostname-bin", "--follow"}, exec: true},
	"find": {letters: "LH", long: []string{"-follow", "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}, exec: true},
	"sed":  {check: sedPrints},
	"git":  {exec: true, check: gitReads},
	"go":   {check: goReads},
	"hostname": {check: func(args []word) string {
		if len(args) > 0 {
			return "may change the host's name"
		}
		return ""
	}},
}

// refuses says why the arguments make the command do more than read, "" when they do not.
func (r rule) refuses(args []word) string {
	plain := 0
	for _, a := range args {
		switch {
		case !a.lit && !r.text:
			return "uses a value that is not known before it runs"
		case r.exec && a.glob && strings.IndexAny(a.text, "*?[") == 0:
			return "a file name could be taken as an option: " + a.text
		case !strings.HasPrefix(a.text, "-") || a.text == "-":
			plain++
		case r.option(a.text):
			return "does more than read: " + a.text
		}
	}
	if r.max > 0 && plain > r.max {
		return "writes to its last argument"
	}
	if r.check != nil {
		return r.check(args)
	}
	return ""
}

// option reports whether an option is one of those the rule names. It would rather name one too many.
func (r rule) option(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	for _, long := range r.long {
		if name == long || strings.HasPrefix(name, "--") && len(name) > 2 && strings.HasPrefix(long, name) {
			return true
		}
	}
	return !strings.HasPrefix(text, "--") && strings.ContainsAny(text, r.letters)
}

var sedPrint = regexp.MustCompile(`^([0-9]+|\$)(,([0-9]+|\$))?p$`)

// sedPrints allows sed -n 'A,Bp' FILE, and nothing else of sed.
func sedPrints(args []word) string {
	if len(args) >= 2 && args[0].text == "-n" && sedPrint.MatchString(args[1].text) {
		for _, a := range args[2:] {
			if strings.HasPrefix(a.text, "-") {
				return "does more than print"
			}
		}
		return ""
	}
	return "can change files: sed"
}

// dateReads allows date to print: anything that is neither an option nor a format would set the clock.
func dateReads(args []word) string {
	value := false
	for _, a := range args {
		if !value && !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") {
			return "may set the clock"
		}
		value = a.text == "-d" || a.text == "-r" || a.text == "-f"
	}
	return ""
}

// jqReads allows jq but its modules, which are files that no argument names.
func jqReads(args []word) string {
	for _, a := range args {
		if strings.Contains(a.text, "import") || strings.Contains(a.text, "include") {
			return "reads modules"
		}
	}
	return ""
}

func goReads(args []word) string {
	if len(args) == 1 && args[0].text == "version" {
		return ""
	}
	return "can build and run code: go"
}

// gitReads are git's commands that only read; a value lists the only options and words they may have, none means any.
var gitReaders = map[string][]string{
	"status": nil, "log": nil, "diff": nil, "show": nil, "rev-parse": nil, "ls-files": nil, "ls-tree": nil, "cat-file": nil,
	"blame": nil, "describe": nil, "shortlog": nil, "grep": nil, "rev-list": nil, "merge-base": nil, "name-rev": nil,
	"count-objects": nil, "diff-tree": nil, "show-ref": nil, "for-each-ref": nil, "version": nil,
	"branch": {"-a", "-r", "-v", "-vv", "--list", "--all", "--remotes", "--show-current", "--verbose"},
	"tag":    {"-l", "--list", "-n"},
	"remote": {"-v", "--verbose"},
	"stash":  {"list"},
	"reflog": {},
}

var gitWrites = []string{"--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--paginate", "--exec-path", "--filters"}

func gitReads(args []word) string {
	if len(args) > 0 && args[0].text == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 {
		return "is not a git command"
	}
	only, ok := gitReaders[args[0].text]
	if !ok {
		return "can change the repository: git " + args[0].text
	}
	writes := rule{long: gitWrites}
	if args[0].text == "grep" {
		writes.letters = "O"
	}
	for _, a := range args[1:] {
		if strings.HasPrefix(a.text, "-") && writes.option(a.text) {
			return "does more than read: git " + args[0].text + " " + a.text
		}
		if only != nil && !contains(only, a.text) {
			return "can change the repository: git " + args[0].text
		}
	}
	return ""
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
