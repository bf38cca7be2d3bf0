package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"bellhop/gateway/rpc"
	"bellhop/gateway/rpc/client"
	"bellhop/gateway/rpc/proof"
	"bellhop/gateway/rpc/rpctest"
)

const token = "the token of the folder"

// gatewayAt serves b with a token, as the program does.
func gatewayAt(t *testing.T, b *rpctest.Backend) string {
	t.Helper()
	auth, err := rpc.NewAuth(t.Context(), rpc.AuthOptions{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+proof.Path, auth.Prove())
	mux.Handle("GET /rpc", rpc.New(b.Config()).WebSocket(t.Context(), auth.Principal))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

func TestDialTheGateway(t *testing.T) {
	addr := gatewayAt(t, rpctest.New(t, nil))
	if err := client.Recognize(t.Context(), addr, token); err != nil {
		t.Errorf("not recognized: %v", err)
	}
	conn, err := client.WebSocket(addr, token)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(t.Context()); err != nil {
		t.Errorf("no greeting: %v", err)
	}
}

// TestStrangerGetsNoToken: whatever listens at an old address, it is not shown the token.
func TestStrangerGetsNoToken(t *testing.T) {
	real := gatewayAt(t, rpctest.New(t, nil))
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+real+r.URL.String(), http.StatusFound)
	}
	for name, h := range map[string]http.HandlerFunc{
		"silent":        func(http.ResponseWriter, *http.Request) {},
		"echo":          func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Query().Get(proof.Param))) },
		"another token": proof.Handler("another").ServeHTTP,
		"no token": func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(proof.Of("", r.URL.Query().Get(proof.Param))))
		},
		"an old proof": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(proof.Of(token, "x"))) },
		"redirect":     redirect,
		"right, but a new connection": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			proof.Handler(token).ServeHTTP(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			shown := make(chan string, 8)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if a := r.Header.Get("Authorization"); a != "" {
					shown <- a
				}
				h(w, r)
			}))
			defer srv.Close()
			addr := srv.Listener.Addr().String()
			_, err := client.WebSocket(addr, token)(t.Context())
			if err == nil || name != "right, but a new connection" && !errors.Is(err, client.ErrStranger) {
				t.Errorf("dialled: %v", err)
			}
			if len(shown) > 0 {
				t.Errorf("it was shown %q", <-shown)
			}
		})
	}
	if err := client.Recognize(context.Background(), real, ""); !errors.Is(err, client.ErrStranger) {
		t.Errorf("without a token: %v", err)
	}
}
