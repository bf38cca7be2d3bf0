package prompt

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"bellhop/core"
	"bellhop/core/provider"
)

// What the model reads where something is missing.
const (
	unknownResult = "[interrupted; outcome unknown: check before repeating this action]"
	noOutput      = "(no output)"
	noMessage     = "(no message)"
	interrupted   = "[interrupted by a new message]"
	earlier       = "[the conversation began earlier]"
)

// maxPictures is how many pictures a request carries, the newest; older ones become notes.
const maxPictures = 8

// WireOptions configure a wire copy.
type WireOptions struct {
	Model     string
	MaxOutput int // tokens
	User      string
	Tools     []provider.Tool
	Reasoning bool // keep the reasoning of assistant messages
	Alternate bool // the endpoint wants roles to alternate
	// Image returns the picture of an attachment. nil, for a model without vision, or false leaves a note in its place.
	Image func(core.Attachment) (provider.Image, bool)
}

// Wire makes the wire copy of a transcript: a request that endpoints accept, whatever the rows are. The rows are not
// changed; arguments of calls are shared with them.
func Wire(system string, history []core.Message, o WireOptions) provider.Request {
	c := copier{o: o, pictures: maxPictures, out: make([]provider.Message, 0, len(history)+1)}
	results := pair(history)
	skip := c.tooOld(history)
	for i := range history {
		m := &history[i]
		if m.Superseded {
			continue
		}
		switch m.Role {
		case core.RoleUser:
			c.user(m, i < skip)
		case core.RoleAssistant:
			c.assistant(m, results[i])
		}
	}
	if len(c.out) == 0 {
		c.out = append(c.out, provider.Message{Role: core.RoleUser, Text: noMessage})
	}
	if o.Alternate {
		c.out = alternate(c.out)
	}
	return provider.Request{Model: o.Model, System: clean(system), Messages: c.out, Tools: o.Tools, MaxOutput: o.MaxOutput,
		User: o.User}
}

type copier struct {
	o        WireOptions
	pictures int
	out      []provider.Message
}

// tooOld returns the first row from which on pictures are shown.
func (c *copier) tooOld(history []core.Message) int {
	if c.o.Image == nil {
		return len(history)
	}
	for i := len(history) - 1; i >= 0; i-- {
		for _, a := range history[i].Attachment {
			if picture(a) {
				c.pictures--
			}
		}
		if c.pictures < 0 {
			return i + 1
		}
	}
	return 0
}

// said is the text of a row as the model gets it.
func said(m *core.Message) string {
	if m.APIContent != "" {
		return clean(m.APIContent)
	}
	return clean(m.Content)
}

func (c *copier) user(m *core.Message, blind bool) {
	out := provider.Message{Role: core.RoleUser, Text: said(m)}
	for _, a := range m.Attachment {
		if !picture(a) {
			continue // APIText told of it
		}
		if !blind && c.o.Image != nil {
			if img, ok := c.o.Image(a); ok {
				out.Images = append(out.Images, img)
				continue
			}
		}
		out.Text = joined(out.Text, "\n", note(a))
	}
	if out.Text != "" || len(out.Images) > 0 {
		c.out = append(c.out, out)
	}
}

// assistant copies a row of the model and puts the results of its calls right behind it.
func (c *copier) assistant(m *core.Message, results []*core.Message) {
	out := provider.Message{Role: core.RoleAssistant, Text: said(m)}
	if c.o.Reasoning {
		out.Reasoning = clean(m.Reasoning)
	}
	if strings.TrimSpace(out.Text) == "" {
		out.Text = ""
	}
	if len(m.Calls) > 0 {
		out.Calls = legalCalls(m.Calls)
	}
	if out.Text == "" && len(out.Calls) == 0 {
		return
	}
	c.out = append(c.out, out)
	for i, call := range out.Calls {
		text := unknownResult
		if r := results[i]; r != nil {
			if text = said(r); text == "" {
				text = noOutput
			}
		}
		c.out = append(c.out, provider.Message{Role: core.RoleTool, CallID: call.ID, Text: text})
	}
}

// pair finds the result of every call: for each assistant row, one entry a call, nil where there is none. A result belongs
// to the newest call of its id before it. Of several results of one call a real one comes before one that we made up, and
// otherwise the first.
func pair(history []core.Message) map[int][]*core.Message {
	type slot struct{ row, place int }
	results := make(map[int][]*core.Message)
	open := make(map[string]slot)
	for i := range history {
		m := &history[i]
		switch {
		case m.Superseded:
		case m.Role == core.RoleAssistant && len(m.Calls) > 0:
			results[i] = make([]*core.Message, len(m.Calls))
			for place := len(m.Calls) - 1; place >= 0; place-- { // of doubled ids the first gets the result
				open[m.Calls[place].ID] = slot{i, place}
			}
		case m.Role == core.RoleTool:
			s, ok := open[m.CallID]
			if !ok {
				continue
			}
			if had := results[s.row][s.place]; had == nil || had.Synthetic && !m.Synthetic {
				results[s.row][s.place] = m
			}
		}
	}
	return results
}

// legalCalls gives calls a form that every endpoint takes: ids that are there and differ, names of allowed characters,
// arguments that are an object. Most calls come back as they are.
func legalCalls(calls []core.ToolCall) []core.ToolCall {
	out := make([]core.ToolCall, len(calls))
	seen := make(map[string]bool, len(calls))
	for i, c := range calls {
		id := clean(c.ID)
		if id == "" {
			id = "call"
		}
		for n, base := 2, id; seen[id]; n++ {
			id = base + "_" + strconv.Itoa(n)
		}
		seen[id] = true
		out[i] = core.ToolCall{ID: id, Name: legalName(c.Name), Args: legalArgs(c.Args)}
	}
	return out
}

func legalName(name string) string {
	ok := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	const most = 64
	legal := len(name) <= most && name != "" && strings.IndexFunc(name, func(r rune) bool { return !ok(r) }) < 0
	if legal {
		return name
	}
	name = strings.Map(func(r rune) rune {
		if ok(r) {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), most)] // of one-byte characters only
}

// legalArgs wraps what is no object: endpoints that parse the arguments of old calls refuse the whole request for one.
func legalArgs(args json.RawMessage) json.RawMessage {
	args = bytes.TrimSpace(args)
	if len(args) > 0 && args[0] == '{' && json.Valid(args) {
		if utf8.Valid(args) {
			return args
		}
		return bytes.ToValidUTF8(args, []byte("\uFFFD"))
	}
	if len(args) == 0 {
		return json.RawMessage(`{}`)
	}
	text := string(args)
	var s string
	if json.Unmarshal(args, &s) == nil {
		text = s
	}
	wrapped, err := json.Marshal(map[string]string{"unreadable_arguments": clean(text)})
	if err != nil { // a map of strings always has a JSON form
		return json.RawMessage(`{}`)
	}
	return wrapped
}

func joined(a, sep, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}
