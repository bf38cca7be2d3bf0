package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bellhop/adapters"
)

// Times and sizes of calls. A long poll lasts pollFor, and its connection a little longer.
const (
	callTimeout   = 30 * time.Second
	uploadTimeout = 5 * time.Minute
	dialTimeout   = 10 * time.Second
	maxAnswer     = 16 << 20
	maxConns      = 256 // calls at the same time; a bot may make 30 a second. The poll has a connection of its own
	connBuffer    = 2 << 10
)

// caller makes calls. It is also the HTTP client of the library, so that every answer is classified in one place.
type caller struct {
	client *http.Client
	base   string // of the API, with the token: never printed
	hide   redactor
}

// newCaller keeps one transport of at most conns connections, unless it is given a client. HTTP/1.1 is chosen: with HTTP/2
// one dying connection would take every call with it.
func newCaller(c Config, client *http.Client, conns int) *caller {
	if client == nil {
		client = &http.Client{Transport: &http.Transport{
			Proxy:        c.proxy(),
			DialContext:  (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
			MaxIdleConns: conns, MaxIdleConnsPerHost: conns, MaxConnsPerHost: conns, IdleConnTimeout: 90 * time.Second,
			TLSHandshakeTimeout: dialTimeout, ReadBufferSize: connBuffer, WriteBufferSize: connBuffer,
		}}
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &caller{client: &own, base: c.api() + "/bot" + c.Token.Reveal() + "/", hide: newRedactor(c)}
}

func (c Config) proxy() func(*http.Request) (*url.URL, error) {
	if c.Proxy == "" {
		return http.ProxyFromEnvironment
	}
	u, err := url.Parse(c.Proxy)
	return func(*http.Request) (*url.URL, error) { return u, err }
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// call makes one call with JSON and decodes its result into out, which may be nil. Errors are *adapters.Error.
func (c *caller) call(ctx context.Context, method string, params, out any) error {
	return c.callFor(ctx, callTimeout, method, params, out)
}

func (c *caller) callFor(ctx context.Context, limit time.Duration, method string, params, out any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body, err := json.Marshal(params)
	if err != nil {
		return &adapters.Error{Kind: adapters.Misuse, Method: method, Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return &adapters.Error{Kind: adapters.Misuse, Method: method, Text: "the API's address is not usable"}
	}
	req.Header["Content-Type"] = jsonType
	answer, release, err := c.exchange(req)
	if err != nil {
		return err
	}
	defer release()
	return c.decode(method, answer, out)
}

var jsonType = []string{"application/json"}

// exchange sends req and returns the body of a good answer, valid until release is called.
func (c *caller) exchange(req *http.Request) (answer []byte, release func(), err error) {
	method := path.Base(req.URL.Path)
	var wrote atomic.Bool
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }}))
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, nil, c.noAnswer(method, err, wrote.Load())
	}
	defer resp.Body.Close()
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	release = func() {
		if b.Cap() <= 1<<20 {
			buffers.Put(b)
		}
	}
	if _, err := b.ReadFrom(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		release()
		return nil, nil, c.noAnswer(method, err, true)
	}
	if err := c.refused(method, resp.StatusCode, resp.Header, b.Bytes()); err != nil {
		release()
		return nil, nil, err
	}
	return b.Bytes(), release, nil
}

// decode takes the result out of a good answer. One that cannot be read leaves unknown what was done.
func (c *caller) decode(method string, answer []byte, out any) error {
	if out == nil {
		return nil
	}
	env := struct {
		Result any `json:"result"`
	}{out}
	if err := json.Unmarshal(answer, &env); err != nil {
		return &adapters.Error{Kind: adapters.Ambiguous, Method: method, Code: http.StatusOK, Text: "the answer cannot be read"}
	}
	return nil
}

// noAnswer classifies a call without an answer by whether any of it was sent.
func (c *caller) noAnswer(method string, err error, wrote bool) error {
	kind := adapters.Temporary
	if wrote {
		kind = adapters.Ambiguous
	}
	return &adapters.Error{Kind: kind, Method: method, Err: c.hide.error(err)}
}

// Do makes the library's calls: answers that are not good come out as *adapters.Error, through the library's wrapping.
func (c *caller) Do(req *http.Request) (*http.Response, error) {
	answer, release, err := c.exchange(req)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: &pooled{Reader: bytes.NewReader(answer), release: release}}, nil
}

// pooled is a body that gives its buffer back when it is closed.
type pooled struct {
	*bytes.Reader
	release func()
}

func (p *pooled) Close() error { p.release(); return nil }

// redactor takes secrets out of texts.
type redactor struct{ r *strings.Replacer }

// newRedactor hides the token and its secret half as they are and as they look inside URLs, and the webhook's secret.
func newRedactor(c Config) redactor {
	var pairs []string
	add := func(s string) {
		if s != "" {
			for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
				pairs = append(pairs, form, hidden)
			}
		}
	}
	token := c.Token.Reveal()
	add(token)
	_, secret, _ := strings.Cut(token, ":")
	add(secret)
	add(c.WebhookSecret.Reveal())
	if u, err := url.Parse(c.Proxy); err == nil && u.User != nil {
		if p, ok := u.User.Password(); ok {
			add(p)
		}
	}
	return redactor{strings.NewReplacer(pairs...)}
}

func (h redactor) text(s string) string { return h.r.Replace(s) }

// error strips the address that net/http puts in front of every error, and any secret left in the rest. The chain stays
// where it is clean.
func (h redactor) error(err error) error {
	for {
		u, ok := err.(*url.Error)
		if !ok {
			break
		}
		err = u.Err
	}
	if s := err.Error(); h.text(s) != s || strings.Contains(s, "/bot") {
		return plainError(h.text(s))
	}
	return err
}

// plainError is an error reduced to its text.
type plainError string

func (e plainError) Error() string { return string(e) }
