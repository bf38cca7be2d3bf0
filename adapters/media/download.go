package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Options bound a Downloader; zero fields mean the defaults named here.
type Options struct {
	MaxBytes      int64         // default 20 MiB
	Timeout       time.Duration // of one download as a whole, default 60 s
	AllowLoopback bool          // for tests
	Trusted       string        // host:port of a server that the operator configured: dialled without the guard
	// Proxy is asked for every request, as of http.Transport. Behind one, the proxy resolves names and must keep private
	// networks closed by itself; addresses written as numbers are still checked here.
	Proxy func(*http.Request) (*url.URL, error)
	// Transport replaces the guarded one, for connections that are not a network: in-memory pipes.
	Transport http.RoundTripper
}

// ErrorKind is why there is no file.
type ErrorKind string

const (
	Blocked   ErrorKind = "blocked"   // the address is not on the public internet, or not http
	TooLarge  ErrorKind = "too large" // beyond MaxBytes
	Missing   ErrorKind = "missing"   // 404 or 410
	Refused   ErrorKind = "refused"   // any other status
	Transport ErrorKind = "transport" // no connection, cut off, timed out: try again
)

// Error is what a download failed with. It never holds the address.
type Error struct {
	Kind   ErrorKind
	Status int // 0 without an answer
	Text   string
	Err    error
}

func (e *Error) Error() string {
	s := "download: " + string(e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// File is a file on its way. Reading fails with an Error of Kind TooLarge where it grows beyond the limit, and Transport
// where it is cut off. The reader must close Body.
type File struct {
	Body io.ReadCloser
	MIME string // from the content itself, not from what the server claims
	Size int64  // -1 when the server does not say
}

// Downloader fetches files from addresses it does not trust. Safe for concurrent use.
type Downloader struct {
	client   *http.Client
	max      int64
	timeout  time.Duration
	loopback bool
}

const (
	dialTimeout   = 10 * time.Second
	headerTimeout = 30 * time.Second
	maxRedirects  = 5
	sniffed       = 512
)

// New returns a Downloader.
func New(o Options) *Downloader {
	d := &Downloader{max: o.MaxBytes, timeout: o.Timeout, loopback: o.AllowLoopback}
	if d.max == 0 {
		d.max = 20 << 20
	}
	if d.timeout == 0 {
		d.timeout = time.Minute
	}
	tr := o.Transport
	if tr == nil {
		tr = d.transport(o)
	}
	d.client = &http.Client{Transport: tr, CheckRedirect: d.redirect}
	return d
}

// transport is guarded for direct connections. Only what really goes through a proxy is dialled without the guard: it
// dials the proxy.
func (d *Downloader) transport(o Options) http.RoundTripper {
	dial := func(guard bool) *http.Transport {
		dialer := &net.Dialer{Timeout: dialTimeout}
		if guard {
			dialer.Control = d.control
		}
		return &http.Transport{DialContext: trusting(o.Trusted, dialer), TLSHandshakeTimeout: dialTimeout,
			ResponseHeaderTimeout: headerTimeout, IdleConnTimeout: headerTimeout, MaxIdleConns: 8}
	}
	if o.Proxy == nil {
		return dial(true)
	}
	via := dial(false)
	via.Proxy = o.Proxy
	return &route{d: d, proxy: o.Proxy, direct: dial(true), via: via}
}

// trusting dials one address without the guard.
func trusting(address string, guarded *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	plain := &net.Dialer{Timeout: dialTimeout}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == address {
			return plain.DialContext(ctx, network, addr)
		}
		return guarded.DialContext(ctx, network, addr)
	}
}

// route sends each request, also a redirected one, the way its proxy setting says.
type route struct {
	d           *Downloader
	proxy       func(*http.Request) (*url.URL, error)
	direct, via http.RoundTripper
}

func (r *route) RoundTrip(req *http.Request) (*http.Response, error) {
	u, err := r.proxy(req)
	if err != nil {
		return nil, &Error{Kind: Transport, Text: "no usable proxy"}
	}
	if u == nil {
		return r.direct.RoundTrip(req)
	}
	if ip, err := netip.ParseAddr(req.URL.Hostname()); err == nil && !r.d.allowed(ip) {
		return nil, &Error{Kind: Blocked, Text: "not a public address"}
	}
	return r.via.RoundTrip(req)
}

// Get starts a download. The time limit covers reading the body too.
func (d *Downloader) Get(ctx context.Context, address string) (*File, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, &Error{Kind: Blocked, Text: "not a URL"}
	}
	if err := d.check(u); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return nil, &Error{Kind: Blocked, Text: "not a URL"}
	}
	resp, err := d.client.Do(req)
	if err != nil {
		cancel()
		return nil, classify(err)
	}
	f, err := d.open(resp, cancel)
	if err != nil {
		resp.Body.Close()
		cancel()
		return nil, err
	}
	return f, nil
}

func (d *Downloader) open(resp *http.Response, cancel context.CancelFunc) (*File, error) {
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return nil, &Error{Kind: Missing, Status: resp.StatusCode}
	case resp.StatusCode != http.StatusOK:
		return nil, &Error{Kind: Refused, Status: resp.StatusCode}
	case resp.ContentLength > d.max:
		return nil, d.tooLarge()
	}
	b := &body{r: bufio.NewReaderSize(resp.Body, 16<<10), under: resp.Body, left: d.max, cancel: cancel, large: d.tooLarge}
	head, err := b.r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, classify(err)
	}
	return &File{Body: b, MIME: http.DetectContentType(head), Size: resp.ContentLength}, nil
}

func (d *Downloader) tooLarge() error {
	return &Error{Kind: TooLarge, Text: fmt.Sprintf("more than %d bytes", d.max)}
}

// check refuses what no connection should even be tried for.
func (d *Downloader) check(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return &Error{Kind: Blocked, Text: "only http and https"}
	}
	return nil
}

func (d *Downloader) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &Error{Kind: Refused, Text: "too many redirects"}
	}
	return d.check(req.URL)
}

// classify strips the address, which the standard library puts in front of every error.
func classify(err error) error {
	var mine *Error
	if errors.As(err, &mine) {
		return mine
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return &Error{Kind: Transport, Err: err}
}

// body counts what is read and ends the request's time limit when it is closed.
type body struct {
	r      *bufio.Reader
	under  io.Closer
	left   int64
	cancel context.CancelFunc
	large  func() error
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		if _, err := b.r.Peek(1); errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		return 0, b.large()
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = classify(err)
	}
	return n, err
}

func (b *body) Close() error {
	defer b.cancel()
	return b.under.Close()
}
