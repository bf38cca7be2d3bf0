package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"bellhop/adapters"
)

// Times of the poll loop. The server holds a poll 50 s at most.
const (
	pollFor     = 50 * time.Second
	pollGrace   = 10 * time.Second
	firstPause  = 500 * time.Millisecond
	maxPause    = 30 * time.Second
	conflictFor = 5 * time.Second // least pause while another program polls
	maxBatch    = 100
	maxToasts   = 64
)

// poller is the receiving half of a run. One batch is in hand at a time: it is durable before the next poll, whose
// offset tells Telegram to forget it.
type poller struct {
	a      *Adapter
	in     adapters.Inbox
	offset int64
	sound  bool      // the last poll went well; else the next one is a short probe
	last   time.Time // of the last good poll
	pause  *backoff.ExponentialBackOff
	toasts chan toast
}

// toast is the short answer to a press.
type toast struct{ press, text string }

func newPoller(a *Adapter, in adapters.Inbox) *poller {
	return &poller{a: a, in: in, last: time.Now(), pause: newPause(), toasts: make(chan toast, maxToasts)}
}

func newPause() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier = firstPause, maxPause, 2
	b.Reset()
	return b
}

func (p *poller) run(ctx context.Context) error {
	if err := p.start(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		batch, err := p.poll(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if err := p.failed(ctx, err); err != nil {
				return err
			}
			continue
		}
		p.sound, p.last = true, time.Now()
		p.in.Health(nil)
		before := p.offset
		p.take(ctx, batch)
		if len(batch) > 0 && p.offset == before {
			p.stuck(ctx)
			continue
		}
		p.pause.Reset()
	}
	return nil
}

// stuck waits before the same updates are asked for again: without a readable id nothing can be told to be forgotten.
func (p *poller) stuck(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	p.in.Health(errors.New("an update has no readable update_id, so Telegram sends it again and again"))
	sleep(ctx, p.pause.NextBackOff())
}

// start goes on from the stored place. Without a readable one Telegram sends everything it still keeps.
func (p *poller) start(ctx context.Context) error {
	for {
		cursor, err := p.in.Cursor(ctx)
		if err == nil {
			p.offset, _ = strconv.ParseInt(cursor, 10, 64)
			return nil
		}
		if !sleep(ctx, p.pause.NextBackOff()) {
			return nil
		}
	}
}

type getUpdates struct {
	Offset  int64    `json:"offset,omitempty"`
	Limit   int      `json:"limit"`
	Timeout int      `json:"timeout"`
	Allowed []string `json:"allowed_updates"`
}

// poll asks for updates. The first poll, and every one after a failure, does not wait: it finds out whether polling works.
func (p *poller) poll(ctx context.Context) ([]json.RawMessage, error) {
	wait := time.Duration(0)
	if p.sound {
		wait = pollFor
	}
	var batch []json.RawMessage
	err := p.a.inbox.callFor(ctx, wait+pollGrace, "getUpdates",
		getUpdates{Offset: p.offset, Limit: maxBatch, Timeout: int(wait.Seconds()), Allowed: allowedUpdates}, &batch)
	return batch, err
}

// failed reports a poll that failed and waits before the next one. An error it returns ends the run.
func (p *poller) failed(ctx context.Context, err error) error {
	p.sound = false
	var e *adapters.Error
	errors.As(err, &e)
	wait := p.pause.NextBackOff()
	switch adapters.KindOf(err) {
	case adapters.Auth, adapters.Misuse:
		return err
	case adapters.Limited:
		wait = max(wait, e.RetryAfter)
	case adapters.Conflict:
		if wait = max(wait, conflictFor); strings.Contains(e.Text, "webhook is active") {
			if err := p.a.deleteWebhook(ctx); err == nil {
				return nil
			}
		}
	}
	p.in.Health(fmt.Errorf("no successful poll for %s: %w", time.Since(p.last).Round(time.Second), err))
	sleep(ctx, wait)
	return nil
}

// take hands a batch on until it is durable. Only then does the offset move.
func (p *poller) take(ctx context.Context, raw []json.RawMessage) {
	pause := newPause()
	for len(raw) > 0 {
		next, err := p.receive(ctx, raw)
		if err == nil {
			p.offset = max(p.offset, next)
			return
		}
		if !sleep(ctx, pause.NextBackOff()) {
			return
		}
	}
}

func (p *poller) receive(ctx context.Context, raw []json.RawMessage) (next int64, err error) {
	me, err := p.a.reader(ctx, needsName(raw))
	if err != nil {
		p.in.Health(err)
		return 0, err
	}
	b := adapters.Batch{Inbound: make([]adapters.Inbound, 0, len(raw))}
	for _, r := range raw {
		in, id := p.a.decode(r, me)
		next = max(next, id+1)
		b.Inbound = append(b.Inbound, in)
	}
	b.Cursor = formatID(max(next, p.offset))
	receipts, err := p.in.Receive(ctx, b)
	if err != nil {
		return 0, err
	}
	for i, in := range b.Inbound {
		if in.Kind == adapters.KindPress && i < len(receipts) && receipts[i].Answer != "" {
			p.toast(toast{in.PressID, receipts[i].Answer})
		}
	}
	return next, nil
}

// toast never holds the loop up: with too many on their way one is left out, and the person's client stops waiting by
// itself.
func (p *poller) toast(t toast) {
	select {
	case p.toasts <- t:
	default:
	}
}

// answerPresses shows toasts. One that comes too late is worth nothing to anybody, so errors end here.
func (p *poller) answerPresses(ctx context.Context) error {
	for {
		select {
		case t := <-p.toasts:
			_ = p.a.AnswerPress(ctx, t.press, t.text)
		case <-ctx.Done():
			return nil
		}
	}
}

// sleep waits, and reports whether ctx is still good.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
