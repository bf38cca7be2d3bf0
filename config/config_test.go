package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bellhop/core"
)

func env(kv ...string) Environment {
	m := map[string]string{"HOME": "/home/u"}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
}

func parse(t *testing.T, text string, e Environment) Config {
	t.Helper()
	c, err := Parse("c.yaml", []byte(text), e)
	if err != nil {
		t.Fatalf("refused:\n%v", err)
	}
	return c
}

// contractExample is the example of the product's contract, with values where it has placeholders.
const contractExample = `
data: /var/lib/bellhop            # default
listen: 127.0.0.1:8787
log: {level: info, format: text}  # text | json
store: {driver: sqlite, dsn: ""}
model: {provider: openai, name: gpt-x, fallbacks: [{provider: openai, name: y}], auxiliary: {provider: openai, name: small}}
providers:
  openai: {kind: openai, base_url: https://model.example/v1, api_key: "${OPENAI_API_KEY}"}
  claude: {kind: anthropic, base_url: "https://claude.example", api_key: k}
  practice: {kind: practice}
agent: {system_prompt: "", max_calls: 90, max_calls_rich: 500, max_time: 30m, tools: [shell, file, web, todo], workspace: /w}
access: {default: deny, allow: ["telegram:111"], admins: ["telegram:111"], pairing: true}
busy: {mode: queue, cap: 32}
lease: {ttl: 300s, renew: 60s, wait: 1800s, liveness: 15m}
compaction: {threshold: 0.5, small_window: 512000, small_window_threshold: 0.75, target: 0.2, protect_first: 3, protect_last: 20}
stream: {edit_interval: 1s, buffer_threshold: 40, cursor: " ▉", mode: edit}
display: {tool_progress: compact, reasoning: hidden, interim: true, cleanup: true, long_running: 60s}
questions: {approval: 300s, clarify: 300s, secret: 300s, sudo: 120s}
rpc: {pool: 4, slash_timeout: 45s}
approvals: {mode: ask, allow: [], deny: []}
turns: {max_parallel: 64}
platforms:
  telegram: {token: "${TELEGRAM_BOT_TOKEN}", api_url: https://api.telegram.org, limits: {chat: 1/s, burst: 3, group: 20/min, bot: 30/s}, mode: polling, webhook_url: "", webhook_secret: "", require_mention: true}
  discord:  {token: "${DISCORD_BOT_TOKEN}", api_url: https://discord.example/api/v10, gateway_url: "", require_mention: true, auto_thread: true}
  slack:    {bot_token: b, app_token: a, signing_secret: s, mode: socket, api_url: https://slack.example/api/}
  webhook:  {routes: {deploys: {secret: s, signature: github, prompt: "…", deliver: "slack:C1"}}}
  api:      {keys: [{name: a, key_file: f}], models: [bellhop]}
  web:      {enabled: true}
`

const botToken = "123456789:AAxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

