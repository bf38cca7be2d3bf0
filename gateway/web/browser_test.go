package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/rpctest"
	"bellhop/gateway/web"
	"bellhop/stream/markup"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const chromium = "/usr/bin/chromium"

// site is a gateway with its page, served on loopback.
type site struct {
	t    *testing.T
	b    *rpctest.Backend
	auth *rpc.Auth
	url  string
	stop context.CancelFunc // cuts every connection, new ones are accepted after restart
	mux  *swap
	srv  *rpc.Server
}

// swap is a handler that can be exchanged while it serves.
type swap struct{ h chan http.Handler }

func (s *swap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := <-s.h
	s.h <- h
	h.ServeHTTP(w, r)
}

func (s *swap) set(h http.Handler) {
	<-s.h
	s.h <- h
}

func serve(t *testing.T, script rpctest.Script) *site {
	t.Helper()
	b := rpctest.New(t, script)
	auth, err := rpc.NewAuth(t.Context(), rpc.AuthOptions{Facts: b.Store})
	if err != nil {
		t.Fatal(err)
	}
	cfg := b.Config()
	cfg.Render = markup.Web
	s := &site{t: t, b: b, auth: auth, srv: rpc.New(cfg), mux: &swap{make(chan http.Handler, 1)}}
	s.mux.h <- http.NotFoundHandler()
	s.connect()
	server := httptest.NewServer(s.mux)
	s.url = server.URL
	t.Cleanup(func() {
		s.stop()
		server.Close()
	})
	return s
}

// connect lets clients in; stop ends their connections and cut keeps them out.
func (s *site) connect() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler())
	mux.Handle("GET /rpc", s.srv.WebSocket(ctx, s.auth.Principal))
	mux.Handle("POST /rpc/session", s.auth.Trade())
	s.mux.set(mux)
}

func (s *site) cut() {
	s.mux.set(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "down", http.StatusServiceUnavailable)
	}))
	s.stop()
}

// link is the address with a secret that bellhop prints.
func (s *site) link() string { return s.url + "/#k=" + s.auth.Mint(time.Minute) }

// browser is a page in a real browser.
type browser struct {
	t   *testing.T
	ctx context.Context
}

func open(t *testing.T, width, height int64) *browser {
	t.Helper()
	if _, err := os.Stat(chromium); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no browser at %s: %v", chromium, err)
		}
		t.Skipf("no browser at %s; install the chromium package to run the page's tests", chromium)
	}
	opts := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	opts = append(opts, chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.UserDataDir(profile(t)), chromedp.WSURLReadTimeout(60*time.Second))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // waits until the browser is gone
			t.Log(err)
		}
		cancel()
	})
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Run(ctx); err != nil { // the browser lives as long as the context of the first run
		t.Fatal(err)
	}
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page threw: %s", ev.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if ev.Entry.Source == log.SourceSecurity || strings.Contains(ev.Entry.Text, "Content Security Policy") {
				t.Errorf("the page broke its policy: %s", ev.Entry.Text)
			}
		}
	})
	b.do(log.Enable(), network.Enable(), chromedp.EmulateViewport(width, height))
	return b
}

// profile is a fresh folder for a browser, which may write to it until its last breath.
func profile(t *testing.T) string {
	dir, err := os.MkdirTemp("", "bellhop-page-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// do runs actions, each soon or never.
func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	for _, a := range actions {
		ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
		err := chromedp.Run(ctx, a)
		cancel()
		if err != nil {
			var page string
			_ = chromedp.Run(b.ctx, chromedp.Evaluate(`document.querySelector("main")?.innerText ?? ""`, &page))
			b.t.Fatalf("%v\nthe page shows:\n%s", err, page)
		}
	}
}

// until waits until a JavaScript expression is true.
func (b *browser) until(expression string, args ...any) {
	b.t.Helper()
	expression = fmt.Sprintf(expression, args...)
	var ok bool
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Poll(expression, &ok, chromedp.WithPollingInterval(20*time.Millisecond))); err != nil {
		var page string
		_ = chromedp.Run(b.ctx, chromedp.Evaluate(`document.body.innerText`, &page))
		b.t.Fatalf("never true: %s: %v\nthe page shows:\n%s", expression, err, page)
	}
}

// shows waits for a text in an element.
func (b *browser) shows(selector, text string) {
	b.t.Helper()
	b.until(`[...document.querySelectorAll(%q)].some(n => n.textContent.includes(%q))`, selector, text)
}

func get[T any](b *browser, expression string) T {
	b.t.Helper()
	var out T
	b.do(chromedp.Evaluate(expression, &out))
	return out
}

func (b *browser) say(text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys("#text", text+"\r"))
}

func (b *browser) press(key string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(key))
}

// picture keeps a screenshot for people: in $BELLHOP_PICTURES, else in a folder that goes with the test.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("BELLHOP_PICTURES")
	if dir == "" {
		dir = b.t.TempDir()
	}
	var png []byte
	b.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.t.Error(err)
	}
}

func (b *browser) dark() {
	b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
}
