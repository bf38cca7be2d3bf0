package gateway

import (
	"context"

	"bellhop/core"
)

// AccessConfig is the access section.
type AccessConfig struct {
	Default string // deny or allow
	Allow   []string
	Admins  []string
	Pairing bool
}

// Access knows who may talk.
type Access struct{}

// NewAccess makes an Access over the configuration and the stored grants.
func NewAccess(cfg AccessConfig, g core.Grants) *Access { return &Access{} }

// ClaimCode returns a fresh one-time code that makes whoever sends it the owner; "" when there is an owner already.
func (a *Access) ClaimCode(ctx context.Context) (string, error) { return "", nil }

// Approve lets in the stranger who was given code.
func (a *Access) Approve(ctx context.Context, code string) (core.Grant, error) {
	return core.Grant{}, nil
}

// Allow lets a person in.
func (a *Access) Allow(ctx context.Context, p core.PrincipalID, admin bool) error { return nil }

// Revoke takes a person's standing away.
func (a *Access) Revoke(ctx context.Context, p core.PrincipalID) error { return nil }

// List returns every grant, oldest first.
func (a *Access) List(ctx context.Context) ([]core.Grant, error) { return nil, nil }

// Home is the owner's chat.
func (a *Access) Home(ctx context.Context) (core.Route, bool) { return core.Route{}, false }
