package prompt

import (
	"bellhop/core"
	"bellhop/core/provider"
)

// alternate makes the person and the model take turns: neighbours of one role merge, the person begins, and the model
// speaks between a tool result and the person.
func alternate(in []provider.Message) []provider.Message {
	out := make([]provider.Message, 0, len(in)+2)
	for _, m := range in {
		if len(out) == 0 {
			if m.Role != core.RoleUser {
				out = append(out, provider.Message{Role: core.RoleUser, Text: earlier})
			}
			out = append(out, m)
			continue
		}
		switch last := &out[len(out)-1]; {
		case m.Role == last.Role && m.Role != core.RoleTool:
			merge(last, m)
		case last.Role == core.RoleTool && m.Role == core.RoleUser:
			out = append(out, provider.Message{Role: core.RoleAssistant, Text: interrupted}, m)
		default:
			out = append(out, m)
		}
	}
	return out
}

// merge appends m to a message of the same role. One of the model with calls is always followed by results, so that last
// has none.
func merge(last *provider.Message, m provider.Message) {
	last.Text = joined(last.Text, "\n\n", m.Text)
	last.Reasoning = joined(last.Reasoning, "\n\n", m.Reasoning)
	last.Images = append(last.Images[:len(last.Images):len(last.Images)], m.Images...)
	last.Calls = m.Calls
}
