package telegramtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Entity is a stretch of formatted text; offset and length are in UTF-16 units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
	User     any    `json:"user,omitempty"`
}

// htmlTags are the tags of the HTML mode, with the entity each makes.
var htmlTags = map[string]string{"a": "text_link", "b": "bold", "strong": "bold", "i": "italic", "em": "italic",
	"u": "underline", "ins": "underline", "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough",
	"code": "code", "pre": "pre", "blockquote": "blockquote", "span": "spoiler", "tg-spoiler": "spoiler",
	"tg-emoji": "custom_emoji", "tg-time": "date_time"}

// parser reads text of the HTML mode. Its complaints are the real server's, with byte offsets.
type parser struct {
	in       string
	i        int
	out      strings.Builder
	units    int // of out
	open     []tag
	entities []Entity
}

type tag struct {
	name, arg string
	begin     int // UTF-16
}

// ParseHTML reads text of the HTML mode: what is shown, and how it is formatted. Its errors are the real server's
// sentences.
func ParseHTML(text string) (string, []Entity, error) {
	p := &parser{in: text}
	for p.i < len(p.in) {
		var err error
		switch p.in[p.i] {
		case '<':
			if strings.HasPrefix(p.in[p.i:], "</") {
				err = p.endTag()
			} else {
				err = p.startTag()
			}
		case '&':
			p.reference()
		default:
			r, n := utf8.DecodeRuneInString(p.in[p.i:])
			p.write(r)
			p.i += n
		}
		if err != nil {
			return "", nil, err
		}
	}
	if n := len(p.open); n > 0 {
		return "", nil, fmt.Errorf("can't find end tag corresponding to start tag %q", p.open[n-1].name)
	}
	slices.SortStableFunc(p.entities, func(a, b Entity) int {
		if a.Offset != b.Offset {
			return a.Offset - b.Offset
		}
		return b.Length - a.Length
	})
	return p.out.String(), p.entities, nil
}

func (p *parser) write(r rune) {
	p.out.WriteRune(r)
	p.units++
	if r > 0xffff {
		p.units++
	}
}

func (p *parser) reference() {
	r, n := decodeReference(p.in[p.i:])
	if n == 0 {
		r, n = '&', 1
	}
	p.write(r)
	p.i += n
}

var named = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"'}

// decodeReference reads &lt; or &#60; and returns how many bytes it takes, 0 when it is none.
func decodeReference(s string) (rune, int) {
	end := strings.IndexByte(s, ';')
	if end < 2 || end > 12 {
		return 0, 0
	}
	name := s[1:end]
	if r, ok := named[name]; ok {
		return r, end + 1
	}
	num, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0, 0
	}
	base := 10
	if hex, ok := strings.CutPrefix(strings.ToLower(num), "x"); ok {
		num, base = hex, 16
	}
	n, err := strconv.ParseUint(num, base, 32)
	if err != nil || n == 0 || n > utf8.MaxRune {
		return 0, 0
	}
	return rune(n), end + 1
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (p *parser) until(stop func(byte) bool) string {
	begin := p.i
	for p.i < len(p.in) && !stop(p.in[p.i]) {
		p.i++
	}
	return p.in[begin:p.i]
}

func (p *parser) skipSpace() { p.until(func(c byte) bool { return !space(c) }) }

func (p *parser) startTag() error {
	begin := p.i
	p.i++
	name := strings.ToLower(p.until(func(c byte) bool { return space(c) || c == '>' }))
	if p.i == len(p.in) {
		return fmt.Errorf("unclosed start tag at byte offset %d", begin)
	}
	if htmlTags[name] == "" {
		return fmt.Errorf("unsupported start tag %q at byte offset %d", name, begin)
	}
	t := tag{name: name, begin: p.units}
	for {
		p.skipSpace()
		if p.i < len(p.in) && p.in[p.i] == '>' {
			break
		}
		if err := p.attribute(&t, begin); err != nil {
			return err
		}
	}
	p.i++
	if name == "span" && t.arg != "spoiler" {
		return fmt.Errorf("tag \"span\" must have class \"tg-spoiler\" at byte offset %d", begin)
	}
	p.open = append(p.open, t)
	return nil
}

