package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect judges a redirection: reading inside the workspace is free, writing asks.
func (j *judging) redirect(r *syntax.Redirect, depth int) {
	if r.Hdoc != nil {
		j.inside(r.Hdoc, depth)
		if end, _, ok := known(r.Word); !ok || !plainName.MatchString(end) || !literally(r.Hdoc) {
			j.ask(once, notKnown)
		}
		return
	}
	j.inside(r.Word, depth)
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
		j.ask(once, "sets a variable")
	}
	if r.Op == syntax.WordHdoc {
		if _, glob, ok := known(r.Word); !ok || glob {
			j.ask(once, notKnown)
		}
		return
	}
	target, ok := j.literal(r.Word)
	if _, glob, sure := known(r.Word); !sure || glob {
		j.ask(once, "redirects to a name that is not known before it runs")
	}
	if !ok {
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

// plainName is the end of a document that every shell finds at the same place.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// literally reports whether nothing in a document is expanded.
func literally(w *syntax.Word) bool {
	return !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		_, ok := p.(*syntax.Lit)
		return !ok
	})
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
	j.ask(j.changes(target), "writes the file "+target)
}
