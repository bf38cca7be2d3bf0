package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"bellhop/core"
)

func (t *Table) allow(ctx context.Context, c Call) (Answer, error) {
	who, _ := word(c.Args)
	if who == "" {
		return t.allowed(ctx)
	}
	p, ok := person(who, c)
	if !ok {
		return say("Name a person like `telegram:111`.")
	}
	if err := t.deps.People.Allow(ctx, p, false); err != nil {
		return Answer{}, err
	}
	return say("`" + string(p) + "` may talk to me now.")
}

// person reads "platform:user"; a bare id is of the platform the call came from.
func person(s string, c Call) (core.PrincipalID, bool) {
	if strings.ContainsAny(s, "` \n") {
		return "", false
	}
	platform, user, ok := strings.Cut(s, ":")
	if !ok && c.Submission.Surface != "" {
		platform, user = c.Submission.Surface, s
	}
	if platform == "" || user == "" {
		return "", false
	}
	return core.PrincipalID(platform + ":" + user), true
}

func (t *Table) allowed(ctx context.Context) (Answer, error) {
	grants, err := t.deps.People.List(ctx)
	if err != nil {
		return Answer{}, err
	}
	var b strings.Builder
	for _, g := range grants {
		if !g.Allowed {
			continue
		}
		role := ""
		switch {
		case g.Owner:
			role = " – owner"
		case g.Admin:
			role = " – admin"
		}
		fmt.Fprintf(&b, "- `%s` %s%s\n", g.Person, named(g.Name), role)
	}
	if b.Len() == 0 {
		return say("Nobody beside those in the configuration file.")
	}
	return say("These may talk to me, beside those in the configuration file:\n" + b.String())
}

func (t *Table) pair(ctx context.Context, c Call) (Answer, error) {
	verb, rest := word(c.Args)
	switch strings.ToLower(verb) {
	case "", "list":
		return t.strangers(ctx)
	case "approve":
		return t.letIn(ctx, rest)
	case "revoke":
		p, ok := person(rest, c)
		if !ok {
			return say("Name a person like `telegram:111`.")
		}
		if err := t.deps.People.Revoke(ctx, p); err != nil {
			return Answer{}, err
		}
		return say("`" + string(p) + "` may not talk to me any more.")
	}
	return t.letIn(ctx, verb) // "/pair CODE"
}

func (t *Table) letIn(ctx context.Context, code string) (Answer, error) {
	if code == "" {
		return say("Which code? `/pair` lists who asked.")
	}
	g, err := t.deps.People.Approve(ctx, code)
	switch {
	case core.Is(err, core.NotFound):
		return say("Nobody has that code. `/pair` lists who asked.")
	case err != nil:
		return Answer{}, err
	}
	if t.deps.Tell != nil {
		t.deps.Tell(ctx, g, "You can talk to me now. `/help` lists what I can do.")
	}
	return say(fmt.Sprintf("%s (`%s`) may talk to me now.", named(cmp.Or(g.Name, "They")), g.Person))
}

func (t *Table) strangers(ctx context.Context) (Answer, error) {
	grants, err := t.deps.People.List(ctx)
	if err != nil {
		return Answer{}, err
	}
	var b strings.Builder
	for _, g := range grants {
		if g.Code != "" && !g.Allowed {
			fmt.Fprintf(&b, "- %s (`%s`): `/pair approve %s`\n", named(cmp.Or(g.Name, "somebody")), g.Person, g.Code)
		}
	}
	if b.Len() == 0 {
		return say("Nobody is asking to be let in.")
	}
	return say("These ask to be let in:\n" + b.String())
}
