package rpc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/gateway/rpc/proof"
)

const (
	cookieName = "bellhop_session"
	cookieLife = 30 * 24 * time.Hour
	factName   = "web.sessions"
	maxSecrets = 64 // one-time secrets that wait, and browsers that are signed in; the oldest go
)

// Facts keeps small named values; core.Grants is one. Auth stores hashes there, so that a browser stays signed in across
// restarts.
type Facts interface {
	Fact(ctx context.Context, name string) (string, error)
	SetFact(ctx context.Context, name, value string) error
}

// AuthOptions are what an Auth works with.
type AuthOptions struct {
	Facts Facts    // where browsers that signed in are kept; nil: in memory only
	Token string   // bearer token of the terminal client, see TokenFile; empty: none
	Hosts []string // host names of the page beside those of this machine, for example behind a proxy
	// OwnUser lets a client in without a key when the kernel says that the other end of its loopback connection belongs to
	// the user that runs the gateway.
	OwnUser bool
}

// Auth says who is at the web door: whoever holds the cookie or the token, and the machine's own user. All of them are
// the owner, "local", with every right. Secrets are kept as hashes and compared in constant time. Safe for concurrent use.
type Auth struct {
	o     AuthOptions
	token [sha256.Size]byte

	mu       sync.Mutex
	once     []secret // minted, not yet traded
	browsers []secret // traded
}

// secret is a hash and its end.
type secret struct {
	Hash  string    `json:"hash"` // hex of SHA-256
	Until time.Time `json:"until"`
}

// NewAuth makes an Auth and loads who is signed in.
func NewAuth(ctx context.Context, o AuthOptions) (*Auth, error) {
	a := &Auth{o: o, token: sha256.Sum256([]byte(o.Token))}
	if o.Facts == nil {
		return a, nil
	}
	stored, err := o.Facts.Fact(ctx, factName)
	if err != nil || stored == "" {
		return a, err
	}
	if err := json.Unmarshal([]byte(stored), &a.browsers); err != nil {
		return nil, core.E("load signed-in browsers", core.Corrupt, err)
	}
	return a, nil
}

// Local is the machine's own user.
func Local() core.Principal {
	return core.Principal{ID: "local", Name: "you", Admin: true, Caps: core.CanRead | core.CanSubmit | core.CanControl |
		core.CanApprove | core.CanRespond | core.CanOperate}
}

// Mint returns a fresh secret for the fragment of a URL (#k=…). It can be traded once, within ttl.
func (a *Auth) Mint(ttl time.Duration) string {
	s := rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.once = append(living(a.once), secret{hashOf(s), time.Now().Add(ttl)})
	return s
}

// Principal returns who sent r. Denied: nobody that the gateway knows, or a page that is not ours.
func (a *Auth) Principal(r *http.Request) (core.Principal, error) {
	switch {
	case !a.sameOrigin(r):
		return core.Principal{}, core.Errorf("authenticate", core.Denied, "a page of another site")
	case a.bearer(r), a.cookie(r), a.ownUser(r):
		return Local(), nil
	}
	return core.Principal{}, core.Errorf("authenticate", core.Denied, "no key")
}

func (a *Auth) bearer(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(given))
	return ok && a.o.Token != "" && subtle.ConstantTimeCompare(sum[:], a.token[:]) == 1
}

func (a *Auth) cookie(r *http.Request) bool {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return find(living(a.browsers), c.Value) >= 0
}

// ownUser reports whether r comes from this machine's own user: over loopback, to a name of this machine, not passed on by
// a proxy, from a socket of the same user.
func (a *Auth) ownUser(r *http.Request) bool {
	if !a.o.OwnUser || !loopbackHost(r.Host) || forwarded(r.Header) {
		return false
	}
	server, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && peerIsSelf(r.RemoteAddr, server.String())
}

func forwarded(h http.Header) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if h.Get(name) != "" {
			return true
		}
	}
	return false
}

// sameOrigin reports whether r was sent by our page, or by no page at all. A name that is neither this machine's nor
// configured is refused too: a page of another site could have pointed it here.
func (a *Auth) sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Header.Get("Sec-Fetch-Site") != "cross-site"
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host) && a.ours(r.Host)
}

func (a *Auth) ours(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	return net.ParseIP(strings.Trim(name, "[]")) != nil || strings.EqualFold(name, "localhost") ||
		slices.ContainsFunc(a.o.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

func loopbackHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// Trade is the handler of POST /rpc/session {"k": secret}: a secret for a cookie. Whoever is let in without one, or has a
// cookie already, gets 204 as well; so the page asks it once, whatever is in its address.
func (a *Auth) Trade() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			K string `json:"k"`
		}
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "use POST", http.StatusMethodNotAllowed)
			return
		}
		if !a.sameOrigin(r) || json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&body) != nil {
			refuse(w, core.Errorf("sign in", core.Denied, "not our page"))
			return
		}
		if body.K == "" || !a.spend(body.K) {
			if _, err := a.Principal(r); err != nil {
				refuse(w, err)
				return
			}
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if err := a.signIn(r.Context(), w, r.TLS != nil); err != nil {
			refuse(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// Prove is the handler of GET proof.Path: it shows the terminal client that the gateway knows the token.
func (a *Auth) Prove() http.Handler { return proof.Handler(a.o.Token) }

// spend uses up a minted secret.
func (a *Auth) spend(k string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.once = living(a.once)
	i := find(a.once, k)
	if i < 0 {
		return false
	}
	a.once = slices.Delete(a.once, i, i+1)
	return true
}

// signIn sets a cookie and keeps its hash.
func (a *Auth) signIn(ctx context.Context, w http.ResponseWriter, secure bool) error {
	value := rand.Text()
	a.mu.Lock()
	a.browsers = append(living(a.browsers), secret{hashOf(value), time.Now().Add(cookieLife)})
	if over := len(a.browsers) - maxSecrets; over > 0 {
		a.browsers = slices.Delete(a.browsers, 0, over)
	}
	stored, err := json.Marshal(a.browsers)
	a.mu.Unlock()
	if err != nil {
		return core.E("sign in", core.Internal, err)
	}
	if a.o.Facts != nil {
		if err := a.o.Facts.SetFact(ctx, factName, string(stored)); err != nil {
			return err
		}
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: int(cookieLife.Seconds()),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode})
	return nil
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// find returns where the secret with that value is, -1 when nowhere; every one is compared.
func find(in []secret, value string) int {
	hash, at := []byte(hashOf(value)), -1
	for i, s := range in {
		if subtle.ConstantTimeCompare([]byte(s.Hash), hash) == 1 {
			at = i
		}
	}
	return at
}

// living returns the secrets whose end has not come, the newest maxSecrets of them.
func living(in []secret) []secret {
	now := time.Now()
	out := slices.DeleteFunc(slices.Clone(in), func(s secret) bool { return !s.Until.After(now) })
	return out[max(0, len(out)-maxSecrets):]
}
