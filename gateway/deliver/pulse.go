package deliver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

const (
	beat        = 250 * time.Millisecond
	typingAfter = time.Second
	placeAfter  = 2 * time.Second // without a turn beginning, before a place in the queue is told
	placeEvery  = 5 * time.Second // between changes of such a message
	placeLook   = time.Second     // between looks at what waits, while it is shown
)

// pulse keeps what is said in passing and is worth no row: typing, and the place in the queue. It beats while there is
// something to watch and sleeps otherwise. Both have the lowest priority and are left out rather than waited for.
type pulse struct {
	m    *Mouth
	kick chan struct{}

	mu     sync.Mutex
	awake  bool
	views  map[core.TurnID]*View
	places map[core.ConversationID]*place
}

// place is the one message that tells how many of a conversation's messages wait.
type place struct {
	route  core.Route
	count  int
	since  time.Time // when the last turn began, or the first message waited
	ref    adapters.Ref
	shown  int // the count it shows
	last   time.Time
	looked time.Time
	flying bool // it is being tended
}

func newPulse(m *Mouth) *pulse {
	return &pulse{m: m, kick: make(chan struct{}, 1), views: map[core.TurnID]*View{}, places: map[core.ConversationID]*place{}}
}

// wake is called with mu held.
func (p *pulse) wake() {
	if p.awake {
		return
	}
	p.awake = true
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

func (p *pulse) add(v *View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.views[v.fence.Turn] = v
	p.wake()
}

func (p *pulse) remove(v *View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.views, v.fence.Turn)
}

// live counts the turns that are shown.
func (p *pulse) live() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.views)
}

// shows reports whether a turn has a live message here.
func (p *pulse) shows(t core.TurnID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.views[t] != nil
}

func (p *pulse) waits(a core.Admission, ahead int) {
	r := a.Submission.Route
	if ahead == 0 || r.IsZero() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pl := p.places[a.Conversation]
	if pl == nil {
		pl = &place{since: time.Now()}
		p.places[a.Conversation] = pl
	}
	pl.route, pl.count = r, max(pl.count+1, 1)
	p.wake()
}

// begins says that a turn of the conversation was claimed and how many rows still wait behind it.
func (p *pulse) begins(c core.ConversationID, queued int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pl := p.places[c]; pl != nil {
		pl.count, pl.since = queued, time.Now()
	}
}

func (p *pulse) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.kick:
		}
		for p.beat() {
			if sleep(ctx, beat, nil) != nil {
				return nil
			}
		}
	}
}

// beat does what is due. false: there is nothing to watch.
func (p *pulse) beat() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for _, v := range p.views {
		if v.wantsTyping(now) {
			p.m.spawn(func(ctx context.Context) { v.typing(ctx) })
		}
		v.tellSilence(now)
	}
	for c, pl := range p.places {
		if pl.count == 0 && pl.ref == "" && !pl.flying {
			delete(p.places, c)
			continue
		}
		if !pl.flying && (p.due(pl, now) || pl.ref != "" && pl.count > 0 && now.Sub(pl.looked) >= placeLook) {
			pl.flying = p.m.spawn(func(ctx context.Context) { p.tend(ctx, c, pl) })
		}
	}
	p.awake = len(p.views)+len(p.places) > 0
	return p.awake
}

func (p *pulse) due(pl *place, now time.Time) bool {
	switch {
	case pl.count == pl.shown:
		return false
	case pl.count == 0: // to be removed
		return now.Sub(pl.last) >= beat
	case pl.ref == "":
		return now.Sub(pl.since) >= placeAfter && now.Sub(pl.last) >= time.Second
	}
	return now.Sub(pl.last) >= placeEvery
}

// tend looks at what still waits, which may have been cleared, and shows, changes or removes the message if that is due.
func (p *pulse) tend(ctx context.Context, c core.ConversationID, pl *place) {
	n, err := p.queued(ctx, c)
	p.mu.Lock()
	now := time.Now()
	if pl.looked = now; err == nil {
		pl.count = min(pl.count, n)
	}
	due, want, ref, route := p.due(pl, now), pl.count, pl.ref, pl.route
	if due {
		pl.last = now
	}
	p.mu.Unlock()
	if due {
		ref, err = p.say(ctx, route, ref, want)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pl.flying = false
	if !due {
		return
	}
	switch k := kindOf(err); {
	case k == none:
		pl.ref, pl.shown = ref, want
	case k == kindLater, k == adapters.Limited, k == adapters.Temporary, k == adapters.Ambiguous && pl.ref != "": // the next beat tries again
	default: // it is there or not; nothing more is said about it
		pl.ref, pl.shown, pl.count = "", 0, 0
	}
}

func (p *pulse) queued(ctx context.Context, c core.ConversationID) (n int, err error) {
	rows, err := p.m.cfg.Turns.Unsettled(ctx, c)
	for _, a := range rows {
		if a.Status == core.Queued {
			n++
		}
	}
	return n, err
}

// say makes one call. Where nothing can be said it does nothing.
func (p *pulse) say(ctx context.Context, r core.Route, ref adapters.Ref, count int) (adapters.Ref, error) {
	c := p.m.channels[r.Platform]
	if c == nil {
		return "", nil
	}
	return c.place(ctx, targetOf(r), ref, count)
}

// place shows the message for count rows and returns its id; it has none when it was removed.
func (c *channel) place(ctx context.Context, to adapters.Target, ref adapters.Ref, count int) (adapters.Ref, error) {
	if count == 0 && c.caps.Deleter == nil || ref != "" && count > 0 && !c.canEdit(to.Chat) {
		return ref, nil
	}
	if err := c.now(to, forTyping); err != nil {
		return ref, err
	}
	m := adapters.Outgoing{Text: placeText(count), Silent: true}
	switch {
	case count == 0:
		return "", c.deleteNow(ctx, to, ref)
	case ref == "":
		ref, lost, err := c.sendNow(ctx, to, m)
		if lost != "" {
			c.losses.spare(to.Chat, lost)
		}
		return ref, err
	}
	return ref, c.editNow(ctx, to, ref, m)
}

func placeText(n int) string {
	if n == 1 {
		return "⏳ One message is waiting; I am still on an earlier one."
	}
	return fmt.Sprintf("⏳ %d messages are waiting; I am still on an earlier one.", n)
}
