package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/jsonrpc"
	"bellhop/gateway/rpc/rpctest"

	"github.com/coder/websocket"
)

// door serves the web door on loopback.
func door(t *testing.T, o rpc.AuthOptions) (*rpc.Auth, *httptest.Server) {
	t.Helper()
	a, err := rpc.NewAuth(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b := rpctest.New(t, echo)
	s := rpc.New(b.Config())
	ctx, stop := context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.Handle("GET /rpc", s.WebSocket(ctx, a.Principal))
	mux.Handle("POST /rpc/session", a.Trade())
	srv := httptest.NewServer(mux)
	t.Cleanup(func() {
		stop()
		srv.Close()
	})
	return a, srv
}

func post(t *testing.T, url, body string, header http.Header) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url+"/rpc/session", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return res
}

func TestTrade(t *testing.T) {
	facts := rpctest.NewStore()
	a, srv := door(t, rpc.AuthOptions{Facts: facts})
	own := http.Header{"Origin": {srv.URL}}
	k := `{"k":"` + a.Mint(time.Minute) + `"}`
	if res := post(t, srv.URL, k, http.Header{"Origin": {"https://evil.example"}}); res.StatusCode != 401 {
		t.Errorf("another site's page got %d", res.StatusCode)
	}
	res := post(t, srv.URL, k, own)
	if res.StatusCode != 204 || len(res.Cookies()) != 1 {
		t.Fatalf("the secret gave %d and %d cookies", res.StatusCode, len(res.Cookies()))
	}
	c := res.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.MaxAge <= 0 {
		t.Errorf("cookie %+v", c)
	}
	if stored, _ := facts.Fact(t.Context(), "web.sessions"); strings.Contains(stored, c.Value) || stored == "" {
		t.Errorf("stored %q", stored)
	}
	if res := post(t, srv.URL, k, own); res.StatusCode != 401 {
		t.Errorf("a spent secret got %d", res.StatusCode)
	}
	withCookie := http.Header{"Origin": {srv.URL}, "Cookie": {c.Name + "=" + c.Value}}
	if res := post(t, srv.URL, `{}`, withCookie); res.StatusCode != 204 {
		t.Errorf("the cookie got %d", res.StatusCode)
	}

	again, second := door(t, rpc.AuthOptions{Facts: facts}) // a restart
	_ = again
	for name, tt := range map[string]struct {
		header http.Header
		ok     bool
	}{
		"our page with the cookie":     {http.Header{"Origin": {second.URL}, "Cookie": withCookie["Cookie"]}, true},
		"another page with the cookie": {http.Header{"Origin": {"http://evil.example"}, "Cookie": withCookie["Cookie"]}, false},
		"no page without a key":        {http.Header{}, false},
		"a wrong cookie":               {http.Header{"Cookie": {c.Name + "=x"}}, false},
	} {
		ws, res, err := websocket.Dial(t.Context(), second.URL+"/rpc", &websocket.DialOptions{HTTPHeader: tt.header})
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			ws.CloseNow()
		} else if res.StatusCode != 401 {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
}

func TestSecretExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := rpc.NewAuth(t.Context(), rpc.AuthOptions{})
		if err != nil {
			t.Fatal(err)
		}
		trade := func(k string) int {
			w := httptest.NewRecorder()
			a.Trade().ServeHTTP(w, httptest.NewRequest("POST", "/rpc/session", strings.NewReader(`{"k":"`+k+`"}`)))
			return w.Code
		}
		first, second := a.Mint(time.Minute), a.Mint(time.Hour)
		time.Sleep(2 * time.Minute)
		if code := trade(first); code != 401 {
			t.Errorf("an expired secret got %d", code)
		}
		if code := trade(second); code != 204 {
			t.Errorf("a living secret got %d", code)
		}
	})
}

