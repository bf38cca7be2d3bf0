package telegram

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Secret is a value that must not be seen: it prints as a placeholder everywhere. Reveal gives it to the one place that
// needs it.
type Secret string

const hidden = "[secret]"

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString keeps %#v from showing the value.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// MarshalText keeps the value out of printed configurations and logs.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Reveal returns the value.
func (s Secret) Reveal() string { return string(s) }

// Mode is how updates come.
type Mode string

// The two ways Telegram delivers updates; they exclude each other.
const (
	Polling Mode = "polling"
	Webhook Mode = "webhook"
)

const defaultAPI = "https://api.telegram.org"

// Config is one bot account. The zero value of every key but Token means its default.
type Config struct {
	Token          Secret `yaml:"token"`
	APIURL         string `yaml:"api_url"` // of a local Bot API server, or a test server
	Mode           Mode   `yaml:"mode" enum:"polling,webhook"`
	WebhookURL     string `yaml:"webhook_url"` // public https address of this bot's endpoint
	WebhookSecret  Secret `yaml:"webhook_secret"`
	RequireMention *bool  `yaml:"require_mention"` // in groups, default true; the gateway's guard decides by it
	Proxy          string `yaml:"proxy"`           // http, https or socks5 URL; default: the environment's
}

// Mention reports whether a message in a group must address the bot.
func (c Config) Mention() bool { return c.RequireMention == nil || *c.RequireMention }

func (c Config) api() string { return strings.TrimRight(cmp.Or(c.APIURL, defaultAPI), "/") }

func (c Config) mode() Mode { return cmp.Or(c.Mode, Polling) }

const (
	digits    = "0123456789"
	lower     = "abcdefghijklmnopqrstuvwxyz"
	maxSecret = 256
	nameSigns = digits + lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
)

// isOf reports whether s consists of 1 to most of the signs. An expression with such a count takes a fifth of a
// millisecond to make, which every start would pay.
func isOf(signs, s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, signs) == ""
}

// isToken reports whether s looks like the token of a bot.
func isToken(s string) bool {
	id, secret, ok := strings.Cut(s, ":")
	return ok && isOf(digits, id, 20) && isOf(nameSigns, secret, len(secret))
}

// Check returns everything that is wrong with c. No text contains a secret.
func (c Config) Check() []error {
	var errs []error
	if !isToken(c.Token.Reveal()) {
		errs = append(errs, errors.New("token: not of the form 123456:ABC… that @BotFather hands out"))
	}
	if err := checkURL(c.api(), "http", "https"); err != nil {
		errs = append(errs, fmt.Errorf("api_url: %w", err))
	}
	if c.Proxy != "" {
		if err := checkURL(c.Proxy, "http", "https", "socks5", "socks5h"); err != nil {
			errs = append(errs, fmt.Errorf("proxy: %w", err))
		}
	}
	switch c.mode() {
	case Polling:
	case Webhook:
		errs = append(errs, c.checkWebhook()...)
	default:
		errs = append(errs, errors.New("mode: polling or webhook"))
	}
	return errs
}

func (c Config) checkWebhook() []error {
	var errs []error
	if err := checkURL(c.WebhookURL, "http", "https"); err != nil {
		errs = append(errs, fmt.Errorf("webhook_url: %w", err))
	} else if err := checkCloudHook(c.WebhookURL); c.api() == defaultAPI && err != nil {
		errs = append(errs, fmt.Errorf("webhook_url: %w", err))
	}
	if !isOf(nameSigns, c.WebhookSecret.Reveal(), maxSecret) {
		errs = append(errs, errors.New("webhook_secret: 1 to 256 letters, digits, _ or -"))
	}
	return errs
}

// checkURL does not quote the address: a proxy's may hold a password.
func checkURL(s string, schemes ...string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return errors.New("not a complete URL")
	}
	for _, want := range schemes {
		if u.Scheme == want {
			return nil
		}
	}
	return fmt.Errorf("begins with none of %s", strings.Join(schemes, ", "))
}

// checkCloudHook knows what api.telegram.org demands of a webhook: https on one of four ports.
func checkCloudHook(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return errors.New("not a complete URL")
	}
	if u.Scheme != "https" {
		return errors.New("only https is called by Telegram's own server")
	}
	switch u.Port() {
	case "", "443", "80", "88", "8443":
		return nil
	}
	return errors.New("only ports 443, 80, 88 and 8443 are called by Telegram's own server")
}

// host is the API server's host and port.
func (c Config) host() string {
	u, err := url.Parse(c.api())
	if err != nil {
		return ""
	}
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}
