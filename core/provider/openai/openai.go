package openai

import (
	"context"
	"iter"
	"net/http"
	"time"

	"bellhop/core/provider"
)

// Think says which think tags in a reply's text are reasoning.
type Think string

const (
	ThinkAuto Think = ""     // blocks at the head of the reply, also one without an opener; later tags are text
	ThinkOpen Think = "open" // the reply begins inside a block: the endpoint's template wrote the opener
	ThinkAny  Think = "any"  // every block outside code
	ThinkOff  Think = "off"  // tags are text
)

// Options configure a Provider. Only BaseURL is required.
type Options struct {
	Name      string        // for errors and logs; default "openai"
	BaseURL   string        // with the version: https://host/v1
	Key       string        // bearer token; empty: none is sent
	Client    *http.Client  // nil: one of its own
	FirstByte time.Duration // until the first byte of a reply; 0: 120 s
	Gap       time.Duration // between bytes of a reply; 0: 60 s
	Think     Think
	Echo      string // assistant messages carry their reasoning in this field ("reasoning_content"); empty: not at all
	Limits    map[string]provider.Limits
}

// Provider is one endpoint. Safe for concurrent use.
type Provider struct{ o Options }

// New returns a Provider. It opens no connection.
func New(o Options) *Provider { return &Provider{o} }

// Stream implements provider.Provider.
func (p *Provider) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Part, error] {
	return func(yield func(provider.Part, error) bool) {
		yield(provider.Part{}, &provider.Error{Kind: provider.Transport})
	}
}

// Limits implements provider.Provider.
func (p *Provider) Limits(model string) provider.Limits { return p.o.Limits[model] }

// Probe implements provider.Provider.
func (p *Provider) Probe(ctx context.Context, model string) error { return nil }
