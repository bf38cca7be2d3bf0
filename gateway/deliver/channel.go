package deliver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

const (
	callTime    = 90 * time.Second // the longest one platform call may take
	defaultWait = 5 * time.Second  // after a refusal without a number
	offFor      = time.Hour        // how long a capability that a peer lacks is left alone
)

// channel is one adapter with its budget and what was learned about its peers. Safe for concurrent use.
type channel struct {
	name    string
	adapter adapters.Adapter
	caps    adapters.Caps
	limits  adapters.Limits
	opts    Platform
	budget  *budget
	drafts  *budget // nil: drafts draw on budget
	metrics Metrics
	log     *slog.Logger
	reach   reach
	losses  *losses // nil: lost messages cannot be looked for
	wake    func()  // what is owed can be sent

	mu  sync.Mutex
	off map[lack]time.Time // capabilities a peer lacks, and until when that is believed
}

// lack is a capability that one peer does not have.
type lack struct{ chat, what string }

const (
	lackEdit    = "edit"
	lackTyping  = "typing"
	lackButtons = "buttons"
	lackDelete  = "delete"
)

// newChannel makes one. alone: no other process speaks for the account, so all that it makes is known here.
func newChannel(a adapters.Adapter, o Platform, alone bool, m Metrics, wake func(), log *slog.Logger) *channel {
	l := a.Limits()
	c := &channel{name: a.Name(), adapter: a, caps: adapters.CapsOf(a), limits: l, opts: o, metrics: m, wake: wake,
		log: log.With("platform", a.Name()), off: map[lack]time.Time{}}
	c.budget = newBudget(rates(o.Limits, l))
	if c.caps.Tracer != nil && alone {
		c.losses = newLosses()
	}
	if l.DraftRate > 0 {
		c.drafts = newBudget(draftRates(o.Limits, l))
	}
	return c
}

// rates chooses between the configured limits and the platform's own. A rate is taken 3 % slower than published, because
// calls do not arrive as evenly as they leave.
func rates(o Limits, l adapters.Limits) (chat, group, bot Rate) {
	if o.Off {
		return Rate{}, Rate{}, Rate{}
	}
	burst := max(l.ChatBurst, 1)
	pick := func(set Rate, every time.Duration, burst int) Rate {
		r := set
		if r.Every == 0 {
			r.Every = every
		}
		if r.Burst == 0 {
			r.Burst = burst
		}
		r.Every += r.Every * 3 / 100
		return r
	}
	chat = pick(o.Chat, l.ChatRate, burst)
	group = pick(o.Group, cmp.Or(l.GroupRate, l.ChatRate), burst)
	bot = pick(o.Bot, l.BotRate, math.MaxInt)
	if bot.Every > 0 { // not a whole second's worth at once: at this rate calls bunch up on the way
		bot.Burst = max(1, min(bot.Burst, int(800*time.Millisecond/bot.Every)))
	}
	return chat, group, bot
}

// lacks reports whether a peer is known not to have a capability.
func (c *channel) lacks(chat, what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.off[lack{chat, what}]
	return ok && time.Now().Before(until)
}

// learn remembers for a while that a peer lacks a capability.
func (c *channel) learn(chat, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if len(c.off) >= keepChats {
		for k, until := range c.off {
			if !now.Before(until) || len(c.off) >= 2*keepChats {
				delete(c.off, k)
			}
		}
	}
	c.off[lack{chat, what}] = now.Add(offFor)
}

// wait waits for the budget and spends one call of it. Waiting longer than patience is a *later; the end of ctx is *ended.
func (c *channel) wait(ctx context.Context, to adapters.Target, p priority, patience time.Duration) error {
	waited, err := c.budget.take(ctx, to.Chat, to.Group, p, patience)
	if waited > 0 {
		c.metrics.Throttled(c.name, waited)
	}
	return err
}

// now spends one call if the budget allows it at once; otherwise it is a *later.
func (c *channel) now(to adapters.Target, p priority) error {
	if at, ok := c.budget.try(to.Chat, to.Group, p); !ok {
		return &later{At: at}
	}
	return nil
}

