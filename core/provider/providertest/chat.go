package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/provider"
)

// chat is the chat completions wire form.
type chat struct{}

type chatRequest struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	MaxCompletionTokens int    `json:"max_completion_tokens"`
	MaxTokens           int    `json:"max_tokens"`
	User                string `json:"user"`
	Stream              bool   `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Reasoning  string          `json:"reasoning_content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (chat) read(r *http.Request, body []byte) (*Request, *refusal) {
	malformed := func(text string) (*Request, *refusal) {
		return nil, &refusal{status: 400, typ: "invalid_request_error", text: text}
	}
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return nil, &refusal{status: 404, typ: "invalid_request_error", text: "Unknown request URL: " + r.URL.Path}
	}
	if ct := r.Header.Get("Content-Type"); !strings.HasPrefix(ct, "application/json") {
		return malformed("unexpected Content-Type " + ct)
	}
	if err := chatDigest.Check("CreateChatCompletionRequest", body); err != nil {
		return malformed(err.Error())
	}
	var c chatRequest
	if err := json.Unmarshal(body, &c); err != nil {
		return malformed(err.Error())
	}
	if c.StreamOptions != nil && !c.Stream {
		return malformed("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	return c.neutral(body), nil
}

// neutral is the call without its wire form.
func (c *chatRequest) neutral(body []byte) *Request {
	r := &Request{Body: body, Stream: c.Stream, Usage: c.StreamOptions != nil && c.StreamOptions.IncludeUsage}
	r.Model, r.User, r.MaxOutput, r.NoStream = c.Model, c.User, max(c.MaxCompletionTokens, c.MaxTokens), !c.Stream
	for _, t := range c.Tools {
		r.Tools = append(r.Tools, provider.Tool{Name: t.Function.Name, About: t.Function.Description, Schema: t.Function.Parameters})
	}
	for i, m := range c.Messages {
		if i == 0 && (m.Role == "system" || m.Role == "developer") {
			r.System, _ = chatContent(m.Content)
			continue
		}
		out := provider.Message{Role: core.Role(m.Role), Reasoning: m.Reasoning, CallID: m.ToolCallID}
		out.Text, out.Images = chatContent(m.Content)
		for _, t := range m.ToolCalls {
			out.Calls = append(out.Calls, core.ToolCall{ID: t.ID, Name: t.Function.Name, Args: json.RawMessage(t.Function.Arguments)})
		}
		r.Messages = append(r.Messages, out)
	}
	return r
}

func chatContent(raw json.RawMessage) (text string, images []provider.Image) {
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Text     string `json:"text"`
		ImageURL *struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", nil
	}
	for _, p := range parts {
		text += p.Text
		if p.ImageURL == nil {
			continue
		}
		head, data, _ := strings.Cut(strings.TrimPrefix(p.ImageURL.URL, "data:"), ";base64,")
		b, err := base64.StdEncoding.DecodeString(data)
		if err == nil {
			images = append(images, provider.Image{MIME: head, Data: b})
		}
	}
	return text, images
}

func (chat) refuse(w http.ResponseWriter, f refusal) {
	for k, v := range f.header {
		w.Header()[k] = v
	}
	writeJSON(w, f.status, obj{"error": obj{"message": f.text, "type": f.typ, "param": nil, "code": orNull(f.code)}})
}

func (chat) models(w http.ResponseWriter, ids []string, one string) {
	row := func(id string) obj {
		return obj{"id": id, "object": "model", "created": 1790000000, "owned_by": "test"}
	}
	if one != "" {
		writeJSON(w, 200, row(one))
		return
	}
	list := make([]obj, 0, len(ids))
	for _, id := range ids {
		list = append(list, row(id))
	}
	writeJSON(w, 200, obj{"object": "list", "data": list})
}

type obj = map[string]any

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v))
}

// encode writes JSON as the real endpoint does, without escapes for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a map of plain values always has a JSON form
	}
	return bytes.TrimSpace(b.Bytes())
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// play writes a reply, as a stream or at once.
func (chat) play(w http.ResponseWriter, r *http.Request, req *Request, reply Reply) {
	if len(reply) > 0 && reply[0].op == opRefuse {
		f := reply[0]
		chat{}.refuse(w, refusal{status: f.status, code: f.code, typ: "error", text: f.pieces[0], header: f.header})
		return
	}
	p := &chatPlayer{w: w, flush: http.NewResponseController(w), ctx: r.Context(), req: req}
	for _, s := range reply {
		if over := p.step(s); over {
			return
		}
	}
	p.end()
}

func pause(done <-chan struct{}, d time.Duration) (over bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return false
	case <-done:
		return true
	}
}
