package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bellhop/adapters"
	"bellhop/adapters/telegram"
	"bellhop/config"
	"bellhop/core"
	"bellhop/core/provider"
	"bellhop/core/provider/openai"
	"bellhop/core/provider/practice"
	"bellhop/core/tool"
	"bellhop/core/tool/file"
	"bellhop/core/tool/shell"
	"bellhop/core/turn"
	"bellhop/gateway"
	"bellhop/gateway/deliver"
)

// This file turns sections of the configuration into the options of the packages that own what they mean.

func accessConfig(c config.Config) gateway.AccessConfig {
	return gateway.AccessConfig{Default: c.Access.Default, Allow: c.Access.Allow, Admins: c.Access.Admins, Pairing: c.Access.Pairing}
}

// newProvider makes the client of one model endpoint.
func newProvider(name string, p config.Provider) (provider.Provider, error) {
	switch p.Kind {
	case "openai":
		base := p.BaseURL
		if base == "" {
			base = "https://api.openai.com/v1"
		}
		o := openai.Options{Name: name, BaseURL: base, Key: p.APIKey.Reveal(), Think: openai.Think(p.Think), Limits: map[string]provider.Limits{}}
		for model, window := range p.Windows {
			o.Limits[model] = provider.Limits{Window: window, Vision: slices.Contains(p.Vision, model)}
		}
		return openai.New(o), nil
	case "practice":
		rate := p.Rate
		if rate == 0 {
			rate = practice.DefaultRate
		}
		return practice.New(practice.Options{Rate: rate}), nil
	}
	return nil, fmt.Errorf("provider %s: the kind %q is not in this version", name, p.Kind)
}

// modelChain is the model that answers and its fallbacks, in order.
func modelChain(c config.Config) []config.ModelRef {
	return append([]config.ModelRef{{Provider: c.Model.Provider, Name: c.Model.Name}}, c.Model.Fallbacks...)
}

// newModels makes every endpoint once and returns the chooser: a name given with /model replaces the primary's.
func newModels(c config.Config) (func(override string) []turn.Model, error) {
	made := map[string]provider.Provider{}
	var chain []turn.Model
	for _, m := range modelChain(c) {
		p := made[m.Provider]
		if p == nil {
			var err error
			if p, err = newProvider(m.Provider, c.Providers[m.Provider]); err != nil {
				return nil, err
			}
			made[m.Provider] = p
		}
		chain = append(chain, turn.Model{Provider: p, Name: m.Provider, Model: m.Name})
	}
	return func(override string) []turn.Model {
		if override == "" || override == chain[0].Model {
			return chain
		}
		first := chain[0]
		first.Model = override
		return append([]turn.Model{first}, chain...)
	}, nil
}

// newTools makes the tools that the configuration names and this version has; open are those that people who are not
// admins may use although a tool asks for one.
func newTools(c config.Config) (tools []tool.Tool, open []string) {
	for _, name := range c.Agent.Tools {
		switch name {
		case "shell":
			tools = append(tools, shell.New(shell.Options{Supervised: true, Secret: secretPlaces(c)}))
			if c.Agent.ShellForAll {
				open = append(open, "shell")
			}
		case "file":
			tools = append(tools, file.New(file.Options{})...)
		}
	}
	return tools, open
}

// secretPlaces are what a command must not name; the workspace and the spill folder below the data folder stay readable.
func secretPlaces(c config.Config) []string {
	places := append([]string{c.Data}, c.Secrets...)
	if c.File != "" {
		places = append(places, c.File)
	}
	for n, p := range places {
		if abs, err := filepath.Abs(p); err == nil {
			places[n] = abs
		}
	}
	return places
}

func spillFolder(c config.Config) string { return filepath.Join(c.Data, "spill") }

// door is one adapter with what the gateway and deliver must know of its section.
type door struct {
	adapters.Adapter
	options gateway.PlatformOptions
	speak   deliver.Platform
	hint    string // what the model is told about the screen
}

// newAdapters makes an adapter for every platform section that is on.
func newAdapters(c config.Config) ([]door, error) {
	var doors []door
	for _, t := range c.Platforms.Telegram {
		if !t.On() || t.Token == "" {
			continue
		}
		name := "telegram"
		if len(c.Platforms.Telegram) > 1 {
			name += "/" + t.Name
		}
		a, err := telegram.New(name, t.Config, telegram.Options{})
		if err != nil {
			return nil, err
		}
		doors = append(doors, door{a, optionsOf(t.Common, t.Mention()), platformOf(c, t.Common), markdownHint})
	}
	return doors, nil
}

