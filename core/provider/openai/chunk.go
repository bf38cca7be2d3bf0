package openai

import (
	"encoding/json"
	"errors"
	"strings"

	"bellhop/core"
)

// chunk is one event of a stream, and also a whole reply: that one has a message where a chunk has a delta. Error shapes
// of the different servers stand at its top level.
type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type choice struct {
	Index        int             `json:"index"`
	Delta        delta           `json:"delta"`
	Message      *delta          `json:"message"`
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
}

// delta holds every dialect's fields. Content is a string, or a list of typed parts.
type delta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
	ReasoningDetails []detail        `json:"reasoning_details"`
	ToolCalls        []callDelta     `json:"tool_calls"`
	FunctionCall     *functionDelta  `json:"function_call"`
}

type detail struct {
	Text    string `json:"text"`
	Summary string `json:"summary"`
}

type callDelta struct {
	Index    *int          `json:"index"`
	ID       string        `json:"id"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a string, or the object itself
}

type usage struct {
	Prompt        int     `json:"prompt_tokens"`
	Completion    int     `json:"completion_tokens"`
	Cost          float64 `json:"cost"`
	CacheHit      int     `json:"prompt_cache_hit_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
		Write  int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *usage) core() core.Usage {
	return core.Usage{
		Calls: 1, Input: u.Prompt, Output: u.Completion, Cost: u.Cost,
		CacheRead: max(u.PromptDetails.Cached, u.CacheHit), CacheWrite: u.PromptDetails.Write,
		Reasoning: u.CompletionDetails.Reasoning,
	}
}

var errNotJSON = errors.New("the endpoint's answer is not JSON")

// decode reads a chunk. A field of an unexpected type is as good as absent: endpoints invent such things all the time.
func decode(data []byte) (*chunk, error) {
	c := new(chunk)
	err := json.Unmarshal(data, c)
	var mismatch *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &mismatch) {
		return nil, errNotJSON
	}
	return c, nil
}

// failure returns the chunk when it reports an error instead of a piece of the reply.
func (c *chunk) failure() bool {
	return isSet(c.Error) || c.Object == "error" || len(c.Choices) == 0 && (isSet(c.Detail) || isSet(c.Message))
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// thought returns the reasoning in whichever field it came; servers in transition fill two of them with the same text.
func (d *delta) thought() string {
	switch {
	case d.ReasoningContent != "":
		return d.ReasoningContent
	case d.Reasoning != "" || len(d.ReasoningDetails) == 0:
		return d.Reasoning
	}
	var b strings.Builder
	for _, r := range d.ReasoningDetails {
		b.WriteString(r.Text)
		b.WriteString(r.Summary)
	}
	return b.String()
}

// said returns the visible text, and reasoning that came as a typed part of the content.
func (d *delta) said() (text, thought string) {
	switch {
	case !isSet(d.Content):
		return d.Refusal, ""
	case d.Content[0] == '"':
		return unquote(d.Content) + d.Refusal, ""
	}
	text, thought = parts(d.Content, false)
	return text + d.Refusal, thought
}

// parts flattens a list of typed parts: {"type":"text","text":…}, {"type":"thinking","thinking":[…] or "…"}.
func parts(raw json.RawMessage, hidden bool) (text, thought string) {
	var list []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return "", ""
	}
	for _, p := range list {
		switch {
		case hidden:
			thought += p.Text
		case p.Type != "thinking":
			text += p.Text
		case isSet(p.Thinking) && p.Thinking[0] == '"':
			thought += unquote(p.Thinking)
		default:
			_, deep := parts(p.Thinking, true)
			thought += deep
		}
	}
	return text, thought
}

// unquote decodes a JSON string that was found by the decoder, and is therefore valid.
func unquote(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
