package deliver

import (
	"context"
	"sync"
	"time"

	"bellhop/adapters"
)

// probeTime bounds the call that asks whether a platform answers.
const probeTime = 10 * time.Second

// reach is what is known of whether a platform answers. Any call, and what its adapter hears, tells.
//
//	answers --a call gets no answer--> away --any answer--> answers
//	                                    |  ^
//	                                    probe, ever more seldom
//
// When calls in a row got no answer, the first that comes makes what is owed due at once. A single one does not: the
// fault may be with what was sent, and a call that works is no reason to send that again.
type reach struct {
	probing sync.Mutex // held by the one who asks

	mu     sync.Mutex
	away   bool
	lost   int  // calls in a row without an answer
	owing  bool // something waits for it
	healed bool // it answers again, and what waits was not hastened yet
	misses int  // probes in a row without an answer
	askAt  time.Time
	made   time.Time // when a message was made last
}

// outageFrom is how many calls in a row without an answer are an outage.
const outageFrom = 2

// away says that the platform does not answer, and when it will be asked again.
type away struct{ At time.Time }

func (a *away) Error() string { return "the platform does not answer" }

// serves reports whether the end of a call shows that the platform does what it is asked, or says why not.
func serves(err error) bool {
	switch kindOf(err) {
	case adapters.Temporary, adapters.Ambiguous, adapters.Auth, adapters.Conflict:
		return false
	}
	return true
}

// heard notes the end of a call. It reports whether something that is owed can be sent now.
func (r *reach) heard(ok bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		r.away = true
		r.lost++
		return false
	}
	over := r.lost >= outageFrom && r.owing
	r.away, r.lost, r.misses, r.askAt = false, 0, 0, time.Time{}
	r.healed = r.healed || over
	return over
}

// making notes that a message was made; madeSince reports whether one was since t.
func (r *reach) making() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = time.Now()
}

func (r *reach) madeSince(t time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made.After(t)
}

// waits notes that something is owed until the platform answers.
func (r *reach) waits() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owing = true
}

// recovered reports, once, that the platform answers again while something is owed.
func (r *reach) recovered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	healed := r.healed
	if healed {
		r.healed, r.owing = false, false
	}
	return healed
}

// missed notes a probe without an answer and returns when to ask again.
func (r *reach) missed() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.askAt = time.Now().Add(pauseAfter(tryPauses[:], r.misses))
	r.misses++
	return r.askAt
}

func (r *reach) state() (gone bool, askAt time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.away, r.askAt
}

// reachable asks the platform whether it answers when the last call got no answer: what is sent into the void comes back
// as a copy. One asks for all. The error is an *away, or the end of ctx.
func (c *channel) reachable(ctx context.Context) error {
	if gone, _ := c.reach.state(); !gone || c.caps.Prober == nil {
		return nil
	}
	c.reach.probing.Lock()
	defer c.reach.probing.Unlock()
	gone, askAt := c.reach.state()
	switch {
	case !gone:
		return nil
	case ctx.Err() != nil:
		return &ended{context.Cause(ctx)}
	case time.Now().Before(askAt):
		return &away{askAt}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	_, err := c.caps.Prober.Probe(ctx)
	c.metrics.Call(c.name, "probe", codeOf(err))
	if c.heard(serves(err)); serves(err) {
		return nil
	}
	return &away{c.reach.missed()}
}

// heard notes whether the platform answers.
func (c *channel) heard(ok bool) {
	if c.reach.heard(ok) {
		c.wake()
	}
}

// Heard says that a platform answered, or sent something by itself. It never blocks.
func (m *Mouth) Heard(platform string) {
	if c := m.channels[platform]; c != nil {
		c.heard(true)
	}
}
