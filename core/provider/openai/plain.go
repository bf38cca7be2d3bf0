package openai

import (
	"bytes"
	"unicode/utf8"
)

// plain reads the chunk that a stream mostly consists of: one choice, one piece of text or of reasoning, nothing else.
// ok is false for any chunk that is more than that, or whose strings hold escapes beyond the simple ones; such a chunk is
// decoded in full instead. It never guesses: whatever it accepts, a full decode reads the same (FuzzPlain).
func plain(data []byte) (text, reasoning string, ok bool) {
	c := cursor{b: data}
	var p piece
	found := false
	ok = c.object(func(key []byte) bool {
		switch string(key) {
		case "choices":
			if found {
				return false
			}
			found = true
			return c.one(&p)
		case "id", "created", "model", "system_fingerprint", "service_tier", "obfuscation", "provider":
			return c.skip()
		case "object":
			return c.chunkName()
		}
		return c.null()
	})
	c.blank()
	return p.text, p.reasoning, ok && found && c.i == len(c.b)
}

type piece struct{ text, reasoning string }

// one reads the value of choices when it has exactly one element.
func (c *cursor) one(p *piece) bool {
	if !c.take('[') {
		return false
	}
	deltas := 0
	ok := c.object(func(key []byte) bool {
		switch string(key) {
		case "index":
			return c.zero()
		case "delta":
			deltas++
			return c.delta(p)
		case "logprobs", "finish_reason", "native_finish_reason", "stop_reason":
			return c.null()
		}
		return false
	})
	return ok && deltas == 1 && c.take(']')
}

func (c *cursor) delta(p *piece) bool {
	contents, reasonings := 0, 0
	ok := c.object(func(key []byte) (ok bool) {
		switch string(key) {
		case "role":
			return c.skip()
		case "content":
			if c.null() {
				return true
			}
			contents++
			p.text, ok = c.text()
			return ok
		case "reasoning_content", "reasoning":
			if c.null() {
				return true
			}
			reasonings++
			p.reasoning, ok = c.text()
			return ok
		}
		return c.null()
	})
	return ok && contents <= 1 && reasonings <= 1
}

// cursor walks over JSON. Its methods report whether what they look for is there, and stand behind it if so.
type cursor struct {
	b []byte
	i int
}

func (c *cursor) blank() {
	for c.i < len(c.b) && (c.b[c.i] == ' ' || c.b[c.i] == '\n' || c.b[c.i] == '\t' || c.b[c.i] == '\r') {
		c.i++
	}
}

func (c *cursor) take(x byte) bool {
	c.blank()
	if c.i < len(c.b) && c.b[c.i] == x {
		c.i++
		return true
	}
	return false
}

func (c *cursor) word(w string) bool {
	c.blank()
	if bytes.HasPrefix(c.b[c.i:], []byte(w)) {
		c.i += len(w)
		return true
	}
	return false
}

func (c *cursor) null() bool { return c.word("null") }

func (c *cursor) digit() bool {
	return c.i < len(c.b) && (c.b[c.i] >= '0' && c.b[c.i] <= '9' || c.b[c.i] == '.' || c.b[c.i]|0x20 == 'e')
}

// chunkName accepts the object type of a chunk, so that a bare error object never passes for one.
func (c *cursor) chunkName() bool {
	s, ok := c.raw()
	return ok && string(s) == "chat.completion.chunk"
}

// object reads an object, calling value after each key. Keys with escapes are refused.
func (c *cursor) object(value func(key []byte) bool) bool {
	if !c.take('{') {
		return false
	}
	if c.take('}') {
		return true
	}
	for {
		key, ok := c.raw()
		if !ok || bytes.IndexByte(key, '\\') >= 0 || !c.take(':') || !value(key) {
			return false
		}
		if c.take('}') {
			return true
		}
		if !c.take(',') {
			return false
		}
	}
}

// raw reads a string and returns what stands between the quotes.
func (c *cursor) raw() ([]byte, bool) {
	if !c.take('"') {
		return nil, false
	}
	start := c.i
	for ; c.i < len(c.b); c.i++ {
		switch x := c.b[c.i]; {
		case x == '"':
			c.i++
			return c.b[start : c.i-1], true
		case x == '\\':
			c.i++
		case x < ' ':
			return nil, false
		}
	}
	return nil, false
}

// text reads a string and decodes the simple escapes.
func (c *cursor) text() (string, bool) {
	raw, ok := c.raw()
	if !ok || !utf8.Valid(raw) {
		return "", false
	}
	n := bytes.IndexByte(raw, '\\')
	if n < 0 {
		return string(raw), true
	}
	out := make([]byte, n, len(raw))
	copy(out, raw)
	for i := n; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++
		switch raw[i] {
		case '"', '\\', '/':
			out = append(out, raw[i])
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		default:
			return "", false
		}
	}
	return string(out), true
}

// skip passes over a value that nobody looks at: a string without escapes, a plain number, a word.
func (c *cursor) skip() bool {
	c.blank()
	if c.i == len(c.b) {
		return false
	}
	switch x := c.b[c.i]; {
	case x == '"':
		s, ok := c.raw()
		return ok && bytes.IndexByte(s, '\\') < 0
	case x >= '1' && x <= '9':
		for c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
			c.i++
		}
		return !c.digit()
	}
	return c.null() || c.word("true") || c.word("false") || c.zero()
}

func (c *cursor) zero() bool { return c.take('0') && !c.digit() }
