package openai

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

const maxText = 300 // runes of an endpoint's own words in an error

var (
	keyLike = regexp.MustCompile(`(?i)\b(?:bearer\s+\S+|(?:sk|pk|gsk|xai|key|hf|nvapi)[-_][\w*.\-]{6,}|AIza[\w*.\-]{6,})`)
	address = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.\-]*://[^\s"']+`)
)

// scrubber removes what must not be read in errors: the key in every spelling, whatever looks like one, and addresses,
// which may carry one.
type scrubber struct{ known *strings.Replacer }

func newScrubber(key, base string) scrubber {
	var pairs []string
	hide := func(secret, by string) {
		if secret != "" {
			pairs = append(pairs, secret, by)
		}
	}
	for _, k := range []string{key, url.QueryEscape(key), url.PathEscape(key)} {
		hide(k, "[key]")
	}
	hide(base, "[address]")
	if u, err := url.Parse(base); err == nil {
		hide(u.RawQuery, "[query]")
		if pw, ok := u.User.Password(); ok {
			hide(pw, "[key]")
			hide(u.User.String(), "[user]")
		}
	}
	return scrubber{strings.NewReplacer(pairs...)}
}

// text returns s without secrets, on one line and of bounded length.
func (s scrubber) text(text string) string {
	if len(text) > 64<<10 {
		text = strings.ToValidUTF8(text[:64<<10], "")
	}
	text = s.known.Replace(text)
	text = address.ReplaceAllString(text, "[address]")
	text = keyLike.ReplaceAllString(text, "[key]")
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if utf8.RuneCountInString(text) > maxText {
		text = string([]rune(text)[:maxText]) + "…"
	}
	return text
}

// cause returns err without the layers that print the address, and without its chain when its text would tell a secret.
func (s scrubber) cause(err error) error {
	for {
		var u *url.Error
		if !errors.As(err, &u) {
			break
		}
		err = u.Err
	}
	if clean := s.text(err.Error()); clean != err.Error() {
		return errors.New(clean)
	}
	return err
}
