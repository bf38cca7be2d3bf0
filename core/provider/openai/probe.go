package openai

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"

	"bellhop/core"
	"bellhop/core/provider"
)

const maxList = 8 << 20 // bytes of a model list

// listed is a model as GET /models tells it. Only its id is of the vendor's description; each of the others is some
// server's name for the window.
type listed struct {
	ID               string `json:"id"`
	ContextLength    int    `json:"context_length"`     // OpenRouter, Together
	MaxModelLen      int    `json:"max_model_len"`      // vLLM
	ContextWindow    int    `json:"context_window"`     // Groq
	MaxContextLength int    `json:"max_context_length"` // Mistral, LM Studio
}

func (l listed) window() int {
	return max(l.ContextLength, l.MaxModelLen, l.ContextWindow, l.MaxContextLength)
}

// Probe implements provider.Provider. It lists the models; where an endpoint has no list it asks for one token of the
// model, and without a model it is content that the address answers.
func (p *Provider) Probe(ctx context.Context, model string) error {
	w := newWatch(ctx, p.o.FirstByte)
	defer w.stop()
	resp, err := p.get(w.ctx, "/models")
	if err != nil {
		return p.broken(ctx, w, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return p.probeCall(ctx, model)
	default:
		return p.refused(ctx, w, resp)
	}
	var list struct {
		Data []listed `json:"data"`
	}
	body, err := io.ReadAll(io.LimitReader(w.reading(resp.Body, p.o.Gap), maxList))
	if err != nil {
		return p.broken(ctx, w, err)
	}
	if json.Unmarshal(body, &list) != nil {
		return p.probeCall(ctx, model)
	}
	for _, m := range list.Data {
		if n := m.window(); n > 0 {
			p.windows.Store(m.ID, n)
		}
	}
	if model == "" || slices.ContainsFunc(list.Data, func(m listed) bool { return m.ID == model }) {
		return nil
	}
	return p.probeModel(ctx, w, model)
}

// probeModel asks for one model that the list does not show: lists may be partial, and names have aliases.
func (p *Provider) probeModel(ctx context.Context, w *watch, model string) error {
	resp, err := p.get(w.ctx, "/models/"+url.PathEscape(model))
	if err != nil {
		return p.broken(ctx, w, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound:
		return &provider.Error{Kind: provider.NoModel, Code: resp.StatusCode, Text: p.o.Name + ": it has no model of this name"}
	}
	return p.refused(ctx, w, resp)
}

func (p *Provider) probeCall(ctx context.Context, model string) error {
	if model == "" {
		return nil
	}
	hello := provider.Request{Model: model, MaxOutput: 1, NoStream: true,
		Messages: []provider.Message{{Role: core.RoleUser, Text: "Hi"}}}
	for _, err := range p.Stream(ctx, hello) {
		if err != nil {
			return err
		}
	}
	return nil
}
