package adaptertest

import (
	"context"
	"fmt"
	"sync"

	"bellhop/adapters"
)

// Inbox remembers what it is given, as a store would. Safe for concurrent use.
type Inbox struct {
	mu      sync.Mutex
	changed chan struct{}
	got     []adapters.Inbound
	batches int
	cursor  string
	health  []error
	fail    func() error
	hold    chan struct{}
	answer  string
}

// NewInbox returns an empty one.
func NewInbox() *Inbox { return &Inbox{changed: make(chan struct{})} }

// FailWith makes Receive call f before it stores anything, and fail with its error.
func (i *Inbox) FailWith(f func() error) { i.mu.Lock(); defer i.mu.Unlock(); i.fail = f }

// AnswerPresses sets the text that receipts of presses carry.
func (i *Inbox) AnswerPresses(text string) { i.mu.Lock(); defer i.mu.Unlock(); i.answer = text }

// Receive stores the batch and its cursor together, or neither.
func (i *Inbox) Receive(ctx context.Context, b adapters.Batch) ([]adapters.Receipt, error) {
	i.mu.Lock()
	fail, hold := i.fail, i.hold
	i.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if fail != nil {
		if err := fail(); err != nil {
			return nil, err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.batches++
	if b.Cursor != "" {
		i.cursor = b.Cursor
	}
	out := make([]adapters.Receipt, len(b.Inbound))
	for n, in := range b.Inbound {
		i.got = append(i.got, in)
		out[n].ID = fmt.Sprint(len(i.got))
		if in.Kind == adapters.KindPress {
			out[n].Answer = i.answer
		}
	}
	i.touch()
	return out, nil
}

// Cursor returns the stored place.
func (i *Inbox) Cursor(context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.cursor, nil
}

// Health remembers how the connection fares.
func (i *Inbox) Health(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.health = append(i.health, err)
	i.touch()
}

// Healths returns everything Health was told so far.
func (i *Inbox) Healths() []error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]error(nil), i.health...)
}

func (i *Inbox) touch() {
	close(i.changed)
	i.changed = make(chan struct{})
}

// Got returns everything received so far.
func (i *Inbox) Got() []adapters.Inbound {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]adapters.Inbound(nil), i.got...)
}

// Wait returns everything once there are at least n.
func (i *Inbox) Wait(ctx context.Context, n int) ([]adapters.Inbound, error) {
	err := i.until(ctx, func() bool { return len(i.got) >= n })
	return i.Got(), err
}

// Until waits for f, which is called with the last Health.
func (i *Inbox) Until(ctx context.Context, f func(health error) bool) error {
	return i.until(ctx, func() bool { return len(i.health) > 0 && f(i.health[len(i.health)-1]) })
}

func (i *Inbox) until(ctx context.Context, f func() bool) error {
	for {
		i.mu.Lock()
		ok, changed := f(), i.changed
		i.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// holdBack makes Receive wait until the function it returns is called.
func (i *Inbox) holdBack() (release func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	hold := make(chan struct{})
	i.hold = hold
	return func() {
		i.mu.Lock()
		i.hold = nil
		i.mu.Unlock()
		close(hold)
	}
}
