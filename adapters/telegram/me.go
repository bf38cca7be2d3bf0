package telegram

import (
	"context"
	"strconv"
	"strings"

	"github.com/go-telegram/bot/models"
)

// whoami keeps what getMe says. The one slot of busy lets a single caller ask while others wait for the answer.
type whoami struct {
	busy  chan struct{}
	known identity // zero name: not asked yet
}

func newWhoami(token Secret) *whoami {
	head, _, _ := strings.Cut(token.Reveal(), ":")
	id, _ := strconv.ParseInt(head, 10, 64)
	return &whoami{busy: make(chan struct{}, 1), known: identity{id: id}}
}

// me returns who the bot is, asking Telegram the first time.
func (a *Adapter) me(ctx context.Context) (identity, error) {
	select {
	case a.self.busy <- struct{}{}:
		defer func() { <-a.self.busy }()
	case <-ctx.Done():
		return identity{}, ctx.Err()
	}
	if a.self.known.name == "" {
		u, err := a.getMe(ctx)
		if err != nil {
			return identity{}, err
		}
		a.self.known = identity{id: u.ID, name: u.Username}
	}
	return a.self.known, nil
}

// reader returns who the bot is as far as one must know to read a batch: most need no name, and so no waiting.
func (a *Adapter) reader(ctx context.Context, named bool) (identity, error) {
	if named {
		return a.me(ctx)
	}
	return identity{id: a.id}, nil
}

func (a *Adapter) getMe(ctx context.Context) (models.User, error) {
	var u models.User
	err := a.api.call(ctx, "getMe", none, &u)
	return u, err
}

// none are the parameters of a call without any.
var none = struct{}{}

// Probe checks the token and returns the bot's name, such as "@bell_bot".
func (a *Adapter) Probe(ctx context.Context) (string, error) {
	u, err := a.getMe(ctx)
	if err != nil {
		return "", err
	}
	return "@" + u.Username, nil
}
