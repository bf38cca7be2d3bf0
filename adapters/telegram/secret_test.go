package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"bellhop/adapters"
	"bellhop/adapters/telegram"
)

const planted = "123456:AA-very_SECRET"

// TestTokenIsNeverShown plants a token and looks for it, whole, in half and as it looks inside URLs, in every error of a
// network that fails in every way (C171).
func TestTokenIsNeverShown(t *testing.T) {
	refuse := func(*http.Request) (*http.Response, error) {
		return nil, &url.Error{Op: "Post", URL: "https://api/bot" + planted + "/x", Err: errors.New("GOAWAY")}
	}
	for name, trip := range map[string]func(*http.Request) (*http.Response, error){
		"url.Error in url.Error": refuse,
		"token in the cause":     func(r *http.Request) (*http.Response, error) { return nil, fmt.Errorf("lost %s", r.URL) },
		"token as a query value": func(*http.Request) (*http.Response, error) { return nil, errors.New(url.QueryEscape(planted)) },
		"secret half":            func(*http.Request) (*http.Response, error) { return nil, errors.New("AA-very_SECRET") },
		"page with the address": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("no such page " + r.URL.String()))}, nil
		},
		"redirect to itself": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 307, Header: http.Header{"Location": {r.URL.String()}}, Body: http.NoBody}, nil
		},
		"cut answer": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(&broken{r.URL.String()})}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAdapter(t, "https://api.telegram.test", &http.Client{Transport: tripper(trip)})
			for what, err := range everyCall(t.Context(), a) {
				if err == nil {
					t.Errorf("%s: no error", what)
				}
				showsNothing(t, what, err)
			}
		})
	}
}

type broken struct{ text string }

func (b *broken) Read([]byte) (int, error) { return 0, errors.New("reading " + b.text) }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newAdapter(t *testing.T, api string, c *http.Client) *telegram.Adapter {
	t.Helper()
	a, err := telegram.New("telegram", telegram.Config{Token: planted, APIURL: api}, telegram.Options{Client: c})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func everyCall(ctx context.Context, a *telegram.Adapter) map[string]error {
	to := adapters.Target{Chat: "1"}
	_, send := a.Send(ctx, to, adapters.Outgoing{Text: "x"})
	_, up := a.Upload(ctx, to, adapters.Upload{Kind: "document", Name: "x", Body: strings.NewReader("x")})
	_, fetch := a.Fetch(ctx, adapters.File{Ref: "x"})
	_, probe := a.Probe(ctx)
	return map[string]error{"send": send, "upload": up, "fetch": fetch, "probe": probe,
		"edit": a.Edit(ctx, to, "1", adapters.Outgoing{Text: "x"}), "delete": a.Delete(ctx, to, "1"), "typing": a.Typing(ctx, to),
		"react": a.React(ctx, to, "1", ""), "press": a.AnswerPress(ctx, "q", "x"), "menu": a.SetMenu(ctx, nil),
		"draft": a.Draft(ctx, to, 1, adapters.Outgoing{Text: "x"})}
}

func showsNothing(t *testing.T, what string, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		for _, form := range []string{planted, "AA-very_SECRET", url.QueryEscape(planted), url.PathEscape(planted)} {
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), form) {
				t.Errorf("%s: an error of type %T shows the token", what, err)
			}
		}
	}
}

// A download's address holds the token too.
func TestTokenIsNotShownByDownloads(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/getFile") {
			fmt.Fprint(w, `{"ok":true,"result":{"file_id":"x","file_unique_id":"u","file_path":"a/b"}}`)
			return
		}
		http.Error(w, r.URL.String(), http.StatusTeapot)
	}))
	defer srv.Close()
	_, err := newAdapter(t, srv.URL, nil).Fetch(t.Context(), adapters.File{Ref: "x"})
	if adapters.KindOf(err) != adapters.Temporary {
		t.Errorf("error is %v", err)
	}
	showsNothing(t, "download", err)
}

// What was never sent may be sent again; what was sent and not answered may have taken effect.
func TestNoAnswer(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer silent.Close()
	for name, tt := range map[string]struct {
		api  string
		want adapters.ErrorKind
	}{
		"refused":    {"http://" + closed.Addr().String(), adapters.Temporary},
		"no address": {"http://nowhere.invalid", adapters.Temporary},
		"silence":    {silent.URL, adapters.Ambiguous},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		a := newAdapter(t, tt.api, nil)
		_, err := a.Send(ctx, adapters.Target{Chat: "1"}, adapters.Outgoing{Text: "x"})
		if got := adapters.KindOf(err); got != tt.want {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		showsNothing(t, name, err)
		cancel()
	}
}

func TestConfigShowsNoSecret(t *testing.T) {
	c := telegram.Config{Token: planted, WebhookSecret: "hook-SECRET", Proxy: "http://u:proxy-SECRET@"}
	js, err := json.Marshal(c.Token)
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %+v %#v %s %q %s", c.Token, c.Token, c.Token, c.WebhookSecret, c.Token, js)
	shown += fmt.Sprint(errors.Join(telegram.Config{Token: "no-SECRET", WebhookSecret: "bad SECRET", Mode: "webhook", Proxy: "x://SECRET"}.Check()...))
	if strings.Contains(shown, "SECRET") {
		t.Errorf("a secret is shown: %s", shown)
	}
}
