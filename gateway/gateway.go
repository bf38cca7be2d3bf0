package gateway

import (
	"bellhop/adapters"
)

// PlatformOptions are what the gateway must know of one adapter's section.
type PlatformOptions struct {
	RequireMention bool   // in groups, only what addresses the bot is heard
	Shared         bool   // one conversation for a whole group instead of one per person
	Bots           int    // messages of one other bot answered per minute; 0: none
	Busy           string // overrides Config.Busy
}

// Config is what a Gateway needs.
type Config struct{}

// Gateway lets people in.
type Gateway struct{ cfg Config }

// New makes a Gateway.
func New(cfg Config) *Gateway { return &Gateway{cfg: cfg} }

// Inbox returns the way in for one adapter.
func (g *Gateway) Inbox(a adapters.Adapter, o PlatformOptions) adapters.Inbox { return nil }
