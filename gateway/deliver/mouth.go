package deliver

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"bellhop/adapters"
	"bellhop/core"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"
)

// Chats follows a chat that got a new id.
type Chats interface {
	Rekey(ctx context.Context, from, to core.Key, chat string) error
}

// Leases tells whether a turn may still speak.
type Leases interface {
	Holds(ctx context.Context, f core.Fence) error
}

// Turns reads what a turn is about: what is asked in it, where its answer goes, and what waits behind it.
type Turns interface {
	Question(ctx context.Context, id core.QuestionID) (core.Question, error)
	Ended(ctx context.Context, since time.Time) ([]core.Question, error)
	Admission(ctx context.Context, id core.AdmissionID) (core.Admission, error)
	Unsettled(ctx context.Context, c core.ConversationID) ([]core.Admission, error)
}

// Rate is a token bucket: one call each Every, Burst at once. The zero Rate is no limit.
type Rate struct {
	Every time.Duration
	Burst int
}

// Limits replace the platform's published rates where they are set.
type Limits struct {
	Off              bool // no self-imposed budget at all
	Chat, Group, Bot Rate
}

// Platform is how one adapter speaks.
type Platform struct {
	Mode            string // edit, draft or native (edit where there are no drafts), buffer, off
	EditInterval    time.Duration
	DraftInterval   time.Duration // 0: as EditInterval
	BufferThreshold int
	Cursor          string
	ToolProgress    string // off, compact, full
	Interim         bool
	Cleanup         bool
	Limits          Limits
}

// Metrics hears what happens; every method may be called concurrently and must not block.
type Metrics interface {
	Call(platform, method, code string)         // one platform call ended
	Throttled(platform string, d time.Duration) // time a call waited for the platform's or our own limit
	Edited(platform string)                     // a live message changed
	Shown(after time.Duration)                  // a turn's first text can be seen, so long after its claim
}

// Config is what a Mouth needs.
type Config struct {
	Store     core.Deliveries
	Chats     Chats
	Leases    Leases // nil: the fence is not asked again before a preview
	Turns     Turns
	Home      func(ctx context.Context) (core.Route, bool) // the owner's chat; nil: nobody's
	Adapters  []adapters.Adapter
	Platforms map[string]Platform // by adapter name; the key "" is for the others
	Files     []string            // folders that files may be sent from
	GiveUp    time.Duration       // after so long an answer that nobody could be given is recorded as dead; 0: a day
	Nodes     func() int          // how many processes share each bot's rate; nil: this one alone has it
	Alone     bool                // no other process delivers from this store: left-overs are taken up at once
	Metrics   Metrics             // nil: nobody counts
	Log       *slog.Logger
}

// Mouth sends. One per process; safe for concurrent use.
type Mouth struct {
	cfg      Config
	log      *slog.Logger
	metrics  Metrics
	channels map[string]*channel // by adapter name
	lanes    *lanes
	debts    *debts
	kick     chan struct{} // rows may have become due
	took     bool          // TakeOver was called
	cards    *cards
	pulse    *pulse

	mu    sync.Mutex
	group *errgroup.Group // of Run, while it runs
	ctx   context.Context // of Run, while it runs
}

// New makes a Mouth. It sends nothing before Run.
func New(cfg Config) *Mouth {
	m := &Mouth{cfg: cfg, log: cfg.Log, metrics: cfg.Metrics, channels: map[string]*channel{}, kick: make(chan struct{}, 1)}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.cfg.GiveUp = cmp.Or(cfg.GiveUp, giveUp)
	if m.metrics == nil {
		m.metrics = uncounted{}
	}
	for _, a := range cfg.Adapters {
		o, ok := cfg.Platforms[a.Name()]
		if !ok {
			o = cfg.Platforms[""]
		}
		c := newChannel(a, o, cfg.Alone, m.metrics, m.Wake, m.log)
		c.budget.bot.among = cfg.Nodes
		m.channels[a.Name()] = c
	}
	m.lanes, m.debts, m.cards, m.pulse = newLanes(), newDebts(), newCards(m), newPulse(m)
	return m
}

// Say stores a delivery, which is then sent as soon as it can be, whatever happens to this process. Missing id, kind
// (notice), state and time are filled in. The error is of the store: nothing will be said.
func (m *Mouth) Say(ctx context.Context, d core.Delivery) error {
	now := time.Now()
	d.ID = cmp.Or(d.ID, core.DeliveryID(ulid.Make().String()))
	d.Kind = cmp.Or(d.Kind, core.DeliverNotice)
	d.State = cmp.Or(d.State, core.DeliveryOwed)
	if d.Created.IsZero() {
		d.Created = now
	}
	if d.Route.IsZero() { // nowhere to say it
		return nil
	}
	mine := d.State == core.DeliveryOwed && d.NotBefore.IsZero() && m.running()
	if mine {
		d.State, d.LiveUntil = core.DeliveryLive, now.Add(ownFor)
	}
	if err := m.cfg.Store.Put(ctx, d); err != nil {
		return err
	}
	if mine {
		m.lanes.push(d)
		m.lanes.start(m)
		return nil
	}
	m.Wake()
	return nil
}

