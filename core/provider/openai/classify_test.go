package openai

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bellhop/core/provider"
)

// TestProblemShapes reads the error bodies of different servers.
func TestProblemShapes(t *testing.T) {
	for body, want := range map[string]struct {
		status int
		kind   provider.ErrorKind
		text   string
	}{
		`{"error":{"message":"slow","type":"requests","param":null,"code":"rate_limit_exceeded"}}`:                  {429, provider.RateLimited, "slow"},
		`{"error":"model \"llama\" not found, try pulling it first"}`:                                               {404, provider.NoModel, `model "llama" not found, try pulling it first`},
		`{"object":"error","message":"This model's maximum context length is 10 tokens.","code":400}`:               {400, provider.Overflow, "This model's maximum context length is 10 tokens."},
		`{"detail":"Not authenticated"}`:                                                                            {401, provider.Auth, "Not authenticated"},
		`{"detail":[{"loc":["body"],"msg":"extra fields not permitted"}]}`:                                          {422, provider.BadRequest, `[{"loc":["body"],"msg":"extra fields not permitted"}]`},
		`[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID"}}]`:   {400, provider.Auth, "API key not valid. Please pass a valid API key."},
		`{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"prompt is too long: 9 > 8"}}}`: {502, provider.Overflow, "Provider returned error: prompt is too long: 9 > 8"},
		`<html><head><title>502 Bad Gateway</title></head></html>`:                                                  {502, provider.Overloaded, "Bad Gateway"},
		``: {503, provider.Overloaded, "Service Unavailable"},
		`{"error":{"message":"Resource has been exhausted. Please retry in 12s. You exceeded your current quota","code":429}}`: {429, provider.RateLimited, "Resource has been exhausted. Please retry in 12s. You exceeded your current quota"},
		`{"error":{"code":null,"message":null}}`: {418, provider.BadRequest, "I'm a teapot"},
		`null`:                                   {500, provider.Overloaded, "Internal Server Error"},
	} {
		p := New(Options{BaseURL: "http://x/v1"})
		e := p.failure(readProblem(want.status, []byte(body)), nil)
		if e.Kind != want.kind || e.Text != "openai: "+want.text || e.Code != want.status {
			t.Errorf("%s:\n%+v", body, e)
		}
	}
}

// TestProblemInside reads error objects inside streams, which come with status 200.
func TestProblemInside(t *testing.T) {
	for body, want := range map[string]provider.ErrorKind{
		`{"error":{"code":429,"message":"slow"}}`:                                      provider.RateLimited,
		`{"error":{"code":"server_error","message":"x"}}`:                              provider.Overloaded,
		`{"error":{"message":"x","type":"invalid_request_error"}}`:                     provider.BadRequest,
		`{"choices":[{"delta":{},"error":{"code":502,"message":"upstream"}}]}`:         provider.Overloaded,
		`{"error":{"message":"who knows"}}`:                                            provider.Overloaded,
		`{"error":{"code":401,"message":"No auth credentials found"}}`:                 provider.Auth,
		`{"error":{"code":403,"message":"input was flagged by moderation"}}`:           provider.Filtered,
		`{"message":"unknown does not support streaming","object":"error","code":400}`: provider.NoStream,
	} {
		if got := readProblem(0, []byte(body)).kind(); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		want   time.Duration
		header []string
	}{
		{0, nil},
		{7 * time.Second, []string{"Retry-After", "7"}},
		{1500 * time.Millisecond, []string{"Retry-After", "1.5"}},
		{90 * time.Second, []string{"Retry-After", "Mon, 30 Nov 2026 12:01:30 GMT"}},
		{0, []string{"Retry-After", "Mon, 30 Nov 2026 11:00:00 GMT"}},
		{0, []string{"Retry-After", "-5"}},
		{0, []string{"Retry-After", "soon"}},
		{0, []string{"Retry-After", "NaN"}},
		{365 * 24 * time.Hour, []string{"Retry-After", "1e300"}},
		{20 * time.Millisecond, []string{"retry-after-ms", "20", "Retry-After", "7"}},
		{6 * time.Minute, []string{"x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "6m0s"}},
		{time.Second, []string{"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1s", "x-ratelimit-remaining-tokens", "9", "x-ratelimit-reset-tokens", "6m0s"}},
	} {
		h := http.Header{}
		for i := 0; i < len(c.header); i += 2 {
			h.Set(c.header[i], c.header[i+1])
		}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%v: %v, want %v", c.header, got, c.want)
		}
	}
}

func TestScrub(t *testing.T) {
	const key = "very+secret/key"
	s := newScrubber(key, "https://user:hunter2@api.example.com/v1?token=abc123")
	for in, want := range map[string]string{
		"key " + key + " is bad":                          "key [key] is bad",
		"escaped " + url.QueryEscape(key):                 "escaped [key]",
		"Incorrect API key provided: sk-proj-ab*****xyz.": "Incorrect API key provided: [key]",
		"got Bearer abc.def-ghi":                          "got [key]",
		"see https://platform.example.com/account for it": "see [address] for it",
		"Get \"https://api.example.com/v1/models\": EOF":  "Get \"[address]\": EOF",
		"password hunter2, query token=abc123":            "password [key], query [query]",
		"two\nlines\tof  it":                              "two lines of it",
		"task-oriented sky-high":                          "task-oriented sky-high",
	} {
		if got := s.text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	long := s.text(strings.Repeat("😀", 1000))
	if utf8.RuneCountInString(long) != maxText+1 || !utf8.ValidString(long) {
		t.Errorf("%d runes", utf8.RuneCountInString(long))
	}
	inner := errors.New("connection refused")
	wrapped := fmt.Errorf("outer https://x/: %w", &url.Error{Op: "Post", URL: "https://x/?k=" + key, Err: &url.Error{Op: "x", URL: key, Err: inner}})
	if got := s.cause(wrapped); got != inner {
		t.Errorf("%v", got)
	}
	if got := s.cause(errors.New("proxy " + key)); strings.Contains(got.Error(), key) {
		t.Errorf("%v", got)
	}
	if got := (newScrubber("", "")).text("nothing to hide"); got != "nothing to hide" {
		t.Errorf("%q", got)
	}
}