func TestPrincipal(t *testing.T) {
	dir := t.TempDir()
	token, err := rpc.TokenFile(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	auth := func(ownUser bool, hosts ...string) *rpc.Auth {
		a, err := rpc.NewAuth(t.Context(), rpc.AuthOptions{Token: token, OwnUser: ownUser, Hosts: hosts})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	tests := []struct {
		name   string
		a      *rpc.Auth
		host   string
		header http.Header
		ok     bool
	}{
		{"token", auth(false), "127.0.0.1", http.Header{"Authorization": {"Bearer " + token}}, true},
		{"wrong token", auth(false), "127.0.0.1", http.Header{"Authorization": {"Bearer " + token + "x"}}, false},
		{"empty token", auth(false), "127.0.0.1", http.Header{"Authorization": {"Bearer "}}, false},
		{"nothing", auth(false), "127.0.0.1", http.Header{}, false},
		{"own user", auth(true), "127.0.0.1", http.Header{}, true},
		{"own user by name", auth(true), "localhost", http.Header{}, true},
		{"own user, another name (rebinding)", auth(true), "evil.example", http.Header{}, false},
		{"own user, our page", auth(true), "localhost", http.Header{"Origin": {"http://localhost"}}, true},
		{"own user, another page", auth(true), "localhost", http.Header{"Origin": {"http://evil.example"}}, false},
		{"own user, sandboxed page", auth(true), "localhost", http.Header{"Origin": {"null"}}, false},
		{"own user, cross-site", auth(true), "localhost", http.Header{"Sec-Fetch-Site": {"cross-site"}}, false},
		{"own user through a proxy", auth(true), "localhost", http.Header{"X-Forwarded-For": {"192.0.2.1"}}, false},
		{"token, page of an unknown name", auth(false), "bell.example", http.Header{"Origin": {"http://bell.example"}, "Authorization": {"Bearer " + token}}, false},
		{"token, page of a configured name", auth(false, "bell.example"), "bell.example", http.Header{"Origin": {"http://bell.example"}, "Authorization": {"Bearer " + token}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := make(chan error, 1)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, err := tt.a.Principal(r)
				got <- err
			}))
			defer srv.Close()
			r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host, r.Header = tt.host, tt.header
			client := srv.Client()
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if err := <-got; (err == nil) != tt.ok || err != nil && !core.Is(err, core.Denied) {
				t.Errorf("principal: %v", err)
			}
		})
	}
}

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	one, err := rpc.TokenFile(path)
	if err != nil || len(one) < 20 {
		t.Fatalf("%q: %v", one, err)
	}
	if two, err := rpc.TokenFile(path); err != nil || two != one {
		t.Errorf("read again: %q: %v", two, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := rpc.TokenFile(path); !core.Is(err, core.Denied) {
		t.Errorf("a file that others can read: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%d files are left: %v", len(entries), err)
	}
}

// TestStdio: the pipe carries the protocol and nothing else, and its end is the end.
func TestStdio(t *testing.T) {
	b := rpctest.New(t, echo)
	s := rpc.New(b.Config())
	in := strings.NewReader(`{"jsonrpc":"2.0","method":"setup.status","id":1}` + "\n" + `{"jsonrpc":"2.0","method":"rpc.discover","id":2}`)
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), in, &out, rpc.Local()); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		m, err := jsonrpc.Parse([]byte(line))
		if err != nil || m.Error != nil {
			t.Errorf("line %d: %s", i, line)
		}
		if i == 0 && (m.Method != "event" || !strings.Contains(line, `"type":"gateway.ready"`)) {
			t.Errorf("the first line is %s", line)
		}
	}
}

// TestBrokenPipe: a client that does not take what is written ends the service.
func TestBrokenPipe(t *testing.T) {
	b := rpctest.New(t, echo)
	in, keep := io.Pipe()
	defer keep.Close()
	broken := errors.New("broken pipe")
	r, out := io.Pipe()
	r.CloseWithError(broken)
	if err := rpc.New(b.Config()).ServeStdio(t.Context(), in, out, rpc.Local()); !errors.Is(err, broken) {
		t.Errorf("ended with %v", err)
	}
}
