package shell

import (
	"slices"
	"strings"
)

// remembered are the commands whose kind an approval may be for: with these options, and inside the workspace, they do
// what their name says and run nothing, whatever their operands. Git's commands that run hooks or an editor are not among
// them, nor is what builds with a program that an option names.
var remembered = map[string]reader{
	"mkdir": {flags: "pv"}, "touch": {flags: "acm"},
	"git add":  {flags: "Auvn", long: list("all update verbose dry-run")},
	"go build": {flags: "v"}, "go vet": {flags: "v"}, "go fmt": {flags: "nx"},
}

// frank are the commands whose line says all they do: they run nothing that a file holds.
var frank = set("mkdir", "touch", "rm", "rmdir", "mv", "cp", "ln", "chmod", "chown", "chgrp", "tee", "truncate", "dd", "shred")

// harmful commands are not allowed by a list that names their kind, only line by line.
var harmful = set("rm", "rmdir", "mv", "dd", "chmod", "chown", "chgrp", "kill", "pkill", "killall", "shred", "truncate", "tee",
	"ln", "crontab", "at", "systemctl", "service", "mount", "umount", "iptables", "nft", "useradd", "userdel", "usermod",
	"passwd", "visudo", "curl", "wget", "nc", "ncat", "socat", "scp", "rsync", "sftp", "ftp", "telnet", "install", "cp", "find", "sed", "sort")

// families are commands whose first word says what they do.
var families = set("git", "go", "npm", "pnpm", "yarn", "cargo", "pip", "pip3", "uv", "apt", "apt-get", "dnf", "brew", "gh",
	"terraform", "helm", "make", "bundle", "composer", "mvn", "gradle", "dotnet", "rustup", "poetry", "conda")

// plain judges a command that runs no text of the line: by the table of those that only read. Any other asks.
func (j *judging) plain(name string, args []word, depth int) {
	r, ok := readers[name]
	why := "may change something: " + name
	if ok {
		var paths []word
		if paths, why = r.refuses(args); why == "" {
			if r.whole {
				j.paths(paths)
			} else {
				j.operands(name, paths)
			}
			return
		}
	}
	if name == "find" {
		j.findRuns(args, depth)
	}
	j.paths(args)
	j.unread(name, args, why)
}

// unread asks about a command that does more than read.
func (j *judging) unread(name string, args []word, why string) {
	key, sure := name, true
	if families[name] {
		var sub string
		sub, sure = verb(args)
		key = strings.TrimSpace(name + " " + sub)
	}
	j.kind(key)
	if harmful[name] || !sure || slices.ContainsFunc(args, func(a word) bool { return !a.known }) {
		j.plainly = false
	}
	j.askFor(j.span(key, args), why)
}

// span tells how far an approval of one command may go.
func (j *judging) span(key string, args []word) reach {
	name, _, family := strings.Cut(key, " ")
	operands := args
	if family {
		operands = args[1:]
	}
	if r, ok := remembered[key]; ok && !slices.ContainsFunc(operands, magic) {
		if _, why := r.refuses(operands); why == "" {
			return kind
		}
	}
	if !frank[name] {
		return once
	}
	worst := line
	for _, a := range args {
		if !a.known || a.glob {
			return once
		}
		if p := pathIn(strings.TrimPrefix(a.text, "of=")); p != "" {
			worst = max(worst, j.changes(p))
		}
	}
	return worst
}

// magic reports whether an argument is one of git's patterns that begin at the root of the repository or elsewhere.
func magic(a word) bool { return strings.HasPrefix(a.text, ":") }

// changes tells how far an approval to change a file may go: content may come from elsewhere, so to change what programs
// run by themselves, git's own files and whatever lies outside the workspace, is approved once.
func (j *judging) changes(name string) reach {
	for _, abs := range j.resolve(name) {
		if !j.inWorkspace(abs) || slices.Contains(strings.Split(strings.ToLower(abs), "/"), ".git") {
			return once
		}
	}
	return line
}

// verb returns the first word of a family's arguments. ok is false when something stands before it, or it is no name.
func verb(args []word) (sub string, ok bool) {
	if len(args) == 0 || !args[0].known || strings.HasPrefix(args[0].text, "-") || !commandName.MatchString(args[0].text) {
		return "", false
	}
	if sub = args[0].text; sub == "run" && len(args) > 1 && args[1].known && commandName.MatchString(args[1].text) { // npm run NAME
		sub += " " + args[1].text
	}
	return sub, true
}

// paths judges every argument as the path it may be.
func (j *judging) paths(args []word) {
	for _, a := range args {
		if !a.known {
			j.ask(once, notKnown)
		}
		if p := pathIn(a.text); a.lit && p != "" {
			j.path(p)
		}
	}
	j.patterns(args)
}

// operands judges arguments of which it is known that they are paths.
func (j *judging) operands(name string, paths []word) {
	for _, a := range paths {
		j.path(a.text)
		if name == "diff" && slices.ContainsFunc(j.resolve(a.text), isFolder) { // behind links in there, too
			j.ask(line, "compares a whole folder: "+a.text)
		}
	}
	j.patterns(paths)
}