// Wake says that rows may have become due, for example because somebody else's transaction stored one.
func (m *Mouth) Wake() {
	select {
	case m.kick <- struct{}{}:
	default:
	}
}

// On hears events of every conversation: it shows questions and what became of them, and looks for what is owed when a turn
// ended that was not shown live, as one that was read back. It never blocks.
func (m *Mouth) On(e core.Event) {
	m.cards.on(e)
	if (e.Type == core.MessageComplete || e.Type == core.ErrorEvent) && !m.pulse.shows(e.Turn) {
		m.Wake()
	}
}

// Waiting says that a row was queued with others before it. When its conversation does not get on for a while the person
// is told, in one message that disappears with the first turn.
func (m *Mouth) Waiting(a core.Admission, ahead int) { m.pulse.waits(a, ahead) }

// Run sends what is owed until ctx ends; then it waits for the calls that are under way.
func (m *Mouth) Run(ctx context.Context) error {
	g, run := errgroup.WithContext(ctx)
	m.mu.Lock()
	m.group, m.ctx = g, run
	m.mu.Unlock()
	g.Go(func() error { return m.outbox(run) })
	g.Go(func() error { return m.cards.run(run) })
	g.Go(func() error { return m.pulse.run(run) })
	<-run.Done()
	m.mu.Lock()
	m.group, m.ctx = nil, nil
	m.mu.Unlock()
	return g.Wait()
}

func (m *Mouth) running() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.group != nil
}

// spawn runs fn in a goroutine that Run waits for. false: Run is not running, and fn does not run either.
func (m *Mouth) spawn(fn func(ctx context.Context)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.group == nil {
		return false
	}
	ctx := m.ctx
	m.group.Go(func() error { fn(ctx); return nil })
	return true
}

// save stores what became of rows. A store that cannot be reached now is asked a few times more: what was sent should not
// be forgotten. The end of ctx does not end it.
func (m *Mouth) save(ctx context.Context, d ...core.Delivery) error {
	for _, d := range d {
		if d.State == core.DeliveryOwed {
			m.lanes.put(d)
		}
	}
	err := insist(ctx, func(ctx context.Context) error { return m.cfg.Store.Save(ctx, d...) })
	for _, d := range d {
		switch {
		case err == nil:
			m.debts.note(d)
		case core.Is(err, core.Conflict):
			m.debts.paid(d.ID)
		}
		if err == nil && d.State == core.DeliveryOwed {
			m.Wake()
		}
	}
	return err
}

// aside stores a row that is owed and holds up nobody any more.
func (m *Mouth) aside(ctx context.Context, d core.Delivery) error {
	m.lanes.put(d)
	err := insist(ctx, func(ctx context.Context) error { return m.cfg.Store.Aside(ctx, d) })
	if err == nil || core.Is(err, core.Conflict) { // also while it is tried again
		m.debts.paid(d.ID)
		m.Wake()
	}
	return err
}

// insist writes to the store, for saveTime at most.
func insist(ctx context.Context, write func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	pause := firstSavePause
	for {
		err := write(ctx)
		if err == nil {
			return nil
		}
		if k := core.KindOf(err); k != core.Unavailable && k != core.Busy && k != core.NoSpace {
			return err
		}
		if wait := sleep(ctx, pause, nil); wait != nil {
			return err
		}
		pause *= 2
	}
}

const (
	saveTime       = 15 * time.Second
	firstSavePause = 100 * time.Millisecond
)

// follow moves a chat that got a new id, and r with it.
func (m *Mouth) follow(ctx context.Context, c *channel, r *core.Route, to string) error {
	from := core.Key(c.name + ":" + r.Chat)
	if err := m.cfg.Chats.Rekey(ctx, from, core.Key(c.name+":"+to), to); err != nil {
		return err
	}
	c.log.Info("a chat has the new id "+to, "target", r.Chat)
	r.Chat = to
	return nil
}

// uncounted is the Metrics of a Mouth that has none.
type uncounted struct{}

func (uncounted) Call(string, string, string)     {}
func (uncounted) Throttled(string, time.Duration) {}
func (uncounted) Edited(string)                   {}
func (uncounted) Shown(time.Duration)             {}