func (p *parser) attribute(t *tag, begin int) error {
	key := p.until(func(c byte) bool { return space(c) || c == '=' || c == '>' })
	if key == "" {
		return fmt.Errorf("empty attribute name in the tag %q at byte offset %d", t.name, begin)
	}
	p.skipSpace()
	if p.i < len(p.in) && p.in[p.i] != '=' && t.name == "blockquote" && key == "expandable" {
		t.arg = key
		return nil
	}
	if p.i == len(p.in) || p.in[p.i] != '=' {
		return fmt.Errorf("expected equal sign in declaration of an attribute of the tag %q at byte offset %d", t.name, begin)
	}
	p.i++
	p.skipSpace()
	value, err := p.value(begin)
	if err != nil {
		return err
	}
	switch {
	case t.name == "a" && key == "href":
		t.arg = value
	case t.name == "code" && key == "class":
		t.arg, _ = strings.CutPrefix(value, "language-")
	case t.name == "span" && key == "class":
		t.arg, _ = strings.CutPrefix(value, "tg-")
	}
	return nil
}

func (p *parser) value(begin int) (string, error) {
	if p.i == len(p.in) {
		return "", fmt.Errorf("unclosed start tag at byte offset %d", begin)
	}
	quote := p.in[p.i]
	if quote != '"' && quote != '\'' {
		at := p.i
		v := p.until(func(c byte) bool { return space(c) || c == '>' })
		if strings.Trim(strings.ToLower(v), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
			return "", fmt.Errorf("unexpected end of name token at byte offset %d", at)
		}
		return strings.ToLower(v), nil
	}
	p.i++
	raw := p.until(func(c byte) bool { return c == quote })
	if p.i == len(p.in) {
		return "", fmt.Errorf("unclosed start tag at byte offset %d", begin)
	}
	p.i++
	var b strings.Builder
	for j := 0; j < len(raw); {
		if r, n := decodeReference(raw[j:]); raw[j] == '&' && n > 0 {
			b.WriteRune(r)
			j += n
			continue
		}
		b.WriteByte(raw[j])
		j++
	}
	return b.String(), nil
}

func (p *parser) endTag() error {
	begin := p.i
	p.i += 2
	name := strings.ToLower(p.until(func(c byte) bool { return space(c) || c == '>' }))
	if len(p.open) == 0 {
		return fmt.Errorf("unexpected end tag at byte offset %d", begin)
	}
	p.skipSpace()
	if p.i == len(p.in) || p.in[p.i] != '>' {
		return fmt.Errorf("unclosed end tag at byte offset %d", begin)
	}
	p.i++
	t := p.open[len(p.open)-1]
	if name != "" && name != t.name {
		return fmt.Errorf("unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", begin, t.name, name)
	}
	p.open = p.open[:len(p.open)-1]
	p.entity(t)
	return nil
}

// entity notes what a closed tag formats; an empty one formats nothing.
func (p *parser) entity(t tag) {
	e := Entity{Type: htmlTags[t.name], Offset: t.begin, Length: p.units - t.begin}
	switch {
	case e.Length == 0:
		return
	case t.name == "a":
		if !strings.Contains(t.arg, ":") && !strings.Contains(t.arg, ".") {
			return // not an address: shown as plain text
		}
		e.URL = t.arg
	case t.name == "blockquote" && t.arg != "":
		e.Type = "expandable_blockquote"
	case t.name == "code" && t.arg != "" && len(p.open) > 0 && p.open[len(p.open)-1].name == "pre":
		p.open[len(p.open)-1].arg = t.arg
		return
	case t.name == "pre":
		e.Language = t.arg
	}
	p.entities = append(p.entities, e)
}
