package deliver

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"bellhop/adapters"
)

// probeTime bounds the call that asks whether a platform answers.
const probeTime = 10 * time.Second

// reach is what is known of whether a platform answers. Any call, and what its adapter hears, tells; but only what failed
// proves that it works again.
//
//	answers --a call fails--> away --any answer--> answers
//	                           |  ^
//	                           probe, ever more seldom
//
//	well --messages fail in a row--> ill --a message is made--> well, and what is owed is due at once
//	                                  |
//	                                  +--no call got any answer, and one does--> one row is due at once
//
// A poll or a probe says nothing about messages that are refused with an error of the server's. After calls that got no
// answer at all it says enough to try one row, once in an outage; when that is made the others follow. One chat whose
// messages are refused is no outage: the fault may be with what is sent.
type reach struct {
	probing sync.Mutex // held by the one who asks

	mu     sync.Mutex
	away   bool
	misses int // probes in a row without an answer
	askAt  time.Time

	unheard int // calls in a row without any answer

	// Since a message was made last.
	refused bool   // an error of the server's came instead
	chat    string // the first where a message failed
	several bool   // it was not the only one
	tried   bool   // the one row was made due

	owing bool      // something waits for it
	due   haste     // what should be made due, and was not yet
	made  time.Time // when a message was made last
}

// haste is how much of what is owed becomes due before its time.
type haste int

const (
	noHaste haste = iota
	oneRow
	allRows
)

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

// unanswered reports whether a call got no answer at all.
func unanswered(err error) bool {
	k := kindOf(err)
	var e *adapters.Error
	return k == adapters.Ambiguous || k == adapters.Temporary && (!errors.As(err, &e) || e.Code == 0)
}

// heard notes the end of a call; nil is also that something came by itself. It reports whether something that is owed can
// be tried.
func (r *reach) heard(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away = !serves(err); r.away {
		if unanswered(err) {
			r.unheard++
		}
		return false
	}
	over := r.unheard >= outageFrom && !r.refused && !r.tried && r.owing
	r.unheard, r.misses, r.askAt = 0, 0, time.Time{}
	if over {
		r.tried, r.due = true, max(r.due, oneRow)
	}
	return over
}

// making notes that a message was made. It reports whether what is owed can be sent.
func (r *reach) making() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	over := (r.several || r.tried) && r.owing
	r.refused, r.chat, r.several, r.tried = false, "", false, false
	r.made = time.Now()
	if over {
		r.due, r.owing = allRows, false
	}
	return over
}

// failing notes that a message of a chat could not be made for a reason that is the platform's.
func (r *reach) failing(chat string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.several = r.several || r.chat != "" && r.chat != chat
	r.chat = cmp.Or(r.chat, chat)
	r.refused = r.refused || !unanswered(err)
}

// ill reports whether the messages of several chats fail and none is made.
func (r *reach) ill() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.several
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

// hasten returns, once, what should be made due.
func (r *reach) hasten() haste {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.due
	r.due = noHaste
	return h
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
	if c.heard(err); serves(err) {
		return nil
	}
	return &away{c.reach.missed()}
}

// heard notes whether the platform answers.
func (c *channel) heard(err error) {
	if c.reach.heard(err) {
		c.wake()
	}
}

// Heard says that a platform answered, or sent something by itself. It never blocks.
func (m *Mouth) Heard(platform string) {
	if c := m.channels[platform]; c != nil {
		c.heard(nil)
	}
}
