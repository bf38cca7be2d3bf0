package shell

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells read code from a string, a file or their input.
var shells = set("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "busybox")

// wrappers run the command that their arguments name.
var wrappers = set("sudo", "doas", "su", "env", "xargs", "nice", "ionice", "nohup", "timeout", "stdbuf", "setsid", "command",
	"builtin", "exec", "watch", "parallel", "strace", "ltrace", "chroot", "unshare", "nsenter", "flock", "script", "runuser",
	"time", "taskset", "chrt", "systemd-run", "ssh", "docker", "podman", "kubectl", "busybox", "proot", "setpriv", "caffeinate")

// interpreters run code of other languages.
var interpreters = set("python", "python2", "python3", "perl", "ruby", "node", "nodejs", "php", "lua", "awk", "gawk", "mawk",
	"nawk", "deno", "bun", "tclsh", "osascript", "pwsh", "gdb", "vim", "vi", "ed", "ex", "emacs", "sqlite3", "psql", "mysql")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// call judges a simple command.
func (j *judging) call(c *syntax.CallExpr, depth int) {
	for _, a := range c.Assigns {
		j.inside(a, depth)
		j.ask(once, "sets a variable")
	}
	for _, a := range c.Args {
		j.inside(a, depth)
	}
	if len(c.Args) > 0 {
		j.argv(j.words(c.Args), depth)
	}
}

// argv judges a command with its arguments.
func (j *judging) argv(args []word, depth int) {
	if len(args) == 0 {
		return
	}
	if !args[0].known || args[0].glob {
		j.ask(once, "runs a command whose name is not known before it runs")
	}
	if !args[0].lit {
		return
	}
	name := base(args[0].text)
	rest := args[1:]
	if name == "cd" {
		j.cd(rest)
		return
	}
	defer func() { j.there = nil }() // whatever ran inside, this command has not moved the shell
	j.secrets(rest)
	j.destroys(name, rest)
	switch {
	case name == "":
		j.ask(once, "runs a program that is not one of the system's: "+args[0].text)
	case name == "eval" || name == "trap":
		j.ask(once, "runs text as a command")
		j.script(joinWords(rest), depth+1)
	case name == "." || name == "source":
		j.ask(once, "runs a file as a command")
	case shells[name]:
		j.kind(name)
		j.ask(once, "runs text as a command")
		for _, a := range rest {
			if a.lit && !strings.HasPrefix(a.text, "-") {
				j.script(a.text, depth+1)
			}
		}
	case wrappers[name] && !(name == "command" && asksWhere(rest) == ""):
		j.kind(name)
		j.ask(once, wrapperWhy(name))
		j.strings(rest, depth)
		for i := range rest {
			j.hidden(rest[i:], depth)
		}
	case interpreters[name]:
		j.kind(name)
		j.ask(once, "runs code: "+name)
	default:
		j.plain(name, rest, depth)
	}
}

// hidden looks for what is forbidden in a command that stands among the arguments of another.
func (j *judging) hidden(args []word, depth int) {
	if depth > maxDepth || !args[0].lit || strings.HasPrefix(args[0].text, "-") {
		return
	}
	name := base(args[0].text)
	j.destroys(name, args[1:])
	if shells[name] || wrappers[name] || name == "eval" {
		j.strings(args[1:], depth)
	}
}

// strings judges every argument that could be code: those with a blank in them.
func (j *judging) strings(args []word, depth int) {
	for _, a := range args {
		if a.lit && strings.ContainsAny(a.text, " \t\n;|&<>(){}") {
			j.script(a.text, depth+1)
		}
	}
}

// cd notes every folder the line could be in from here on.
func (j *judging) cd(args []word) {
	if len(args) != 1 || !args[0].known || args[0].glob || strings.HasPrefix(args[0].text, "-") || len(j.cwds) > 64 {
		j.ask(once, "changes to a folder that is not known before it runs")
		return
	}
	if j.loops > 0 {
		j.ask(once, "changes the folder in a loop")
	}
	j.path(args[0].text)
	j.there = j.resolve(args[0].text)
	for _, c := range j.cwds { // the shell goes back by names, the judge by folders: they must be the same
		to := args[0].text
		if !filepath.IsAbs(to) {
			to = filepath.Join(c, to)
		}
		if !slices.Contains(j.there, filepath.Clean(to)) {
			j.ask(once, "changes to a folder through a link")
		}
	}
	j.cwds = union(j.cwds, j.there)
}

// commandName is what programs are called; with a blank in it a name could pass for a command and its argument.
var commandName = regexp.MustCompile(`^[A-Za-z0-9_.:+[-]+$`)

// base returns the name of a command, "" when it is unusual or called by an unusual path.
func base(text string) string {
	dir, name := filepath.Split(text)
	if !commandName.MatchString(name) {
		return ""
	}
	switch filepath.Clean(dir) {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin":
		return name
	case ".":
		if dir == "" {
			return name
		}
	}
	return ""
}

func wrapperWhy(name string) string {
	switch name {
	case "sudo", "doas", "su", "runuser":
		return "runs as another user"
	case "ssh", "docker", "podman", "kubectl":
		return "runs a command elsewhere: " + name
	}
	return "runs another command: " + name
}

func joinWords(args []word) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(a.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// patterns judges the arguments that stand for names of files.
func (j *judging) patterns(args []word) {
	for _, a := range args {
		if a.lit && a.glob {
			j.path(a.text)
			j.matches(a.text)
		}
	}
}

// secrets looks for the gateway's own files among the arguments of any command.
func (j *judging) secrets(args []word) {
	for _, a := range args {
		if !a.lit {
			continue
		}
		p := pathIn(a.text)
		if _, value, ok := strings.Cut(p, "="); ok {
			p = value // dd's if=
		}
		if p == "" {
			continue
		}
		for _, abs := range j.resolve(strings.TrimPrefix(p, "@")) {
			if procSecret.MatchString(abs) || j.isGateway(abs) || j.isSecret(abs) {
				j.forbid("reaches into the gateway's own files: " + a.text)
			}
		}
	}
}

// findRuns judges the commands that find would run.
func (j *judging) findRuns(args []word, depth int) {
	for i, a := range args {
		switch a.text {
		case "-exec", "-execdir", "-ok", "-okdir":
			if i+1 < len(args) {
				j.hidden(args[i+1:], depth+1)
				j.strings(args[i+1:], depth)
			}
		}
	}
}

// shellCall reports whether a command is a shell, or a wrapper around one.
func (j *judging) shellCall(c syntax.Command) bool {
	call, ok := c.(*syntax.CallExpr)
	if !ok {
		return false
	}
	for i, w := range call.Args {
		text, ok := j.literal(w)
		if !ok {
			return false
		}
		if name := base(text); shells[name] {
			return true
		} else if i == 0 && !wrappers[name] {
			return false
		}
	}
	return false
}
