package markup

import (
	"fmt"
	"html"
	"strings"
)

// acceptTelegram checks s as the Bot API does (and more strictly: entities only as it documents them, no empty element,
// nothing inside pre and code, no quote in a quote, no link in a link). It returns the text that a person sees.
func acceptTelegram(s string) (string, error) {
	var text strings.Builder
	var stack []string
	at := 0 // length of text when the last tag was opened
	for i := 0; i < len(s); {
		switch s[i] {
		case '>', '\x00':
			return "", fmt.Errorf("bare %q at %d", s[i], i)
		case '&':
			end := strings.IndexByte(s[i:], ';')
			if end < 0 {
				return "", fmt.Errorf("entity without end at %d", i)
			}
			e := s[i : i+end+1]
			if e != "&amp;" && e != "&lt;" && e != "&gt;" && e != "&quot;" {
				return "", fmt.Errorf("entity %q", e)
			}
			text.WriteString(html.UnescapeString(e))
			i += end + 1
		case '<':
			end := strings.IndexByte(s[i:], '>')
			if end < 0 {
				return "", fmt.Errorf("tag without end at %d", i)
			}
			tag := s[i+1 : i+end]
			i += end + 1
			if name, ok := strings.CutPrefix(tag, "/"); ok {
				if len(stack) == 0 || stack[len(stack)-1] != name {
					return "", fmt.Errorf("end tag %q inside %v", name, stack)
				}
				if text.Len() == at {
					return "", fmt.Errorf("empty %q", name)
				}
				stack = stack[:len(stack)-1]
				continue
			}
			name, attr, _ := strings.Cut(tag, " ")
			if err := allowed(name, attr, stack); err != nil {
				return "", err
			}
			stack = append(stack, name)
			at = text.Len()
		default:
			text.WriteByte(s[i])
			i++
		}
	}
	if len(stack) > 0 {
		return "", fmt.Errorf("no end tag for %v", stack)
	}
	return text.String(), nil
}

func allowed(name, attr string, stack []string) error {
	for _, out := range stack {
		switch {
		case out == "code", out == "pre" && name != "code", out == name:
			return fmt.Errorf("%s inside %s", name, out)
		}
	}
	switch name {
	case "b", "i", "u", "s", "pre", "blockquote":
		if attr == "" {
			return nil
		}
	case "code":
		inPre := len(stack) > 0 && stack[len(stack)-1] == "pre"
		if v, ok := quoted(attr, "class"); attr == "" || ok && inPre && strings.HasPrefix(v, "language-") {
			return nil
		}
	case "a":
		if v, ok := quoted(attr, "href"); ok {
			for _, p := range []string{"http:", "https:", "mailto:", "tel:", "tg:"} {
				if strings.HasPrefix(strings.ToLower(v), p) {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("tag <%s %s>", name, attr)
}

// quoted reads name="value" and nothing else.
func quoted(attr, name string) (string, bool) {
	v, ok := strings.CutPrefix(attr, name+`="`)
	if !ok || !strings.HasSuffix(v, `"`) || strings.ContainsAny(v[:len(v)-1], `"<>`) {
		return "", false
	}
	return html.UnescapeString(v[:len(v)-1]), true
}

// acceptWeb checks that s has no tag or attribute that Web does not mean to write.
func acceptWeb(s string) error {
	for i := strings.IndexByte(s, '<'); i >= 0; i = strings.IndexByte(s, '<') {
		s = s[i+1:]
		end := strings.IndexByte(s, '>')
		if end < 0 {
			return fmt.Errorf("tag without end: %q", s)
		}
		tag := strings.TrimPrefix(s[:end], "/")
		name, attr, _ := strings.Cut(tag, " ")
		switch name {
		case "p", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "br", "pre", "blockquote", "ul", "li", "table", "tr", "strong", "em", "del":
			if attr != "" {
				return fmt.Errorf("attribute %q", attr)
			}
		case "ol", "td", "th", "code":
			key, v, _ := strings.Cut(attr, "=")
			if attr != "" && (!strings.Contains(" start align class ", " "+key+" ") || strings.Count(v, `"`) != 2) {
				return fmt.Errorf("attribute %q", attr)
			}
		case "a":
			rest, ok := strings.CutSuffix(attr, ` rel="noopener noreferrer nofollow" target="_blank"`)
			href, quote := quoted(rest, "href")
			if scheme, _, _ := strings.Cut(strings.ToLower(href), ":"); attr != "" && (!ok || !quote || scheme != "http" && scheme != "https" && scheme != "mailto") {
				return fmt.Errorf("link %q", attr)
			}
		default:
			return fmt.Errorf("tag %q", name)
		}
	}
	return nil
}
