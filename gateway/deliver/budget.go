package deliver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// priority orders callers who wait for the same allowance; the lowest number goes first.
type priority uint8

const (
	forFinal   priority = iota // answers and questions
	forNotice                  // what the gateway itself has to say
	forFirst                   // the first frame of a live message
	forPreview                 // the others
	forTyping                  // typing, places in the queue
)

// slowFor is how long a refusal by the platform halves the rate of a chat.
const slowFor = time.Minute

// later says that a call cannot be made before At.
type later struct{ At time.Time }

func (l *later) Error() string { return "not before " + l.At.Format(time.RFC3339Nano) }

// budget is the allowance of one bot: a bucket for all its calls and one for each chat. It is safe for concurrent use.
type budget struct {
	mu      sync.Mutex
	chat    Rate
	group   Rate
	bot     bucket
	chats   map[string]*bucket
	sweepAt int       // size of chats at which idle ones are dropped
	queue   []*waiter // by priority, then by arrival
	turns   time.Time // until when turns are given to previews that the bot's rate holds up
}

// bucket is a token bucket kept as the time at which it would be full again.
type bucket struct {
	rate  Rate
	full  time.Time
	until time.Time  // the platform said: nothing before
	slow  time.Time  // half the rate until then
	turn  time.Time  // of a chat: when its preview may ask again
	next  time.Time  // of a chat: what it was told last
	among func() int // of the bot: how many nodes share the rate; nil: this one alone has it
}

type waiter struct {
	chat *bucket
	p    priority
	wake chan struct{}
}

const keepChats = 1024

func newBudget(chat, group, bot Rate) *budget {
	return &budget{chat: chat, group: group, bot: bucket{rate: bot}, chats: map[string]*bucket{}, sweepAt: keepChats}
}

func (b *bucket) every(now time.Time) time.Duration {
	every := b.rate.Every * time.Duration(b.share())
	if now.Before(b.slow) {
		return 2 * every
	}
	return every
}

// share is by how many the rate is divided.
func (b *bucket) share() int {
	if b.among == nil {
		return 1
	}
	return max(1, b.among())
}

// ready returns when n tokens will be there with keep more left over.
func (b *bucket) ready(now time.Time, n, keep int) time.Time {
	at := b.until
	if b.rate.Every > 0 {
		burst := max(b.rate.Burst/b.share(), 1)
		spare := burst - min(keep, burst-1) - n
		if t := b.full.Add(-time.Duration(spare) * b.every(now)); t.After(at) {
			at = t
		}
	}
	return at
}

func (b *bucket) spend(now time.Time) {
	if b.rate.Every == 0 {
		return
	}
	if b.full.Before(now) {
		b.full = now
	}
	b.full = b.full.Add(b.every(now))
}

func (b *bucket) idle(now time.Time) bool {
	return !b.full.After(now) && !b.until.After(now) && !b.slow.After(now)
}

// bucketOf returns the bucket of a chat and drops those that nothing depends on when there are many.
func (b *budget) bucketOf(chat string, group bool, now time.Time) *bucket {
	if c, ok := b.chats[chat]; ok {
		return c
	}
	if len(b.chats) >= b.sweepAt {
		for k, c := range b.chats {
			if c.idle(now) && !slices.ContainsFunc(b.queue, func(w *waiter) bool { return w.chat == c }) {
				delete(b.chats, k)
			}
		}
		b.sweepAt = max(keepChats, 2*len(b.chats))
	}
	c := &bucket{rate: b.chat}
	if group {
		c.rate = b.group
	}
	b.chats[chat] = c
	return c
}

// reserve is what a caller of priority p must leave for those before it.
func (b *budget) reserve(p priority) (chat, bot int) {
	switch {
	case p < forFirst:
		return 0, 0
	case p == forFirst:
		return 1, max(1, b.bot.rate.Burst/2)
	}
	return 1, max(1, b.bot.rate.Burst-2) // a hundred answers may end at once; frames live on what comes in
}

// readyFor returns when a caller of priority p may go, given everybody who waits before place in the queue.
func (b *budget) readyFor(c *bucket, p priority, place int, now time.Time) time.Time {
	same, able := 1, 1
	for _, w := range b.queue[:place] {
		if w.chat == c {
			same++
		}
		if !w.chat.ready(now, 1, 0).After(now) {
			able++
		}
	}
	keepChat, keepBot := b.reserve(p)
	at := c.ready(now, same, keepChat)
	if t := b.bot.ready(now, able, keepBot); t.After(at) {
		at = t
	}
	if same > 1 && !at.After(now) { // the one before has not gone yet; it will wake this one
		at = now.Add(time.Millisecond)
	}
	return at
}

