package telegram

import (
	"context"
	"net/http"

	"bellhop/adapters"
)

// Options are what tests replace.
type Options struct {
	// Client makes all calls; nil: one of the adapter's own, with the configured proxy.
	Client *http.Client
}

// Adapter is one bot account. Safe for concurrent use.
type Adapter struct {
	name string
	cfg  Config
}

// New returns the adapter of one account; name is "telegram" or "telegram/account". c has passed Check.
func New(name string, c Config, o Options) (*Adapter, error) {
	return &Adapter{name: name, cfg: c}, nil
}

func (a *Adapter) Name() string { return a.name }

func (a *Adapter) Run(ctx context.Context, in adapters.Inbox) error {
	<-ctx.Done()
	return nil
}

func (a *Adapter) Send(ctx context.Context, to adapters.Target, m adapters.Outgoing) (adapters.Ref, error) {
	return "", &adapters.Error{Kind: adapters.Unsupported, Method: "sendMessage"}
}

func (a *Adapter) Limits() adapters.Limits { return adapters.Limits{Text: 4096, Caption: 1024} }

func (a *Adapter) Size(markdown string) int { return len(markdown) }