func TestContractExample(t *testing.T) {
	c := parse(t, contractExample, env("OPENAI_API_KEY", "sk-planted-key", "TELEGRAM_BOT_TOKEN", botToken))
	tg := c.Platforms.Telegram[0]
	if tg.Token.Reveal() != botToken || tg.Limits.Chat != (Rate{1, time.Second}) || tg.Limits.Group.Every() != 3*time.Second || tg.Limits.Burst != 3 {
		t.Errorf("telegram section: %+v", tg)
	}
	if c.Lease.TTL != 300*time.Second || c.Stream.Cursor != " ▉" || c.Compaction.SmallWindowThreshold != 0.75 {
		t.Errorf("values: %+v", c)
	}
	for _, want := range []string{"platforms.slack", "platforms.discord", "platforms.api", "platforms.webhook", "agent.tools: web", "providers.claude"} {
		if !strings.Contains(strings.Join(c.Warnings, "\n"), want) {
			t.Errorf("no warning about %s in %q", want, c.Warnings)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "lisen: 1.2.3.4:5", "c.yaml:1:1: unknown key lisen (did you mean listen?)"},
		{"nested unknown key", "busy:\n  mod: queue", "c.yaml:2:3: unknown key busy.mod (did you mean mode?)"},
		{"C172 wrong indent", "busy:\n  mode: queue\n cap: 3", "c.yaml:3:"},
		{"C172 tab", "busy:\n\tmode: queue", "c.yaml:2:"},
		{"duration", "lease: {ttl: 5 minutes}", "c.yaml:1:14: lease.ttl: \"5 minutes\" is not a duration"},
		{"negative duration", "lease: {wait: -5s}", "is not a duration"},
		{"enum", "busy: {mode: que}", "busy.mode: \"que\" is none of queue, steer, interrupt"},
		{"scalar for mapping", "busy: queue", "c.yaml:1:7: busy: expected keys and values here"},
		{"mapping for scalar", "listen: {a: b}", "listen: expected a single value here"},
		{"scalar for list", "access: {allow: telegram:1}", "access.allow: expected a list"},
		{"twice", "busy: {cap: 1, cap: 2}", "cap"},
		{"lost digits", "access: {allow: [1.497e18]}", "has lost digits"},
		{"not a person", "access: {allow: ['a b']}", "is not a person"},
		{"renew too long", "lease: {ttl: 60s, renew: 50s}", "at most half"},
		{"no such provider", "model: {provider: x, name: y}", "there is no provider \"x\""},
		{"postgres", "store: {driver: postgres}", "store.dsn: postgres needs the address of the database"},
		{"rate", "platforms: {telegram: {limits: {chat: fast}}}", "is not a rate such as 1/s"},
		{"limits", "platforms: {telegram: {limits: none}}", "expected off, or rates"},
		{"accounts without names", "platforms: {telegram: [{token: a}, {token: b}]}", "platforms.telegram[0].name"},
		{"token form", "platforms: {telegram: {token: abc}}", "platforms.telegram: token"},
		{"open brace", "data: ${HOME", "without its closing }"},
		{"tool", "agent: {tools: [shel]}", "there is no tool \"shel\""},
		{"secret file missing", "platforms: {telegram: {token_file: /no/such/file}}", "cannot read the secret"},
		{"anchor", "busy: &b {mode: queue}", "anchors"},
		{"two documents", "busy: {cap: 3}\n---\nbusy: {cap: 4}", "only one document"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(tt.text), env())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to hold %q", err, tt.want)
			}
			if !core.Is(err, core.Invalid) {
				t.Errorf("kind %v", core.KindOf(err))
			}
		})
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := Parse("c.yaml", []byte("lisen: x\nbusy: {mod: a, cap: many}\nlease: {ttl: soon}\nlog: {level: loud}\n"), env())
	var fs Faults
	if !errors.As(err, &fs) || len(fs) != 5 {
		t.Fatalf("want five faults at once, got %d:\n%v", len(fs), err)
	}
}

// C174: an id is the same with and without quotes.
func TestIdsKeepTheirDigits(t *testing.T) {
	c := parse(t, `access: {allow: [1497549923779084388, "123456789", telegram:9], admins: [123456789]}`, env())
	want := "1497549923779084388 123456789 telegram:9"
	if got := strings.Join(c.Access.Allow, " "); got != want {
		t.Errorf("allow %q, want %q", got, want)
	}
}

func TestSecrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("sk-from-file-planted\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := parse(t, "providers: {o: {kind: openai, api_key_file: "+file+"}}\nmodel: {provider: o, name: m}\n", env("TELEGRAM_BOT_TOKEN", botToken))
	if c.Providers["o"].APIKey.Reveal() != "sk-from-file-planted" {
		t.Errorf("the secret file was not read")
	}
	shown, err := Show(c)
	if err != nil {
		t.Fatal(err)
	}
	js, _ := json.Marshal(c)
	for name, s := range map[string]string{"Show": shown, "%v": fmt.Sprintf("%v", c), "%+v": fmt.Sprintf("%+v", c), "%#v": fmt.Sprintf("%#v", c), "json": string(js)} {
		if strings.Contains(s, "planted") || strings.Contains(s, "AAxxxx") {
			t.Errorf("%s shows a secret: %s", name, s)
		}
	}
	if !strings.Contains(shown, "api_key: '[secret]'") && !strings.Contains(shown, `api_key: "[secret]"`) {
		t.Errorf("Show does not say that a key is set:\n%s", shown)
	}
}