// spent makes a call that the budget has allowed.
func (c *channel) spent(ctx context.Context, to adapters.Target, method string, fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	err := fn(ctx)
	c.metrics.Call(c.name, method, codeOf(err))
	c.heard(err)
	if err == nil || adapters.KindOf(err) != adapters.Limited {
		return err
	}
	wait := retryAfter(err)
	c.metrics.Throttled(c.name, wait)
	c.budget.cool(to.Chat, to.Group, wait)
	return err
}

// sendNow creates a message. Like editNow and deleteNow it is called after wait or now. lost is the name under which the
// message can be looked for when nobody knows what became of it.
func (c *channel) sendNow(ctx context.Context, to adapters.Target, m adapters.Outgoing) (ref adapters.Ref, lost string, err error) {
	lost, err = c.making(to, c.mark(to), func() error {
		return c.spent(ctx, to, "send", func(ctx context.Context) error {
			ref, err = c.adapter.Send(ctx, to, m)
			return err
		})
	})
	return ref, lost, err
}

// uploadNow creates a message with a file, which cannot be looked for.
func (c *channel) uploadNow(ctx context.Context, to adapters.Target, f adapters.Upload) (ref adapters.Ref, err error) {
	_, err = c.making(to, "", func() error {
		return c.spent(ctx, to, "upload", func(ctx context.Context) error {
			ref, err = c.caps.Uploader.Upload(ctx, to, f)
			return err
		})
	})
	return ref, err
}

// making runs a call that makes a message, and remembers what became of it.
func (c *channel) making(to adapters.Target, mark string, call func() error) (lost string, err error) {
	if c.losses != nil {
		o := c.losses.begin(to.Chat, mark)
		defer func() { c.losses.end(to.Chat, o, kindOf(err) == adapters.Ambiguous) }()
		lost = o.name
	}
	err = call()
	switch {
	case err == nil:
		if c.reach.making() {
			c.wake()
		}
	case !serves(err):
		c.reach.failing(to.Chat, err)
	}
	if kindOf(err) != adapters.Ambiguous {
		lost = ""
	}
	return lost, err
}

func (c *channel) editNow(ctx context.Context, to adapters.Target, ref adapters.Ref, m adapters.Outgoing) error {
	err := c.spent(ctx, to, "edit", func(ctx context.Context) error { return c.caps.Editor.Edit(ctx, to, ref, m) })
	if err = edited(err); err == nil {
		c.metrics.Edited(c.name)
	}
	return err
}

func (c *channel) deleteNow(ctx context.Context, to adapters.Target, ref adapters.Ref) error {
	return c.spent(ctx, to, "delete", func(ctx context.Context) error { return c.caps.Deleter.Delete(ctx, to, ref) })
}

func (c *channel) typingNow(ctx context.Context, to adapters.Target) error {
	return c.spent(ctx, to, "typing", func(ctx context.Context) error { return c.caps.Typer.Typing(ctx, to) })
}

// edited treats an edit that changes nothing as the success it is.
func edited(err error) error {
	if err != nil && adapters.KindOf(err) == adapters.Unchanged {
		return nil
	}
	return err
}

// mark is where a message that is about to be made can be looked for, should nobody say what became of it.
func (c *channel) mark(to adapters.Target) string {
	if c.losses == nil {
		return ""
	}
	now, _ := c.caps.Tracer.Trace(to, "")
	return now
}

func (c *channel) canEdit(chat string) bool {
	return c.caps.Editor != nil && !c.lacks(chat, lackEdit)
}

func targetOf(r core.Route) adapters.Target {
	return adapters.Target{Chat: r.Chat, Thread: r.Thread, User: r.User, Group: r.Group}
}

// retryAfter is how long a refusal asks to wait.
func retryAfter(err error) time.Duration {
	var e *adapters.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	return defaultWait
}

func movedTo(err error) string {
	var e *adapters.Error
	if errors.As(err, &e) {
		return e.MovedTo
	}
	return ""
}

// codeOf is the label of a call's end: ok, the platform's code, or the kind when no answer came.
func codeOf(err error) string {
	if err == nil {
		return "ok"
	}
	var e *adapters.Error
	if errors.As(err, &e) && e.Code != 0 {
		return strconv.Itoa(e.Code)
	}
	return string(adapters.KindOf(err))
}
