package shell

import "strings"

// shows are the options of git that say what of the history to show, and how.
var shows = reader{flags: "pusrtwbzqiEFPcam" + digits, values: "nSGUL", long: list(`oneline stat stat= shortstat numstat name-only name-status graph
	all decorate decorate= no-decorate patch no-patch summary no-color color color= cached staged word-diff word-diff=
	ignore-all-space ignore-space-change since= until= after= before= author= committer= grep= format= pretty= pretty date=
	abbrev-commit abbrev= max-count= skip= follow first-parent merges no-merges reverse diff-filter= unified= quiet no-ext-diff
	no-textconv no-renames full-index branches tags remotes left-right cherry-pick count topo-order date-order merge-base check
	exit-code`)}

// gitReaders are git's commands that can only read.
var gitReaders = map[string]reader{
	"log": shows, "show": shows, "diff": shows, "rev-list": shows, "shortlog": {flags: "sne" + digits, values: "n", long: shows.long}, "diff-tree": shows,
	"status":    {flags: "sbuvz", long: list("long short branch porcelain porcelain= ignored ignored= untracked-files untracked-files= show-stash")},
	"rev-parse": {long: list("show-toplevel abbrev-ref short short= verify git-dir is-inside-work-tree show-prefix")},
	"ls-files":  {flags: "cdmosutzvk", values: "x", long: list("cached deleted modified others stage exclude-standard exclude= full-name error-unmatch")},
	"ls-tree":   {flags: "rdtlz", long: list("name-only name-status full-name full-tree long abbrev")},
	"cat-file":  {flags: "ptse"},
	"blame":     {flags: "lstfnewcpb", values: "L", long: list("line-porcelain porcelain date= show-email")},
	"describe":  {long: list("tags all always long dirty abbrev= match= contains exact-match")},
	"grep": {flags: "niwvcolLhHEFPGqpWar" + digits, values: "eABCm", long: list("line-number ignore-case count cached name-only " +
		"files-with-matches extended-regexp fixed-strings word-regexp")},
	"merge-base":    {flags: "a", long: list("is-ancestor all fork-point octopus")},
	"name-rev":      {long: list("name-only tags always")},
	"count-objects": {flags: "vH"},
	"show-ref":      {flags: "dsq", long: list("heads tags head verify")},
	"for-each-ref":  {long: list("format= sort= count=")},
	"version":       {},
}

// gitLists are those that change something as soon as they get another word than these.
var gitLists = map[string][]string{
	"branch": list("-a -r -v -vv --list --all --remotes --show-current --verbose"),
	"tag":    list("-l --list -n"),
	"remote": list("-v --verbose"),
	"stash":  list("list"),
	"reflog": {},
}

// gits allows what of git only reads.
func gits(args []word) string {
	if len(args) > 0 && args[0].text == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 {
		return "may change the repository: git"
	}
	sub := args[0].text
	if only, ok := gitLists[sub]; ok {
		for _, a := range args[1:] {
			ok = ok && contains(only, a.text)
		}
		if ok && (sub != "stash" || len(args) == 2) {
			return ""
		}
	}
	r, ok := gitReaders[sub]
	if !ok {
		return "may change the repository: git " + sub
	}
	for _, a := range args[1:] { // to show a signature, git runs a program
		if strings.Contains(a.text, "%G") || strings.Contains(a.text, "%(signature") {
			return unlisted(a.text)
		}
	}
	_, why := r.operands(args[1:])
	return why
}
