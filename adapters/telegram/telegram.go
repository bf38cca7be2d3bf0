package telegram

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/go-telegram/bot"
	"golang.org/x/sync/errgroup"

	"bellhop/adapters"
	"bellhop/adapters/media"
	"bellhop/stream/markup"
)

// Options are what tests replace.
type Options struct {
	// Client makes all calls and downloads; nil: one of the adapter's own, with the configured proxy.
	Client *http.Client
}

// Adapter is one bot account. Safe for concurrent use.
type Adapter struct {
	name   string
	cfg    Config
	id     int64 // of the bot, the first half of its token
	api    *caller
	inbox  *caller  // polls: no number of calls that hang keeps what people say out
	lib    *bot.Bot // uploads go through the library
	files  *media.Downloader
	self   *whoami
	places places
}

// New returns the adapter of one account; name is "telegram" or "telegram/account". It makes no call. The error is that
// of Check.
func New(name string, c Config, o Options) (*Adapter, error) {
	if err := errors.Join(c.Check()...); err != nil {
		return nil, err
	}
	a := &Adapter{name: name, cfg: c, api: newCaller(c, o.Client, maxConns), inbox: newCaller(c, o.Client, 1), self: newWhoami(c.Token)}
	a.id, a.places.epoch = a.self.known.id, rand.Uint64()
	m := media.Options{MaxBytes: maxDownload, Trusted: c.host(), Proxy: c.proxy()}
	if o.Client != nil {
		m.Transport = o.Client.Transport
	}
	a.files = media.New(m)
	var err error
	a.lib, err = bot.New(c.Token.Reveal(), bot.WithSkipGetMe(), bot.WithServerURL(c.api()), bot.WithHTTPClient(uploadTimeout, a.api),
		bot.WithErrorsHandler(func(error) {}), bot.WithDebugHandler(func(string, ...any) {}))
	if err != nil {
		return nil, a.api.hide.error(err)
	}
	return a, nil
}

// Name is "telegram" or "telegram/account".
func (a *Adapter) Name() string { return a.name }

// Limits are Telegram's published numbers: texts of 4096 and captions of 1024 characters after parsing; about a message
// a second in a chat, 20 a minute in a group, 30 a second in all. None are published for drafts; for the call underneath,
// which messages do not draw on, 20 in 5 s and 40 in 30 s of one chat are reported, and these stay below both.
func (a *Adapter) Limits() adapters.Limits {
	return adapters.Limits{Text: 4096, Caption: 1024, ChatRate: time.Second, ChatBurst: 3, GroupRate: 3 * time.Second,
		BotRate: time.Second / 30, EditEvery: time.Second, DraftRate: 1100 * time.Millisecond, DraftBurst: 13}
}

// Size counts the UTF-16 units of the text as it is shown. The server may count characters; units are never fewer.
func (a *Adapter) Size(markdown string) int { return markup.TelegramSize(markdown) }

// Fits tells what can be told of Size without parsing.
func (a *Adapter) Fits(markdown string, max int) bool { return markup.TelegramFits(markdown, max) }

// Run receives until ctx ends. It returns an error of Kind Auth when the token is not, or no longer, valid, and of Kind
// Misuse when Telegram does not understand the configuration.
func (a *Adapter) Run(ctx context.Context, in adapters.Inbox) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.learnName(ctx) })
	if a.cfg.mode() == Webhook {
		g.Go(func() error { return a.keepWebhook(ctx, in) })
		return g.Wait()
	}
	p := newPoller(a, in)
	g.Go(func() error { return p.answerPresses(ctx) })
	g.Go(func() error { return p.run(ctx) })
	return g.Wait()
}

// learnName asks who the bot is beside the first poll. Whoever needs the name and does not find it asks again, so a
// failure here is nobody's loss.
func (a *Adapter) learnName(ctx context.Context) error {
	_, _ = a.me(ctx)
	return nil
}

// chatID returns the id of a target. Telegram's ids are integers.
func chatID(method string, to adapters.Target) (int64, error) {
	id, err := strconv.ParseInt(to.Chat, 10, 64)
	if err != nil {
		return 0, misuse(method, "a chat's id is a number")
	}
	return id, nil
}

func misuse(method, text string) error {
	return &adapters.Error{Kind: adapters.Misuse, Method: method, Text: text}
}

// thread returns the topic of a target. The General topic has number 1, and must not be named.
func thread(method string, to adapters.Target) (int, error) {
	if to.Thread == "" || to.Thread == generalTopic {
		return 0, nil
	}
	id, err := strconv.Atoi(to.Thread)
	if err != nil {
		return 0, misuse(method, "a topic's id is a number")
	}
	return id, nil
}

func messageID(method, id string) (int, error) {
	n, err := strconv.Atoi(id)
	if err != nil {
		return 0, misuse(method, "a message's id is a number")
	}
	return n, nil
}