// Files with secrets in them are known, so that others can be kept from reading them.
func TestSecretFiles(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("sk-from-file-planted\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const model = "\nmodel: {provider: o, name: m}\n"
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"platforms: {telegram: {token: '" + botToken + "'}}", "test.yaml"},
		{"platforms: {telegram: {token: ${T}}}", ""},
		{"platforms: {telegram: {token: ''}}", ""},
		{"providers: {o: {kind: openai, api_key_file: " + key + "}}" + model, key},
		{"providers: {o: {kind: openai, api_key: 1234}}" + model, "test.yaml"},
		{"providers:\n  o:\n    kind: openai\n    api_key: |\n      sk-planted\n" + model, "test.yaml"},
		{"providers:\n  o:\n    kind: openai\n    api_key: |\n      ${T}\n" + model, ""},
	} {
		c, err := Parse("test.yaml", []byte(tt.text), env("T", botToken))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
		}
		if got := strings.Join(c.Secrets, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	tests := []struct {
		name      string
		env       Environment
		text      string
		want, err string
	}{
		{"nothing", env(), "", "practice/practice", ""},
		{"key without a model", env("OPENAI_API_KEY", "sk-abcdef"), "", "", "a model key is there but no model name"},
		{"key and model", env("OPENAI_API_KEY", "sk-abcdef", "BELLHOP_MODEL", "m"), "", "openai/m", ""},
		{"base URL alone", env("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1", "BELLHOP_MODEL", "m"), "", "openai/m", ""},
		{"the file wins", env("OPENAI_API_KEY", "sk-abcdef", "BELLHOP_MODEL", "m"), "model: {provider: practice}", "practice/m", ""},
		{"bad base URL", env("OPENAI_BASE_URL", "nonsense", "BELLHOP_MODEL", "m"), "", "", "base_url"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Parse("", []byte(tt.text), tt.env)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want %q", err, tt.err)
				}
				return
			}
			if got := c.Model.Provider + "/" + c.Model.Name; err != nil || got != tt.want {
				t.Errorf("model %s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bellhop", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if c, err := Load("", env("XDG_CONFIG_HOME", dir)); err != nil || c.File != "" {
		t.Errorf("an absent default file must not matter: %v", err)
	}
	if _, err := Load(file, env()); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("an absent named file must be said: %v", err)
	}
	if err := os.WriteFile(file, []byte("busy: {cap: 7}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, e := range []Environment{env("XDG_CONFIG_HOME", dir), env("BELLHOP_CONFIG", file)} {
		if c, err := Load("", e); err != nil || c.Busy.Cap != 7 {
			t.Errorf("cap %d, %v", c.Busy.Cap, err)
		}
	}
}

func TestSchemaKnowsTheContract(t *testing.T) {
	b, err := json.Marshal(Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"token_file", "edit_interval", "max_calls_rich", "require_mention", "small_window_threshold"} {
		if !strings.Contains(string(b), `"`+key+`"`) {
			t.Errorf("no %s in the schema", key)
		}
	}
}

// What is accepted and does nothing says so, and only when it was asked for.
func TestUnbuiltDisplayWarns(t *testing.T) {
	tests := []struct{ text, want string }{
		{"stream: {mode: native}", "stream.mode: native is not in this version"},
		{"display: {tool_progress: full}", "display.tool_progress: full"},
		{"display: {reasoning: shown}", "display.reasoning: shown"},
		{"display: {long_running: 5m}", "display.long_running: 5m0s"},
		{"platforms: {telegram: {stream: {mode: native}}}", "platforms.telegram.stream.mode: native"},
		{"platforms: {telegram: {display: {long_running: 2m}}}", "platforms.telegram.display.long_running: 2m0s"},
		{"platforms: {telegram: {display: {interim: false}}}", ""},
		{"display: {tool_progress: off, reasoning: hidden, long_running: 60s}\nstream: {mode: draft}", ""},
	}
	for _, tt := range tests {
		c := parse(t, tt.text, env("TELEGRAM_BOT_TOKEN", botToken, "OPENAI_API_KEY", "sk-1", "BELLHOP_MODEL", "x"))
		if all := strings.Join(c.Warnings, "\n"); tt.want == "" && all != "" || !strings.Contains(all, tt.want) {
			t.Errorf("%s: %q", tt.text, c.Warnings)
		}
	}
}

func TestKeysOfPlatformsAndRetention(t *testing.T) {
	c := parse(t, "access: {rate: 10/min}\nretention: {events: 0, inbox: 24h}\n"+
		"platforms: {telegram: {shared: true, bots: 4, busy: steer}}", env("TELEGRAM_BOT_TOKEN", botToken))
	tg := c.Platforms.Telegram[0]
	if !tg.Shared || tg.Bots != 4 || tg.Busy != "steer" || c.Access.Rate != (Rate{10, time.Minute}) {
		t.Errorf("%+v %+v", tg.Common, c.Access)
	}
	if want := (Retention{720 * time.Hour, 0, 720 * time.Hour, 24 * time.Hour}); c.Retention != want {
		t.Errorf("%+v", c.Retention)
	}
	for text, want := range map[string]string{
		"platforms: {telegram: {bots: -1}}":    "platforms.telegram.bots",
		"platforms: {telegram: {busy: maybe}}": "platforms.telegram.busy",
	} {
		if _, err := Parse("c.yaml", []byte(text), env()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(contractExample)
	f.Add("a: [\n")
	f.Add("busy: {mode: ${X}}")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Parse("c.yaml", []byte(text), env()); err != nil && !core.Is(err, core.Invalid) {
			t.Errorf("a fault without its kind: %v", err)
		}
	})
}

func TestExampleIsTheDefault(t *testing.T) {
	b, err := os.ReadFile("../deploy/config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, want := parse(t, string(b), env()), parse(t, "", env())
	a, _ := Show(got)
	d, _ := Show(want)
	if a != d {
		t.Errorf("the example says other values than the defaults:\n%s\n---\n%s", a, d)
	}
}

// References need no quotes, wherever they stand; faults of values are told with their place.
func TestReferencesAndPlaces(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"TOKEN": "1:abc", "KEY": "sk-1", "HOME": "/h"}[name]
		return v, ok
	}
	c, err := Parse("f.yaml", []byte("model: {provider: m, name: x}\nproviders: {m: {kind: openai, base_url: http://h/v1, api_key: ${KEY}}}\n"+
		"platforms: {telegram: {token: ${TOKEN}, api_url: \"http://h/${TOKEN}\"}}\ndata: ${HOME}/data # ${NOT}\n"), env)
	if err != nil {
		t.Fatal(err)
	}
	tg := c.Platforms.Telegram[0]
	if tg.Token.Reveal() != "1:abc" || tg.APIURL != "http://h/1:abc" || c.Providers["m"].APIKey.Reveal() != "sk-1" || c.Data != "/h/data" {
		t.Errorf("%+v, %q", tg, c.Data)
	}
	_, err = Parse("f.yaml", []byte("busy: {mode: perhaps}\nlease:\n  ttl: 10s\n  renew: 9s\nproviders:\n  p: {base_url: x}\n"), env)
	for _, want := range []string{"f.yaml:1:8: busy.mode", "f.yaml:2:1: lease:", "f.yaml:6:7: providers.p.base_url", "f.yaml:6:3: providers.p.kind"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
}
