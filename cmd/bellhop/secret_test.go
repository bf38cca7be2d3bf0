package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bellhop/core/provider/providertest"
)

// C171: secrets are nowhere to be seen, at the most talkative level, whether the platform and the model can be reached,
// refuse, or are not there at all.
func TestSecretsStaySecret(t *testing.T) {
	for _, tc := range []struct {
		name     string
		old, new string // in the configuration
		says     string // something of the fault that must be visible, so that the test sees what it means to
	}{
		{"all is well", "", "", ""},
		{"the platform is unreachable", "api_url: ", "api_url: \"http://127.0.0.1:9\", # ", "messages are not received"},
		{"the model is unreachable", "base_url: ", "base_url: \"http://127.0.0.1:9\", # ", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(*providertest.Request) providertest.Reply {
				return providertest.Reply{providertest.Refuse(401, "invalid_api_key", "Incorrect API key provided: sk-planted-model-key")}
			})
			r.planted(tc.old, tc.new)
			g := r.start()
			if tc.says != "" {
				r.until("the fault is told", func() bool { return strings.Contains(g.log.String(), tc.says) })
			} else {
				r.chat.Say(r.owner, "hello")
				r.until("the failure is told", func() bool { return len(r.chat.Said()) > 0 && !strings.Contains(r.screen(), "▉") })
				r.chat.Say(r.owner, "/status")
				r.until("the status is told", func() bool { return len(r.chat.Said()) > 1 })
			}
			w := r.web("secrets")
			seen := map[string]string{"the log": g.all(), "the chat": r.screen(), "/status at the door": w.insist("1", "/status").Text,
				"metrics": g.get("metrics"), "readyz": g.get("readyz"), "config show": r.must("config", "show"), "command line": cmdline(t, g)}
			for _, args := range [][]string{{"doctor"}, {"doctor", "--json"}, {"admission", "list", "--all"}, {"verify"}} {
				out, _ := r.command(args...).CombinedOutput() // doctor has problems to tell
				seen[strings.Join(args, " ")] = string(out)
			}
			r.search(t, seen)
			g.stop()
			r.search(t, map[string]string{"the log to its end": g.all()})
		})
	}
}

// planted breaks a line of the configuration.
func (r *rig) planted(old, new string) {
	r.t.Helper()
	if old != "" {
		b, err := os.ReadFile(r.config)
		if err != nil {
			r.t.Fatal(err)
		}
		broken := regexp.MustCompile(regexp.QuoteMeta(old)+`"[^"]*"`).ReplaceAllLiteralString(string(b), strings.TrimSuffix(new, ", # "))
		if broken == string(b) {
			r.t.Fatalf("there is no %s in\n%s", old, b)
		}
		r.write(broken)
	}
}

// search looks for every secret in every text, also as it looks inside a URL.
func (r *rig) search(t *testing.T, seen map[string]string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(r.dir, "data", tokenFile))
	if err != nil {
		t.Fatal(err)
	}
	token := r.tg.Bot().Token
	_, half, _ := strings.Cut(token, ":")
	for name, secret := range map[string]string{"bot token": token, "half of the bot token": half, "model key": "sk-planted-model-key",
		"rpc token": strings.TrimSpace(string(key))} {
		for where, text := range seen {
			for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
				if i := strings.Index(text, form); i >= 0 {
					t.Errorf("%s shows the %s: …%s…", where, name, fmt.Sprintf("%.200s", text[max(0, i-100):]))
					break
				}
			}
		}
	}
}

// all is everything that the process wrote.
func (g *process) all() string {
	g.log.mu.Lock()
	defer g.log.mu.Unlock()
	return g.log.text.String()
}

func cmdline(t *testing.T, g *process) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", g.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
