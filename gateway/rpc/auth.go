package rpc

import (
	"context"
	"net/http"
	"time"

	"bellhop/core"
)

// Facts keeps small named values; core.Grants is one. Auth stores hashes there, so that a browser stays signed in across
// restarts.
type Facts interface {
	Fact(ctx context.Context, name string) (string, error)
	SetFact(ctx context.Context, name, value string) error
}

// Auth says who is at the web door.
type Auth struct{}

// NewAuth makes an Auth. tokenFile is where the terminal client's token lies; it is made with mode 0600 when absent.
func NewAuth(f Facts, tokenFile string) (*Auth, error) { return &Auth{}, nil }

// Mint returns a fresh secret for the fragment of a URL. It can be traded once, within ttl.
func (a *Auth) Mint(ttl time.Duration) string { return "" }

// Principal returns who sent r: core.Denied when nobody that the gateway knows.
func (a *Auth) Principal(r *http.Request) (core.Principal, error) { return core.Principal{}, nil }

// Trade is the handler of POST /rpc/session: a secret for a cookie.
func (a *Auth) Trade() http.Handler { return http.NotFoundHandler() }