// try spends one call if it can be made now without taking what waits before it or what is kept for answers; otherwise
// it returns when to ask again. Those whom the bot's rate holds up get turns, one after the other, so that they share what
// is left evenly and do not all come at once.
func (b *budget) try(chat string, group bool, p priority) (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	c := b.bucketOf(chat, group, now)
	at := b.readyFor(c, p, b.place(p), now)
	if p == forPreview {
		if turn := b.turn(c, at, now); turn.After(at) {
			at = turn
		}
		if !at.After(now) {
			at = b.yield(c, now)
		}
	}
	if c.next = at; at.After(now) {
		return at, false
	}
	c.turn = time.Time{}
	c.spend(now)
	b.bot.spend(now)
	return now, true
}

// turn returns when it is c's turn among the previews that the bot's rate holds up: the zero time when none is.
func (b *budget) turn(c *bucket, at, now time.Time) time.Time {
	keep, _ := b.reserve(forPreview)
	held := at.After(now) && !c.ready(now, 1, keep).After(now)
	if c.turn.IsZero() && (held || b.turns.After(now)) {
		c.turn = at
		if b.turns.After(at) {
			c.turn = b.turns
		}
		b.turns = c.turn.Add(b.bot.every(now))
	}
	return c.turn
}

// yield returns when c may go whose turn has come: now, or after those whose turn came earlier and who are about to ask.
func (b *budget) yield(c *bucket, now time.Time) time.Time {
	if c.turn.IsZero() {
		return now
	}
	for _, d := range b.chats {
		if d != c && !d.turn.IsZero() && d.turn.Before(c.turn) && now.Sub(d.next) < b.bot.every(now) && d.next.Sub(now) < b.bot.every(now) {
			return now.Add(b.bot.every(now))
		}
	}
	return now
}

// place returns where a newcomer of priority p stands.
func (b *budget) place(p priority) int {
	i, _ := slices.BinarySearchFunc(b.queue, p, func(w *waiter, p priority) int {
		if w.p <= p {
			return -1
		}
		return cmp.Compare(w.p, p)
	})
	return i
}

// take waits until a call can be made and spends it. When that is more than patience away it returns a *later at once.
// It returns how long it waited.
func (b *budget) take(ctx context.Context, chat string, group bool, p priority, patience time.Duration) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	start := time.Now()
	c := b.bucketOf(chat, group, start)
	place := b.place(p)
	at := b.readyFor(c, p, place, start)
	if !at.After(start) {
		c.spend(start)
		b.bot.spend(start)
		return 0, nil
	}
	w := &waiter{chat: c, p: p, wake: make(chan struct{}, 1)}
	b.queue = slices.Insert(b.queue, place, w)
	defer b.leave(w)
	for {
		now := time.Now()
		at := b.readyFor(c, p, slices.Index(b.queue, w), now)
		if !at.After(now) {
			c.spend(now)
			b.bot.spend(now)
			return now.Sub(start), nil
		}
		if at.Sub(start) > patience {
			return now.Sub(start), &later{At: at}
		}
		b.mu.Unlock()
		err := sleep(ctx, at.Sub(now), w.wake)
		b.mu.Lock()
		if err != nil {
			return time.Since(start), &ended{err}
		}
	}
}

// leave takes w out of the queue and wakes whoever stood behind it for the same chat.
func (b *budget) leave(w *waiter) {
	i := slices.Index(b.queue, w)
	b.queue = slices.Delete(b.queue, i, i+1)
	for _, o := range b.queue[i:] {
		if o.chat == w.chat {
			select {
			case o.wake <- struct{}{}:
			default:
			}
		}
	}
}

// cool stops a chat for d and lowers its rate for a while after that.
func (b *budget) cool(chat string, group bool, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	c := b.bucketOf(chat, group, now)
	if t := now.Add(d); t.After(c.until) {
		c.until = t
	}
	c.slow = c.until.Add(slowFor)
}

// sleep waits for d or a wake-up.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
	case <-wake:
	}
	return nil
}
