package config

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// check returns everything that is wrong with decoded values, and adds warnings to c.
func check(c *Config) Faults {
	k := &checker{c: c}
	k.enums(reflect.ValueOf(c).Elem(), "")
	k.listen()
	k.times()
	k.models()
	k.people()
	k.tools()
	k.unbuilt("", k.c.Stream, k.c.Display, func(string) bool { return true })
	k.platforms()
	slices.Sort(k.c.Warnings)
	return k.faults
}

type checker struct {
	c      *Config
	faults Faults
}

func (k *checker) fault(format string, args ...any) {
	k.faults = append(k.faults, Fault{File: k.c.File, Text: fmt.Sprintf(format, args...)})
}

func (k *checker) warn(format string, args ...any) {
	k.c.Warnings = append(k.c.Warnings, fmt.Sprintf(format, args...))
}

// enums checks every field that has an enum tag, wherever it stands.
func (k *checker) enums(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			k.enums(v.Index(i), path)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(v.MapIndex(key))
			k.enums(e, join(path, key.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, opt, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if !f.IsExported() || name == "-" || name == "" && opt != "inline" {
				continue
			}
			at := path
			if name != "" {
				at = join(path, name)
			}
			k.enum(f, v.Field(i), at)
			k.enums(v.Field(i), at)
		}
	}
}

func (k *checker) enum(f reflect.StructField, v reflect.Value, path string) {
	tag := f.Tag.Get("enum")
	if tag == "" || v.String() == "" {
		return
	}
	allowed := strings.Split(tag, ",")
	if slices.Contains(allowed, v.String()) {
		return
	}
	known := map[string]reflect.Value{}
	for _, a := range allowed {
		known[a] = v
	}
	k.fault("%s: %q is none of %s%s", path, v.String(), strings.Join(allowed, ", "), didYouMean(v.String(), known))
}

func (k *checker) listen() {
	if _, _, err := net.SplitHostPort(k.c.Listen); err != nil {
		k.fault("listen: %q is not an address such as 127.0.0.1:8787", k.c.Listen)
	}
	if k.c.Store.Driver == "postgres" && k.c.Store.DSN == "" {
		k.fault("store.dsn: postgres needs the address of the database, such as postgres://bellhop:password@db/bellhop, or BELLHOP_STORE_DSN")
	}
}

func (k *checker) times() {
	l := k.c.Lease
	if l.TTL <= 0 || l.Renew <= 0 || l.Renew*2 > l.TTL {
		k.fault("lease: renew (%v) must be at most half of ttl (%v), or one missed renewal loses the turn", l.Renew, l.TTL)
	}
	if k.c.Lease.Node < time.Second {
		k.fault("lease.node (%v): must be at least 1s", k.c.Lease.Node)
	}
	if k.c.Turns.MaxParallel < 1 {
		k.fault("turns.max_parallel: must be at least 1")
	}
	if k.c.Busy.Cap < 1 {
		k.fault("busy.cap: must be at least 1")
	}
	if k.c.Agent.MaxCalls < 1 || k.c.Agent.MaxCallsRich < 1 {
		k.fault("agent.max_calls and agent.max_calls_rich: must be at least 1")
	}
}

func (k *checker) models() {
	c := k.c
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		if p.Kind == "" {
			k.fault("providers.%s.kind: is missing; one of openai, practice", name)
		}
		if u, err := url.Parse(p.BaseURL); p.BaseURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			k.fault("providers.%s.base_url: is not an http or https address", name)
		}
		if p.Kind == "anthropic" {
			k.warn("providers.%s: the anthropic protocol is not in this version; the provider is off", name)
		}
	}
	k.model("model", ModelRef{c.Model.Provider, c.Model.Name}, true)
	for i, f := range c.Model.Fallbacks {
		k.model(fmt.Sprintf("model.fallbacks[%d]", i), f, true)
	}
	k.model("model.auxiliary", c.Model.Auxiliary, false)
}

func (k *checker) model(path string, m ModelRef, must bool) {
	if m == (ModelRef{}) && !must {
		return
	}
	p, ok := k.c.Providers[m.Provider]
	switch {
	case m.Provider == "":
		k.fault("%s.provider: is missing; name one of the providers: %s", path, strings.Join(slices.Sorted(maps.Keys(k.c.Providers)), ", "))
	case !ok:
		k.fault("%s.provider: there is no provider %q; there are %s", path, m.Provider, strings.Join(slices.Sorted(maps.Keys(k.c.Providers)), ", "))
	case p.Kind == "anthropic":
		k.fault("%s.provider: %s speaks the anthropic protocol, which is not in this version", path, m.Provider)
	case m.Name == "":
		k.fault("%s.name: a model key is there but no model name; set model.name, or BELLHOP_MODEL in the environment", path)
	}
}

var person = regexp.MustCompile(`^([a-z][a-z0-9_]*(/[\w.-]+)?:)?[^\s:]+$`)

func (k *checker) people() {
	for path, list := range map[string][]string{"access.allow": k.c.Access.Allow, "access.admins": k.c.Access.Admins} {
		for _, p := range list {
			if !person.MatchString(p) {
				k.fault("%s: %q is not a person such as telegram:111", path, p)
			}
		}
	}
	if k.c.Access.Default == "allow" {
		k.warn("access.default is allow: anybody who finds the bot may talk to it")
	}
}

// tools of later versions are accepted and off.
func (k *checker) tools() {
	built := []string{"shell", "file"}
	later := []string{"web", "todo", "memory", "mcp", "agent"}
	for _, t := range k.c.Agent.Tools {
		switch {
		case slices.Contains(built, t):
		case slices.Contains(later, t):
			k.warn("agent.tools: %s is not in this version; it is off", t)
		default:
			k.fault("agent.tools: there is no tool %q; there are %s", t, strings.Join(built, ", "))
		}
	}
}

func (k *checker) platforms() {
	p := k.c.Platforms
	for name, m := range map[string]Many[Unbuilt]{"discord": p.Discord, "slack": p.Slack, "webhook": p.Webhook, "api": p.API} {
		if len(m) > 0 {
			k.warn("platforms.%s is not in this version; it is off", name)
		}
	}
	names := map[string]bool{}
	for i, t := range p.Telegram {
		at := "platforms.telegram"
		if len(p.Telegram) > 1 {
			at = fmt.Sprintf("%s[%d]", at, i)
			if t.Name == "" || names[t.Name] {
				k.fault("%s.name: several accounts need a name each, and no name twice", at)
			}
			names[t.Name] = true
		}
		if t.Bots < 0 {
			k.fault("%s.bots: must not be negative", at)
		}
		k.unbuilt(at+".", t.Stream, t.Display, func(key string) bool { return t.Set[key] })
		if !t.On() || t.Token == "" {
			continue
		}
		for _, err := range t.Check() {
			k.fault("%s: %v", at, err)
		}
	}
	if k.c.Model.Provider == "practice" && len(p.Telegram) > 0 {
		k.warn("no model key is configured: the bot answers with the offline practice model")
	}
}
