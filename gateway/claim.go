package gateway

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
	"time"

	"bellhop/core"
)

const (
	// codeAlphabet leaves out what people confuse: 0 O 1 I L U.
	codeAlphabet = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
	codeLength   = 8
	claimFact    = "owner.claim" // hash of the code that was printed last

	claimTries  = 10   // guesses per minute, of one person
	claimGlut   = 1000 // of everybody together: one person never gets there, and a code lasts for ages all the same
	greetings   = 20   // strangers that get a code per hour
	maxWaiting  = 200
	welcomeRate = time.Hour / greetings
)

// newCode makes a code of codeLength characters.
func newCode() string {
	b := make([]byte, 0, codeLength)
	for len(b) < codeLength {
		var r [1]byte
		rand.Read(r[:])                                    // never fails
		if n := int(r[0]); n < 256-256%len(codeAlphabet) { // no character is more likely than another
			b = append(b, codeAlphabet[n%len(codeAlphabet)])
		}
	}
	return string(b)
}

// clean makes what a person typed comparable to a code; "" when it cannot be one.
func clean(s string) string {
	s = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(strings.TrimSpace(s)))
	if len(s) != codeLength || strings.Trim(s, codeAlphabet) != "" {
		return ""
	}
	return s
}

func hash(code string) []byte {
	h := sha256.Sum256([]byte(code))
	return h[:]
}

// ClaimCode returns a fresh one-time code that makes whoever sends it the owner. It is "" when there is an owner, or the
// configuration names admins. Only its hash is kept; the code before it is void.
func (a *Access) ClaimCode(ctx context.Context) (string, error) {
	owned, err := a.owned(ctx)
	if err != nil || owned {
		return "", err
	}
	code := newCode()
	if err := a.grants.SetFact(ctx, claimFact, hex.EncodeToString(hash(code))); err != nil {
		return "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.claim = hash(code)
	return code, nil
}

func (a *Access) owned(ctx context.Context) (bool, error) {
	if len(a.rules.Load().admins) > 0 {
		return true, nil
	}
	grants, err := a.grants.Grants(ctx)
	for _, g := range grants {
		if g.Owner {
			return true, err
		}
	}
	return false, err
}

// Claims reports whether text, which by sent, is the claim code. Guesses are limited; beyond the limit nothing is right.
func (a *Access) Claims(by core.PrincipalID, text string) bool {
	a.mu.Lock()
	want := a.claim
	a.mu.Unlock()
	if want == nil {
		return false
	}
	code := clean(text)
	if code == "" || !a.tries.take(string(by), time.Minute/claimTries, claimTries) || !a.tries.take("", time.Minute/claimGlut, claimGlut) {
		return false
	}
	return subtle.ConstantTimeCompare(hash(code), want) == 1
}

// Claim makes g's person the owner if text is the claim code, which is then spent. false: it is not, or not any more.
func (a *Access) Claim(ctx context.Context, text string, g core.Grant) (bool, error) {
	code := clean(text)
	a.mu.Lock()
	want := a.claim
	if want == nil || subtle.ConstantTimeCompare(hash(code), want) != 1 {
		a.mu.Unlock()
		return false, nil
	}
	a.claim = nil // nobody else can spend it meanwhile
	a.mu.Unlock()
	g.Admin, g.Allowed, g.Owner, g.Code = true, true, true, ""
	g.Home.ReplyTo = ""
	g.Created = time.Now()
	err := a.put(ctx, g)
	if err == nil {
		err = a.grants.SetFact(ctx, claimFact, "")
	} else {
		a.mu.Lock()
		a.claim = want
		a.mu.Unlock()
	}
	return err == nil, err
}

// Greet gives a stranger a pairing code and remembers who they are; "" when they had one, when pairing is off, or when too
// many strangers come at once.
func (a *Access) Greet(ctx context.Context, g core.Grant) (string, error) {
	if !a.rules.Load().pairing {
		return "", nil
	}
	known, err := a.grants.Grant(ctx, g.Person)
	switch {
	case err != nil && !core.Is(err, core.NotFound):
		return "", err
	case err == nil && (known.Allowed || known.Code != ""):
		return "", nil
	}
	if !a.greeted.take("", welcomeRate, greetings) {
		return "", nil
	}
	waiting, err := a.grants.Grants(ctx)
	if err != nil || strangers(waiting) >= maxWaiting {
		return "", err
	}
	g.Code, g.Created, g.Allowed = newCode(), time.Now(), false
	g.Home.ReplyTo = ""
	return g.Code, a.put(ctx, g)
}

func strangers(grants []core.Grant) int {
	n := 0
	for _, g := range grants {
		if g.Code != "" && !g.Allowed {
			n++
		}
	}
	return n
}

// Approve lets in the stranger who was given code. NotFound: nobody was.
func (a *Access) Approve(ctx context.Context, code string) (core.Grant, error) {
	code = clean(code)
	grants, err := a.grants.Grants(ctx)
	if err != nil {
		return core.Grant{}, err
	}
	for _, g := range grants {
		if code != "" && !g.Allowed && subtle.ConstantTimeCompare([]byte(g.Code), []byte(code)) == 1 {
			g.Allowed, g.Code = true, ""
			return g, a.put(ctx, g)
		}
	}
	return core.Grant{}, core.Errorf("approve", core.NotFound, "nobody has that code")
}