// optionsOf is what the gateway must know of a section.
func optionsOf(c config.Common, mention bool) gateway.PlatformOptions {
	return gateway.PlatformOptions{RequireMention: mention, Shared: c.Shared, Bots: c.Bots, Busy: c.Busy}
}

// rateOf is the rate of people whom nobody let in by name.
func rateOf(r config.Rate) gateway.Rate { return gateway.Rate{Every: r.Every(), Burst: r.N} }

// platformOf lays a platform's own stream and display keys over the file's.
func platformOf(c config.Config, own config.Common) deliver.Platform {
	s, d := c.Stream, c.Display
	pick := func(key string, set func()) {
		if own.Set[key] {
			set()
		}
	}
	pick("stream.mode", func() { s.Mode = own.Stream.Mode })
	pick("stream.edit_interval", func() { s.EditInterval = own.Stream.EditInterval })
	pick("stream.draft_interval", func() { s.DraftInterval = own.Stream.DraftInterval })
	pick("stream.buffer_threshold", func() { s.BufferThreshold = own.Stream.BufferThreshold })
	pick("stream.cursor", func() { s.Cursor = own.Stream.Cursor })
	pick("display.tool_progress", func() { d.ToolProgress = own.Display.ToolProgress })
	pick("display.interim", func() { d.Interim = own.Display.Interim })
	pick("display.cleanup", func() { d.Cleanup = own.Display.Cleanup })
	rate := func(r config.Rate, burst int) deliver.Rate { return deliver.Rate{Every: r.Every(), Burst: burst} }
	l := own.Limits
	return deliver.Platform{Mode: s.Mode, EditInterval: s.EditInterval, DraftInterval: s.DraftInterval,
		BufferThreshold: s.BufferThreshold, Cursor: s.Cursor, ToolProgress: d.ToolProgress, Interim: d.Interim, Cleanup: d.Cleanup,
		Limits: deliver.Limits{Off: l.Off, Chat: rate(l.Chat, l.Burst), Group: rate(l.Group, l.Group.N), Bot: rate(l.Bot, l.Bot.N)}}
}

// questionTimes maps the questions section to the kinds.
func questionTimes(c config.Config) map[core.QuestionKind]time.Duration {
	q := c.Questions
	return map[core.QuestionKind]time.Duration{core.Approval: q.Approval, core.Clarify: q.Clarify, core.Secret: q.Secret, core.Sudo: q.Sudo}
}

// standing holds the approvals that stand for ever: the configuration's lists, and what people answered with "always".
type standing struct {
	off         bool
	allow, deny []string
	facts       core.Grants
}

const standingFact = "approval:"

// Ruling implements turn.Standing. A denial of any kind of thing the call would do denies the call; an allowance is for the
// key as a whole.
func (s *standing) Ruling(ctx context.Context, r tool.Risk) (tool.Verdict, error) {
	if matchesAny(s.deny, r.Key) {
		return tool.Forbid, nil
	}
	for _, kind := range r.Kinds {
		if matchesAny(s.deny, kind) {
			return tool.Forbid, nil
		}
	}
	if s.off || s.allows(r) {
		return tool.Allow, nil
	}
	v, err := s.facts.Fact(ctx, standingFact+r.Key)
	if err != nil || v == "" {
		return tool.Ask, err
	}
	return tool.Allow, nil
}

// allows reports whether the list of what is allowed has the call, or each kind of thing it would do where these say all.
func (s *standing) allows(r tool.Risk) bool {
	if !r.Plain || len(r.Kinds) == 0 {
		return matchesAny(s.allow, r.Key)
	}
	for _, kind := range r.Kinds {
		if !matchesAny(s.allow, kind) {
			return false
		}
	}
	return true
}

// Allow implements turn.Standing.
func (s *standing) Allow(ctx context.Context, key string, by core.PrincipalID) error {
	return s.facts.SetFact(ctx, standingFact+key, string(by))
}

// matchesAny reports whether key is one of the patterns; * at the end of a pattern stands for anything. An exact line
// (shell=…) is a shell line, too.
func matchesAny(patterns []string, key string) bool {
	key = strings.Replace(key, "shell=", "shell:=", 1)
	for _, p := range patterns {
		if head, any := strings.CutSuffix(p, "*"); p == key || any && strings.HasPrefix(key, head) {
			return true
		}
	}
	return false
}

// mostImage is the largest picture that is shown to a model, in bytes.
const mostImage = 8 << 20

// markdownHint fits every screen of a chat platform that renders Markdown.
const markdownHint = "The answer is read in a chat on a phone or a computer. Write Markdown; short paragraphs, lists and code blocks show well, wide tables do not."
