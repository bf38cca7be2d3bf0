package openai

import (
	"cmp"
	"context"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bellhop/core/provider"
)

// Think says which think tags in a reply's text are reasoning. Tags are <think>, <thinking> and <thought>.
type Think string

const (
	ThinkAuto Think = ""     // blocks at the head of the reply, also one without an opener; later tags are text
	ThinkOpen Think = "open" // the reply begins inside a block: the endpoint's template wrote the opener
	ThinkAny  Think = "any"  // every block outside code
	ThinkOff  Think = "off"  // tags are text
)

// Options configure a Provider. Only BaseURL is required.
type Options struct {
	Name      string                     // as configured, to tell endpoints apart in errors; default "openai"
	BaseURL   string                     // with the version: https://host/v1
	Key       string                     // bearer token; empty: none is sent
	Client    *http.Client               // nil: one made by NewClient; must not have a time-out of its own
	FirstByte time.Duration              // until the first byte of a reply; 0: 120 s
	Gap       time.Duration              // between bytes of a reply; 0: 60 s
	Think     Think                      //
	Echo      string                     // assistant messages carry their reasoning in this field ("reasoning_content"); empty: not at all
	Limits    map[string]provider.Limits // by model, over what is known otherwise
}

// Provider is one endpoint. Safe for concurrent use.
type Provider struct {
	o      Options
	base   string
	client *http.Client
	scrub  scrubber

	learned struct {
		noUsage   atomic.Bool // stream_options was refused
		maxTokens atomic.Bool // max_completion_tokens was refused
	}
	windows sync.Map // model -> int, as GET /models told
}

// New returns a Provider. It opens no connection.
func New(o Options) *Provider {
	o.Name = cmp.Or(o.Name, "openai")
	o.FirstByte = cmp.Or(o.FirstByte, 120*time.Second)
	o.Gap = cmp.Or(o.Gap, 60*time.Second)
	p := &Provider{o: o, base: strings.TrimRight(o.BaseURL, "/"), client: o.Client, scrub: newScrubber(o.Key, o.BaseURL)}
	if p.client == nil {
		p.client = NewClient()
	}
	return p
}

// connBuffer is how much of a connection is buffered: some events of a stream. What is larger goes past the buffers.
const connBuffer = 2 << 10

// NewClient returns an HTTP client fit for thousands of streams at once. Providers may share one. It follows no redirects:
// a model call that is sent on would carry the conversation to an address nobody configured.
func NewClient() *http.Client {
	dial := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dial.DialContext,
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        4096,
			MaxIdleConnsPerHost: 2048,
			IdleConnTimeout:     90 * time.Second,
			TLSHandshakeTimeout: 10 * time.Second,
			DisableCompression:  true, // a compressed stream arrives in lumps
			ReadBufferSize:      connBuffer,
			WriteBufferSize:     connBuffer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Stream implements provider.Provider.
func (p *Provider) Stream(ctx context.Context, r provider.Request) iter.Seq2[provider.Part, error] {
	return func(yield func(provider.Part, error) bool) {
		c := call{p: p, yield: yield, think: newSplitter(p.o.Think)}
		if err := c.run(ctx, r); err != nil && !c.left {
			yield(provider.Part{}, err)
		}
	}
}
