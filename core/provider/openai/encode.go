package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"bellhop/core"
	"bellhop/core/provider"
)

type wireRequest struct {
	Model               string         `json:"model"`
	Messages            []any          `json:"messages"` // *wireMessage or *wireEcho
	Tools               []wireTool     `json:"tools,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	User                string         `json:"user,omitempty"`
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireMessage struct {
	Role    string     `json:"role"`
	Content any        `json:"content"` // string, []wirePart, or nil for null
	Calls   []wireCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

// wireEcho is a message with its reasoning under the name that the endpoint wants.
type wireEcho struct {
	wireMessage
	field, text string
}

// MarshalJSON adds the field whose name is only known now. Messages without it do without this second pass.
func (m wireEcho) MarshalJSON() ([]byte, error) {
	b, err := marshal(m.wireMessage)
	if err != nil {
		return nil, err
	}
	extra, err := marshal(map[string]string{m.field: m.text})
	if err != nil {
		return nil, err
	}
	return append(append(b[:len(b)-1], ','), extra[1:]...), nil
}

type wirePart struct {
	Type     string     `json:"type"`
	Text     string     `json:"text,omitempty"`
	ImageURL *wireImage `json:"image_url,omitempty"`
}

type wireImage struct {
	URL string `json:"url"`
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireTool struct {
	Type     string      `json:"type"`
	Function wireAbility `json:"function"`
}

type wireAbility struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// encode writes the body of a call.
func (p *Provider) encode(r provider.Request) ([]byte, error) {
	w := wireRequest{Model: r.Model, Messages: p.messages(r), User: r.User, Stream: !r.NoStream}
	for _, t := range r.Tools {
		w.Tools = append(w.Tools, wireTool{"function", wireAbility{t.Name, t.About, t.Schema}})
	}
	if w.Stream && !p.learned.noUsage.Load() {
		w.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if p.learned.maxTokens.Load() {
		w.MaxTokens = r.MaxOutput
	} else {
		w.MaxCompletionTokens = r.MaxOutput
	}
	return marshal(w)
}

func (p *Provider) messages(r provider.Request) []any {
	out := make([]any, 0, len(r.Messages)+1)
	if r.System != "" {
		out = append(out, &wireMessage{Role: "system", Content: r.System})
	}
	var shown []provider.Image // pictures in tool results: only a user message can carry them, after the last result
	for i, m := range r.Messages {
		out = append(out, p.message(m))
		if m.Role != core.RoleTool {
			continue
		}
		shown = append(shown, m.Images...)
		if last := i+1 == len(r.Messages) || r.Messages[i+1].Role != core.RoleTool; last && len(shown) > 0 {
			out = append(out, &wireMessage{Role: "user", Content: content("[pictures from the tool results above]", shown)})
			shown = nil
		}
	}
	return out
}

func (p *Provider) message(m provider.Message) any {
	w := &wireMessage{Role: string(m.Role), Content: m.Text}
	switch m.Role {
	case core.RoleTool:
		w.CallID = m.CallID
	case core.RoleUser:
		if len(m.Images) > 0 {
			w.Content = content(m.Text, m.Images)
		}
	case core.RoleAssistant:
		for _, c := range m.Calls {
			w.Calls = append(w.Calls, wireCall{c.ID, "function", wireFunction{c.Name, written(c.Args)}})
		}
		if m.Text == "" && len(w.Calls) > 0 {
			w.Content = nil
		}
		if p.o.Echo != "" && m.Reasoning != "" {
			return &wireEcho{*w, p.o.Echo, m.Reasoning}
		}
	}
	return w
}

func content(text string, images []provider.Image) []wirePart {
	parts := make([]wirePart, 0, len(images)+1)
	if text != "" {
		parts = append(parts, wirePart{Type: "text", Text: text})
	}
	for _, i := range images {
		url := "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
		parts = append(parts, wirePart{Type: "image_url", ImageURL: &wireImage{url}})
	}
	return parts
}

// written returns arguments as the model wrote them: those that were no object are kept as a JSON string.
func written(args json.RawMessage) string {
	switch {
	case len(args) == 0:
		return "{}"
	case args[0] == '"':
		return unquote(args)
	}
	return string(args)
}

// marshal is json.Marshal without the escaping that is meant for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
