package telegram

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"bellhop/adapters"
)

// As many calls as there may be hang; what people say comes in all the same.
func TestPollHasItsOwnConnection(t *testing.T) {
	hang := make(chan struct{})
	var entered sync.WaitGroup
	entered.Add(maxConns)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/getUpdates") {
			_, _ = io.WriteString(w, `{"ok":true,"result":[]}`)
			return
		}
		entered.Done()
		<-hang
	}))
	defer srv.Close()
	a, err := New("telegram", Config{Token: "123:SECRET", APIURL: srv.URL}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer a.inbox.client.CloseIdleConnections()
	var calls sync.WaitGroup
	for range maxConns {
		calls.Go(func() { _, _ = a.Send(ctx, adapters.Target{Chat: "1"}, adapters.Outgoing{Text: "x"}) })
	}
	entered.Wait()
	p := newPoller(a, nil)
	if _, err := p.poll(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	calls.Wait()
	close(hang)
}
