package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"149.154.167.220": true, "8.8.8.8": true, "2001:67c:4e8:f004::9": true, "2606:4700::1111": true,
		"127.0.0.1": false, "127.9.9.9": false, "::1": false, "::ffff:127.0.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "::": false,
		"10.1.2.3": false, "172.16.0.1": false, "172.31.255.255": false, "172.32.0.1": true, "192.168.1.1": false, "fd00::1": false,
		"169.254.169.254": false, "fe80::1": false, "::ffff:169.254.169.254": false, "100.64.0.1": false, "100.128.0.1": true,
		"224.0.0.1": false, "ff02::1": false, "255.255.255.255": false, "240.0.0.1": false, "198.18.0.1": false, "192.0.2.1": false,
		"64:ff9b::a9fe:a9fe": false, "2002:7f00:1::": false, "2001:db8::1": false, "2001::1": false, "fe80::1%eth0": false,
	} {
		if got := public(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s is public: %v, want %v", addr, got, want)
		}
	}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func kind(t *testing.T, err error, want ErrorKind) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != want {
		t.Errorf("error is %v, want kind %q", err, want)
	}
}

var png = append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{0}, 2000)...)

func TestGet(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html") // a lie
		w.Write(png)
	})
	f, err := New(Options{AllowLoopback: true}).Get(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f.Body)
	if err != nil || !bytes.Equal(got, png) || f.MIME != "image/png" || f.Size != int64(len(png)) || f.Body.Close() != nil {
		t.Errorf("%d bytes of %s, size %d, %v", len(got), f.MIME, f.Size, err)
	}
}

// Nothing inside is reached: not directly, not by another spelling, not by a redirect, not by a name.
func TestBlocked(t *testing.T) {
	reached := false
	inside := serve(t, func(w http.ResponseWriter, r *http.Request) { reached = true })
	port := inside[strings.LastIndexByte(inside, ':'):]
	outside := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside, http.StatusFound) })
	ftp := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "ftp://x/y", http.StatusFound) })
	trusted := func(at string) Options { return Options{Trusted: strings.TrimPrefix(at, "http://")} }
	for _, tt := range []struct {
		o  Options
		at string
	}{
		{Options{}, inside}, {Options{}, "http://localhost" + port}, {Options{}, "http://[::ffff:127.0.0.1]" + port},
		{Options{}, "http://169.254.169.254/latest/meta-data/"}, {Options{}, "http://[::]" + port}, {Options{}, "http://0.0.0.0" + port},
		{Options{}, "file:///etc/passwd"}, {Options{}, "gopher://x"}, {Options{}, "http://"}, {Options{}, "http://a b/"},
		{trusted(outside), outside}, {trusted(ftp), ftp},
		{Options{AllowLoopback: true}, "http://10.0.0.1/"},
		{Options{Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}, inside},
		{Options{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(outside) }}, inside},
	} {
		_, err := New(tt.o).Get(t.Context(), tt.at)
		kind(t, err, Blocked)
		if err != nil && (strings.Contains(err.Error(), port) || strings.Contains(err.Error(), "169.254")) {
			t.Errorf("the error tells the address: %v", err)
		}
	}
	if reached {
		t.Error("the inside was reached")
	}
}

// A name that resolves to the inside is refused at the moment of dialling, whatever it resolved to before.
func TestRebinding(t *testing.T) {
	d := New(Options{})
	for address, ok := range map[string]bool{"127.0.0.1:80": false, "[::1]:80": false, "192.168.0.1:80": false, "8.8.8.8:443": true, "nonsense": false} {
		if err := d.control("tcp", address, nil); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestBounds(t *testing.T) {
	big := strings.Repeat("x", 2000)
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/said":
			w.Header().Set("Content-Length", "2000")
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
			return
		case "/gone":
			http.NotFound(w, r)
			return
		case "/tea":
			w.WriteHeader(http.StatusTeapot)
			return
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "half")
			panic(http.ErrAbortHandler)
		case "/exact":
			fmt.Fprint(w, big[:1000])
			return
		}
		fmt.Fprint(w, big)
		w.(http.Flusher).Flush()
	})
	d := New(Options{AllowLoopback: true, MaxBytes: 1000})
	get := func(path string) error {
		f, err := d.Get(t.Context(), at+path)
		if err != nil {
			return err
		}
		defer f.Body.Close()
		n, err := io.Copy(io.Discard, f.Body)
		if n > 1000 {
			t.Errorf("%s: %d bytes came through", path, n)
		}
		return err
	}
	kind(t, get("/said"), TooLarge)
	kind(t, get("/unsaid"), TooLarge)
	kind(t, get("/loop"), Refused)
	kind(t, get("/gone"), Missing)
	kind(t, get("/tea"), Refused)
	kind(t, get("/cut"), Transport)
	if err := get("/exact"); err != nil {
		t.Errorf("a file of exactly the limit: %v", err)
	}
}

func TestTimeLimitCoversTheBody(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(png)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	f, err := New(Options{AllowLoopback: true, Timeout: 50 * time.Millisecond}).Get(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Body.Close()
	_, err = io.Copy(io.Discard, f.Body)
	kind(t, err, Transport)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

func TestErrorsHideTheAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = New(Options{AllowLoopback: true}).Get(t.Context(), "http://"+l.Addr().String()+"/bot1:SECRET/x")
	kind(t, err, Transport)
	if strings.Contains(err.Error(), "SECRET") {
		t.Errorf("shown: %v", err)
	}
}
