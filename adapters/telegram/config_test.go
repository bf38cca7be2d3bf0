package telegram

import (
	"errors"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestCheck(t *testing.T) {
	good := Config{Token: "123456:ABC-def_1"}
	hook := Config{Token: good.Token, Mode: Webhook, WebhookURL: "https://bell.example/telegram/default", WebhookSecret: "s_1-"}
	with := func(c Config, f func(*Config)) Config { f(&c); return c }
	for name, tt := range map[string]struct {
		c    Config
		want []string // parts, one an error
	}{
		"least":             {good, nil},
		"webhook":           {hook, nil},
		"local server":      {with(hook, func(c *Config) { c.APIURL, c.WebhookURL = "http://127.0.0.1:8081", "http://10.0.0.1:9000/x" }), nil},
		"no token":          {Config{}, []string{"token"}},
		"token of another":  {Config{Token: "xoxb-1"}, []string{"token"}},
		"token and a blank": {Config{Token: "123:ABC "}, []string{"token"}},
		"api":               {with(good, func(c *Config) { c.APIURL = "api.telegram.org" }), []string{"api_url"}},
		"mode":              {with(good, func(c *Config) { c.Mode = "push" }), []string{"mode"}},
		"proxy":             {with(good, func(c *Config) { c.Proxy = "ftp://x" }), []string{"proxy"}},
		"socks":             {with(good, func(c *Config) { c.Proxy = "socks5://127.0.0.1:1080" }), nil},
		"hook without all":  {with(good, func(c *Config) { c.Mode = Webhook }), []string{"webhook_url", "webhook_secret"}},
		"hook port":         {with(hook, func(c *Config) { c.WebhookURL = "https://bell.example:9443/x" }), []string{"webhook_url"}},
		"hook plain":        {with(hook, func(c *Config) { c.WebhookURL = "http://bell.example/x" }), []string{"webhook_url"}},
		"hook secret":       {with(hook, func(c *Config) { c.WebhookSecret = "no blanks" }), []string{"webhook_secret"}},
		"all at once":       {Config{APIURL: "x", Mode: "y", Proxy: "z"}, []string{"token", "api_url", "proxy", "mode"}},
	} {
		errs := tt.c.Check()
		if len(errs) != len(tt.want) {
			t.Errorf("%s: %v, want %d errors", name, errors.Join(errs...), len(tt.want))
			continue
		}
		for i, err := range errs {
			if !strings.HasPrefix(err.Error(), tt.want[i]) {
				t.Errorf("%s: %v, want one about %s", name, err, tt.want[i])
			}
		}
		if a, err := New("telegram", tt.c, Options{}); (err != nil) != (len(tt.want) > 0) || (a == nil) != (err != nil) {
			t.Errorf("%s: New says %v", name, err)
		}
	}
}

func TestConfigFromYAML(t *testing.T) {
	var c Config
	src := "token: 1:abc\napi_url: http://x\nmode: webhook\nwebhook_url: https://y/z\nwebhook_secret: s\nrequire_mention: false\n"
	if err := yaml.UnmarshalWithOptions([]byte(src), &c, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if c.Token.Reveal() != "1:abc" || c.Mode != Webhook || c.Mention() || !(Config{}).Mention() {
		t.Errorf("got %+v", c)
	}
	out, err := yaml.Marshal(c)
	if err != nil || strings.Contains(string(out), "abc") {
		t.Errorf("%s, %v", out, err)
	}
}

func TestHost(t *testing.T) {
	for api, want := range map[string]string{"": "api.telegram.org:443", "http://h": "h:80", "http://[::1]:81/": "[::1]:81", "https://h:8443": "h:8443"} {
		if got := (Config{APIURL: api}).host(); got != want {
			t.Errorf("%q is %q, want %q", api, got, want)
		}
	}
}
