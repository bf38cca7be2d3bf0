package gateway

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bellhop/core"
)

// AccessConfig is the access section.
type AccessConfig struct {
	Default string   // deny (the default) or allow
	Allow   []string // "platform:user"; a bare user id counts on every platform
	Admins  []string
	Pairing bool
}

const (
	userCaps  = core.CanRead | core.CanSubmit | core.CanRespond
	adminCaps = userCaps | core.CanControl | core.CanApprove | core.CanOperate

	// grantAge is how long a stored standing is believed: what another process revokes takes effect within that time.
	grantAge   = 5 * time.Second
	keepGrants = 4096
)

// Access knows who may talk: people named in the configuration, and stored grants. Safe for concurrent use; bounded.
type Access struct {
	grants core.Grants
	rules  atomic.Pointer[rules]

	mu      sync.Mutex
	known   map[core.PrincipalID]standing
	claim   []byte // hash of the claim code; nil: there is nothing to claim
	tries   *buckets
	greeted *buckets
}

// standing is a stored grant as it was read.
type standing struct {
	grant core.Grant
	found bool
	read  time.Time
}

// NewAccess makes an Access over the configuration and the stored grants.
func NewAccess(cfg AccessConfig, g core.Grants) *Access {
	a := &Access{grants: g, known: map[core.PrincipalID]standing{}, tries: newBuckets(), greeted: newBuckets()}
	a.Reload(cfg)
	return a
}

// rules are the access section in a form that is quick to ask. They are replaced whole.
type rules struct {
	open    bool // access.default is allow
	pairing bool
	allow   map[string]bool
	admins  map[string]bool
}

// Reload replaces what the configuration says about people; it holds from the next input on.
func (a *Access) Reload(cfg AccessConfig) {
	a.rules.Store(&rules{open: strings.EqualFold(strings.TrimSpace(cfg.Default), "allow"), pairing: cfg.Pairing,
		allow: names(cfg.Allow), admins: names(cfg.Admins)})
}

// names makes entries comparable: no blanks, platforms in lower case. Ids are compared as text, whether the file had a
// number or a text.
func names(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		s = strings.TrimSpace(s)
		if platform, user, ok := strings.Cut(s, ":"); ok {
			s = strings.ToLower(strings.TrimSpace(platform)) + ":" + strings.TrimSpace(user)
		}
		if s != "" {
			set[s] = true
		}
	}
	return set
}

// named reports whether a list names p.
func named(list map[string]bool, p core.PrincipalID) bool {
	if len(list) == 0 {
		return false
	}
	_, user, _ := strings.Cut(string(p), ":")
	return list[string(p)] || list[user]
}

// Who returns the principal for a person and whether they may talk. The error is of the store.
func (a *Access) Who(ctx context.Context, p core.PrincipalID) (core.Principal, bool, error) {
	by := core.Principal{ID: p}
	admin, allowed := named(a.rules.Load().admins, p), named(a.rules.Load().allow, p)
	if !admin {
		s, err := a.standing(ctx, p, allowed)
		if err != nil {
			return by, false, err
		}
		admin = s.found && s.grant.Allowed && s.grant.Admin
		allowed = allowed || a.rules.Load().open || s.found && s.grant.Allowed
	}
	switch {
	case admin:
		by.Caps, by.Admin = adminCaps, true
	case allowed:
		by.Caps = userCaps
	}
	return by, admin || allowed, nil
}

// Named reports whether somebody let p in by name, in the configuration or by a grant that was read lately.
func (a *Access) Named(p core.PrincipalID) bool {
	if r := a.rules.Load(); named(r.admins, p) || named(r.allow, p) {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.known[p]
	return s.found && s.grant.Allowed
}

// standing reads a grant, or what was read of it lately. That somebody has none is only believed when they are let in all
// the same: then nobody waits to be.
func (a *Access) standing(ctx context.Context, p core.PrincipalID, in bool) (standing, error) {
	a.mu.Lock()
	s, ok := a.known[p]
	a.mu.Unlock()
	if ok && time.Since(s.read) < grantAge && (in || a.rules.Load().open || s.found && s.grant.Allowed) {
		return s, nil
	}
	g, err := a.grants.Grant(ctx, p)
	if err != nil && !core.Is(err, core.NotFound) {
		return s, err
	}
	s = standing{grant: g, found: err == nil, read: time.Now()}
	a.remember(p, s)
	return s, nil
}

func (a *Access) remember(p core.PrincipalID, s standing) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) >= keepGrants {
		clear(a.known)
	}
	a.known[p] = s
}

func (a *Access) forget(p core.PrincipalID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, p)
}

// put stores a grant and makes it count at once here.
func (a *Access) put(ctx context.Context, g core.Grant) error {
	if err := a.grants.PutGrant(ctx, g); err != nil {
		return err
	}
	a.forget(g.Person)
	return nil
}

// grant returns a person's row, or a fresh one.
func (a *Access) grant(ctx context.Context, p core.PrincipalID) (core.Grant, error) {
	g, err := a.grants.Grant(ctx, p)
	if core.Is(err, core.NotFound) {
		return core.Grant{Person: p, Created: time.Now()}, nil
	}
	return g, err
}

// Allow lets a person in, as an admin if admin.
func (a *Access) Allow(ctx context.Context, p core.PrincipalID, admin bool) error {
	g, err := a.grant(ctx, p)
	if err != nil {
		return err
	}
	g.Allowed, g.Code, g.Admin = true, "", g.Admin || admin
	return a.put(ctx, g)
}

// Revoke takes a person's standing away. Who is named in the configuration stays.
func (a *Access) Revoke(ctx context.Context, p core.PrincipalID) error {
	if err := a.grants.Revoke(ctx, p); err != nil && !core.Is(err, core.NotFound) {
		return err
	}
	a.forget(p)
	return nil
}

// List returns every grant, oldest first.
func (a *Access) List(ctx context.Context) ([]core.Grant, error) { return a.grants.Grants(ctx) }

// Seen remembers the chat in which an admin can be asked; once is enough.
func (a *Access) Seen(ctx context.Context, by core.Principal, home core.Route) error {
	s, err := a.standing(ctx, by.ID, true)
	if err != nil || s.found && !s.grant.Home.IsZero() {
		return err
	}
	g, err := a.grant(ctx, by.ID)
	if err != nil {
		return err
	}
	home.ReplyTo = ""
	g.Name, g.Home, g.Code = by.Name, home, "" // what the configuration says of them it says itself
	if err := a.grants.PutGrant(ctx, g); err != nil {
		return err
	}
	a.remember(by.ID, standing{grant: g, found: true, read: time.Now()})
	return nil
}

// Home is the owner's chat: where somebody can be asked. Without an owner it is that of the first admin.
func (a *Access) Home(ctx context.Context) (core.Route, bool) {
	grants, err := a.grants.Grants(ctx)
	if err != nil {
		return core.Route{}, false
	}
	var home core.Route
	for _, g := range grants {
		admin := g.Allowed && g.Admin || named(a.rules.Load().admins, g.Person)
		switch {
		case g.Home.IsZero() || !admin:
		case g.Owner:
			return g.Home, true
		case home.IsZero():
			home = g.Home
		}
	}
	return home, !home.IsZero()
}
