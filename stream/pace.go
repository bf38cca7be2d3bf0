package stream

import (
	"context"
	"sync"
	"time"
)

// pace says when a Consumer paints. Nothing runs while there is nothing to paint; Consumer.mu guards it.
//
//	still --news, or the timer: something is due--> painting --nothing is due now--> still, the timer is set
type pace struct {
	run      func(paint func(context.Context)) bool // nil: nothing is painted before Finish
	timer    *time.Timer                            // nil until there is something to wait for
	at       time.Time                              // what the timer waits for; zero: nothing
	painting bool
	still    sync.WaitGroup // of painting
}

// stir sees to it that what is due is painted when it is. Call with mu held, after anything has changed.
func (c *Consumer) stir() {
	if c.pace.painting { // it looks again before it ends
		return
	}
	if at, wait := c.due(); !at.IsZero() && wait <= 0 {
		c.begin()
	} else {
		c.wind(at, wait)
	}
}

// due is when to paint, and how long that is from now; the zero time when nothing waits. Call with mu held while nobody
// paints, as the painter belongs to whoever does.
func (c *Consumer) due() (at time.Time, wait time.Duration) {
	if c.pace.run == nil || c.phase >= finishing {
		return at, 0
	}
	if at = c.p.due(&c.script, &c.tools, c.end); !at.IsZero() {
		wait = time.Until(at)
	}
	return at, wait
}

// wind sets the timer, unless it is set so already.
func (c *Consumer) wind(at time.Time, wait time.Duration) {
	p := &c.pace
	if at.Equal(p.at) {
		return
	}
	switch p.at = at; {
	case at.IsZero():
		p.timer.Stop()
	case p.timer == nil:
		p.timer = time.AfterFunc(wait, c.beat)
	default:
		p.timer.Reset(wait)
	}
}

func (c *Consumer) beat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pace.at = time.Time{}
	c.stir()
}

// begin starts to paint. Call with mu held.
func (c *Consumer) begin() {
	c.pace.painting = true
	c.pace.still.Add(1)
	if !c.pace.run(c.paint) {
		c.pace.run = nil
		c.rest()
	}
}

func (c *Consumer) rest() {
	c.pace.painting = false
	c.pace.still.Done()
}

// paint paints until nothing is due now.
func (c *Consumer) paint(ctx context.Context) {
	for {
		c.step(ctx)
		if !c.more(ctx) {
			return
		}
	}
}

// more reports whether something is due now; if not, painting is over until the timer or news begins it again.
func (c *Consumer) more(ctx context.Context) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		c.pace.run = nil
	}
	at, wait := c.due()
	if !at.IsZero() && wait <= 0 {
		return true
	}
	c.rest()
	c.wind(at, wait)
	return false
}

// step paints once. What it could not do is tried again when it is due, or left to Finish.
func (c *Consumer) step(ctx context.Context) {
	if !c.acquire(ctx) {
		return
	}
	defer c.release()
	c.p.paint(ctx, c)
}

// Wait returns when nothing is being painted. After Abandon, Finish, or the end of the context of Go it stays so.
func (c *Consumer) Wait() { c.pace.still.Wait() }
