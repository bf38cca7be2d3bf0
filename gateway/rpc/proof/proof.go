package proof

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
)

// Path is where a gateway answers, and Param what the nonce is called there.
const (
	Path  = "/rpc/proof"
	Param = "n"
)

// MaxNonce bounds a nonce, in bytes; one of rand.Text is far below it.
const MaxNonce = 64

// Size is the length of a proof, in bytes.
const Size = 2 * sha256.Size

// Of is the proof that its maker knows token, for one nonce.
func Of(token, nonce string) string {
	m := hmac.New(sha256.New, []byte(token))
	_, _ = io.WriteString(m, "bellhop gateway\n"+nonce) // a hash takes everything
	return hex.EncodeToString(m.Sum(nil))
}

// Right reports whether got is the proof for nonce, in constant time.
func Right(token, nonce, got string) bool {
	return token != "" && hmac.Equal([]byte(got), []byte(Of(token, nonce)))
}

// Handler answers with proofs. Without a token there is nothing to prove: 404.
func Handler(token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nonce := r.URL.Query().Get(Param)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		switch {
		case token == "":
			http.NotFound(w, r)
		case nonce == "" || len(nonce) > MaxNonce:
			http.Error(w, "n is missing or too long", http.StatusBadRequest)
		default:
			_, _ = io.WriteString(w, Of(token, nonce)) // the client may be gone; nobody is left to tell
		}
	})
}
