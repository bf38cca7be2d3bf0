package stream

import (
	"context"
	"iter"
	"log/slog"

	"bellhop/core"
)

// Listener is told news. On never blocks, and is called in order within a conversation.
type Listener interface{ On(e core.Event) }

// HubOptions bound a Hub; zero fields take the defaults.
type HubOptions struct {
	Ring          int // events kept per conversation; default 512
	Conversations int // idle conversations kept; default 1024
	Log           *slog.Logger
}

// Hub numbers events, keeps the newest of each conversation, and fans them out. Safe for concurrent use.
type Hub struct {
	log core.Events
	o   HubOptions
}

// NewHub makes a hub over the event log. Run must be called for durable events to be recorded.
func NewHub(log core.Events, o HubOptions) *Hub { return &Hub{log: log, o: o} }

// Open hands the hub a turn's block of core.EventBlock numbers, reserved by its claim.
func (h *Hub) Open(c core.ConversationID, a core.AdmissionID, t core.TurnID, base int64) {}

// Number gives a number to news that somebody else's transaction stores. Publish or Drop it afterwards.
func (h *Hub) Number(ctx context.Context, c core.ConversationID, a core.AdmissionID, t core.TurnID, b core.EventBody) (core.Event, error) {
	return core.Event{}, nil
}

// Publish fans out a numbered event that is already stored, or not durable.
func (h *Hub) Publish(e core.Event) {}

// Drop gives up a number: its event was not stored and will not be published.
func (h *Hub) Drop(e core.Event) {}

// Emit numbers news and fans it out; durable types are also recorded, in order, by Run.
func (h *Hub) Emit(ctx context.Context, c core.ConversationID, a core.AdmissionID, t core.TurnID, b core.EventBody) {
}

// Attach tells l the news of one conversation from now on.
func (h *Hub) Attach(c core.ConversationID, l Listener) (detach func()) { return func() {} }

// AttachAll tells l the news of every conversation from now on.
func (h *Hub) AttachAll(l Listener) (detach func()) { return func() {} }

// Since returns the events after number seq that can still be had, in order, without doubles.
func (h *Hub) Since(ctx context.Context, c core.ConversationID, seq int64) ([]core.Event, error) {
	return nil, nil
}

// Follow yields the events after number seq, stored and live ones, each once and in order, until ctx ends or the reader
// stops. It reads at its own pace: a reader that falls behind catches up from what is kept.
func (h *Hub) Follow(ctx context.Context, c core.ConversationID, seq int64) iter.Seq2[core.Event, error] {
	return func(func(core.Event, error) bool) {}
}

// Run records durable events until ctx ends, and flushes before it returns.
func (h *Hub) Run(ctx context.Context) error { <-ctx.Done(); return nil }
