package openai

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"bellhop/core/provider"
)

// post sends a body; get asks for a path. The response's body is the caller's to close.
func (p *Provider) post(ctx context.Context, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	load := newPayload(body)
	defer load.drop()
	req.Body, req.GetBody, req.ContentLength = load.open(), load.again, int64(len(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	return p.do(req)
}

func (p *Provider) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	return p.do(req)
}

func (p *Provider) do(req *http.Request) (*http.Response, error) {
	if p.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+p.o.Key)
	}
	req.Header.Set("User-Agent", "bellhop")
	return p.client.Do(req)
}

// broken makes the error of a call that got no whole answer: the caller's own cause, a time-out, or the connection's.
func (p *Provider) broken(ctx context.Context, w *watch, err error) error {
	if ctx.Err() != nil {
		return &provider.Error{Kind: provider.Transport, Err: context.Cause(ctx)}
	}
	var s *silence
	if errors.As(context.Cause(w.ctx), &s) {
		return &provider.Error{Kind: provider.Transport, Text: p.o.Name + ": " + s.Error()}
	}
	return &provider.Error{Kind: provider.Transport, Text: p.o.Name, Err: p.scrub.cause(err)}
}

// refused makes the error of a status that is no success, and learns from it.
func (p *Provider) refused(ctx context.Context, w *watch, resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(w.reading(resp.Body, p.o.Gap), maxProblem))
	if err != nil && ctx.Err() != nil {
		return p.broken(ctx, w, err)
	}
	problem := readProblem(resp.StatusCode, body)
	if p.learn(problem) {
		return &provider.Error{Kind: provider.Transport, Code: resp.StatusCode,
			Text: p.o.Name + ": it does not take a field that the next call leaves out: " + p.scrub.text(problem.text)}
	}
	return p.failure(problem, resp.Header)
}

func (p *Provider) failure(f problem, h http.Header) *provider.Error {
	text := cmp.Or(p.scrub.text(f.text), f.code, f.typ, http.StatusText(f.status), "it failed without a word")
	return &provider.Error{Kind: f.kind(), Code: f.status, Text: p.o.Name + ": " + text, RetryAfter: retryAfter(h, time.Now())}
}

// learn remembers a field that the endpoint refuses. It reports whether the next call will differ.
func (p *Provider) learn(f problem) bool {
	if f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity {
		return false
	}
	switch {
	case strings.Contains(f.text, "stream_options"):
		return p.learned.noUsage.CompareAndSwap(false, true)
	case strings.Contains(f.text, "max_completion_tokens"):
		return p.learned.maxTokens.CompareAndSwap(false, true)
	}
	return false
}
