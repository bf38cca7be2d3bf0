package telegram

import (
	"context"

	"bellhop/adapters"
)

// Telegram's bounds of a menu.
const (
	maxCommands = 100
	maxName     = 32
	maxAbout    = 256
)

type (
	setMyCommands struct {
		Commands []command `json:"commands"`
		Scope    scope     `json:"scope"`
	}
	command struct {
		Name  string `json:"command"`
		About string `json:"description"`
	}
	scope struct {
		Type string `json:"type"`
	}
)

// SetMenu tells Telegram which commands there are. Telegram knows administrators of groups but not the bot's own, so the
// commands for admins are listed to the administrators of groups only, and otherwise work without being listed. Items
// whose name Telegram does not take are left out of its menu; they too work when typed.
func (a *Adapter) SetMenu(ctx context.Context, items []adapters.MenuItem) error {
	for _, s := range []struct {
		scope string
		admin bool
	}{{"default", false}, {"all_chat_administrators", true}} {
		p := setMyCommands{Commands: commands(items, s.admin), Scope: scope{s.scope}}
		if err := a.api.call(ctx, "setMyCommands", p, nil); err != nil {
			return err
		}
	}
	return nil
}

func commands(items []adapters.MenuItem, admin bool) []command {
	out := []command{}
	for _, m := range items {
		if m.Admin && !admin || !isOf(digits+lower+"_", m.Name, maxName) || m.About == "" || len(out) == maxCommands {
			continue
		}
		out = append(out, command{m.Name, shorten(m.About, maxAbout)})
	}
	return out
}
