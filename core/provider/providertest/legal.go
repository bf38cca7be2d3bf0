package providertest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"bellhop/core"
	"bellhop/core/provider"
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Legal checks a request as the strictest of the endpoints do: every call has exactly one result, in the messages right
// after it, and every result has its call; ids and names are there; nothing is empty; all text is valid UTF-8.
func Legal(r provider.Request) error {
	if r.Model == "" {
		return fmt.Errorf("you must provide a model parameter")
	}
	if len(r.Messages) == 0 {
		return fmt.Errorf("messages: too short: it needs at least one")
	}
	if !utf8.ValidString(r.System) {
		return fmt.Errorf("the system prompt is not valid UTF-8")
	}
	for i, t := range r.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if !toolName.MatchString(t.Name) {
			return fmt.Errorf("tools[%d].function.name: %q does not match %s", i, t.Name, toolName)
		}
		if len(t.Schema) > 0 && (json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object") {
			return fmt.Errorf("tools[%d].function.parameters: schema must have type object", i)
		}
	}
	return pairing(r.Messages)
}

func pairing(list []provider.Message) error {
	open := map[string]bool{} // calls that wait for their results
	for i, m := range list {
		if m.Role != core.RoleTool && len(open) > 0 {
			return fmt.Errorf("messages[%d]: an assistant message with tool_calls must be followed by tool messages "+
				"responding to each tool_call_id; %d did not have response messages", i, len(open))
		}
		if err := single(m, open); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("tool_call_ids at the end did not have response messages: %d", len(open))
	}
	return nil
}

func single(m provider.Message, open map[string]bool) error {
	if !utf8.ValidString(m.Text) || !utf8.ValidString(m.Reasoning) {
		return fmt.Errorf("content is not valid UTF-8")
	}
	switch m.Role {
	case core.RoleUser:
		if m.Text == "" && len(m.Images) == 0 {
			return fmt.Errorf("user content must not be empty")
		}
	case core.RoleAssistant:
		if m.Text == "" && len(m.Calls) == 0 {
			return fmt.Errorf("assistant message must have either content or tool_calls, but not none")
		}
		for _, c := range m.Calls {
			switch {
			case c.ID == "":
				return fmt.Errorf("a tool call without an id")
			case open[c.ID]:
				return fmt.Errorf("duplicate tool call id %q", c.ID)
			case !toolName.MatchString(c.Name):
				return fmt.Errorf("tool call name %q does not match %s", c.Name, toolName)
			case !object(c.Args):
				return fmt.Errorf("arguments of %q are not a JSON object", c.ID)
			}
			open[c.ID] = true
		}
	case core.RoleTool:
		if !open[m.CallID] {
			return fmt.Errorf("role 'tool' must be a response to a preceding message with 'tool_calls': %q", m.CallID)
		}
		delete(open, m.CallID)
	default:
		return fmt.Errorf("invalid role %q", m.Role)
	}
	return nil
}

func object(raw json.RawMessage) bool {
	var o map[string]json.RawMessage
	return utf8.Valid(raw) && json.Unmarshal(raw, &o) == nil && o != nil
}

// Alternates checks what some endpoints demand on top: the person begins, and then they take turns; tool results stand
// between two messages of the model.
func Alternates(r provider.Request) error {
	for i, m := range r.Messages {
		switch {
		case i == 0 && m.Role != core.RoleUser:
		case i > 0 && m.Role != core.RoleTool && m.Role == r.Messages[i-1].Role:
		case i > 0 && m.Role == core.RoleUser && r.Messages[i-1].Role == core.RoleTool:
		default:
			continue
		}
		return fmt.Errorf("messages[%d]: conversation roles must alternate user/assistant/user/assistant", i)
	}
	return nil
}
