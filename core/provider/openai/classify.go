package openai

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"bellhop/core/provider"
)

// problem is an endpoint's error, in whichever shape it came.
type problem struct {
	status          int
	code, typ, text string
}

// clue tells a kind by words of an endpoint: its error code or type exactly, or a part of its text, in lower case.
type clue struct {
	kind provider.ErrorKind
	code []string
	text []string
}

// clues are tried in order, before the status. The texts are those of OpenAI, Azure, OpenRouter, vLLM, llama.cpp, Ollama,
// LM Studio, TGI, Mistral, Groq, Gemini, xAI, Bedrock and Anthropic behind compatible doors.
var clues = []clue{
	{kind: provider.NoStream, text: []string{"not support stream", "streaming is not supported", "stream is not supported",
		"streaming not supported", "doesn't support stream", "'stream' does not support true"}},
	{kind: provider.Overflow, code: []string{"context_length_exceeded", "exceed_context_size_error", "string_above_max_length",
		"request_too_large"},
		text: []string{"maximum context length", "context window", "context length exceeded", "exceeds the available context size",
			"exceeds maximum context length", "exceeded max context length", "exceed context limit", "maximum prompt length",
			"prompt is too long", "prompt too long", "input is too long", "too long to fit into the model",
			"longer than the maximum model length", "exceeds the maximum number of tokens", "exceeds max length",
			"when context the overflows", "when the context overflows", "context shift is disabled",
			"input is too large to process", "reduce the length of the messages", "`inputs` tokens + `max_new_tokens`",
			"request too large for", "input or output tokens must be reduced", "too many tokens in the prompt"}},
	{kind: provider.RateLimited, text: []string{"please retry in", "please try again in"}},
	{kind: provider.Quota, code: []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
		"insufficient_balance", "payment_required"},
		text: []string{"insufficient credits", "insufficient balance", "credit balance is too low", "requires more credits",
			"exceeded your current quota", "insufficient_quota"}},
	{kind: provider.NoModel, code: []string{"model_not_found", "model_not_available", "model_decommissioned", "unknown_model"},
		text: []string{"not a valid model id", "no such model", "unknown model", "invalid model name", "model_not_found"}},
	{kind: provider.Filtered, code: []string{"content_filter", "content_policy_violation", "moderation_blocked"},
		text: []string{"content management policy", "flagged by", "requires moderation", "content policy"}},
	{kind: provider.Auth, code: []string{"invalid_api_key", "authentication_error", "permission_denied", "invalid_authentication"},
		text: []string{"api key not valid", "invalid api key", "incorrect api key", "no auth credentials"}},
	{kind: provider.RateLimited, code: []string{"rate_limit_exceeded", "rate_limit_error", "slow_down", "too_many_requests"}},
	{kind: provider.Overloaded, code: []string{"server_is_overloaded", "overloaded_error", "server_error", "internal_error"}},
}

func (c clue) fits(p problem, text string) bool {
	for _, code := range c.code {
		if p.code == code || p.typ == code {
			return true
		}
	}
	for _, t := range c.text {
		if strings.Contains(text, t) {
			return true
		}
	}
	return false
}

// kind classifies a problem: by its words, then by its status.
func (p problem) kind() provider.ErrorKind {
	text := strings.ToLower(p.text)
	for _, c := range clues {
		if c.fits(p, text) {
			return c.kind
		}
	}
	if strings.Contains(text, "model") && (strings.Contains(text, "not found") || strings.Contains(text, "does not exist")) {
		return provider.NoModel
	}
	switch s := p.status; {
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		return provider.Auth
	case s == http.StatusPaymentRequired:
		return provider.Quota
	case s == http.StatusTooManyRequests:
		return provider.RateLimited
	case s == http.StatusRequestEntityTooLarge:
		return provider.Overflow
	case s == http.StatusRequestTimeout:
		return provider.Transport
	case s == http.StatusConflict, s == http.StatusTooEarly, s >= 500:
		return provider.Overloaded
	case s >= 300, p.typ == "invalid_request_error":
		return provider.BadRequest
	}
	return provider.Overloaded // an error object inside a stream, without a word that tells more
}

// readProblem finds an endpoint's words in an error body or an error event.
func readProblem(status int, body []byte) problem {
	p := problem{status: status}
	var list []json.RawMessage // Gemini's door wraps its error in a list
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	c, err := decode(body)
	if err != nil {
		return p // a proxy's HTML page says nothing that the status does not
	}
	switch {
	case isSet(c.Error):
		p.read(c.Error)
	case isSet(c.Message):
		p.read(body)
	case isSet(c.Detail):
		p.text = words(c.Detail)
	default:
		for _, ch := range c.Choices {
			if isSet(ch.Error) {
				p.read(ch.Error)
				break
			}
		}
	}
	return p
}

// read takes an error value: an object, or a bare string. A numeric code is a status.
func (p *problem) read(raw json.RawMessage) {
	var o struct {
		Message  json.RawMessage `json:"message"`
		Code     json.RawMessage `json:"code"`
		Type     string          `json:"type"`
		Metadata struct {
			Raw string `json:"raw"` // OpenRouter: what the endpoint behind it said
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &o) != nil && o.Message == nil && o.Code == nil {
		p.text = words(raw)
		return
	}
	p.typ = o.Type
	p.text = words(o.Message)
	if o.Metadata.Raw != "" {
		p.text += ": " + o.Metadata.Raw
	}
	if isSet(o.Code) {
		p.code = strings.Trim(string(o.Code), `"`)
	}
	if n, err := strconv.Atoi(p.code); err == nil && n >= 400 && n < 600 && p.status < 400 {
		p.status = n
	}
}

// words makes text of a value: a string as it is, anything else as its JSON.
func words(raw json.RawMessage) string {
	if !isSet(raw) {
		return ""
	}
	if raw[0] == '"' {
		return unquote(raw)
	}
	return string(raw)
}
