package proof

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	for _, tt := range []struct {
		token, query string
		code         int
	}{
		{"t", "?n=abc", http.StatusOK}, {"t", "", http.StatusBadRequest}, {"t", "?n=" + strings.Repeat("x", MaxNonce+1), http.StatusBadRequest},
		{"", "?n=abc", http.StatusNotFound},
	} {
		w := httptest.NewRecorder()
		Handler(tt.token).ServeHTTP(w, httptest.NewRequest(http.MethodGet, Path+tt.query, nil))
		if w.Code != tt.code || (w.Code == http.StatusOK) != Right("t", "abc", w.Body.String()) {
			t.Errorf("%q %.20q: %d %s", tt.token, tt.query, w.Code, w.Body)
		}
	}
}

func TestRight(t *testing.T) {
	if p := Of("t", "abc"); len(p) != Size || !Right("t", "abc", p) || Right("t", "abd", p) || Right("u", "abc", p) || Right("", "abc", Of("", "abc")) {
		t.Errorf("%q", p)
	}
}
