package stream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"bellhop/core"
)

const (
	recordBatch = 256             // events per write
	recordCap   = 8192            // events that wait while the store does not answer; the oldest go first
	recordRetry = time.Second     // between attempts
	recordFlush = 5 * time.Second // for the last write, after the context ended
)

// recorder writes durable events in the order in which they were added. An event stays visible to waiting until it is in
// the store, so that at every moment it can be found in at least one of the two.
type recorder struct {
	store core.Events
	log   *slog.Logger
	kick  chan struct{}

	mu    sync.Mutex
	queue []core.Event
	lost  int // dropped since the last write
}

func newRecorder(s core.Events, log *slog.Logger) *recorder {
	return &recorder{store: s, log: log, kick: make(chan struct{}, 1)}
}

func (r *recorder) add(e core.Event) {
	r.mu.Lock()
	if len(r.queue) == recordCap {
		r.queue = append(r.queue[:0], r.queue[1:]...)
		r.lost++
	}
	r.queue = append(r.queue, e)
	r.mu.Unlock()
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// waiting returns the conversation's events above seq that are not known to be stored.
func (r *recorder) waiting(c core.ConversationID, seq int64) (es []core.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.queue {
		if e.Conversation == c && e.Seq > seq {
			es = append(es, e)
		}
	}
	return es
}

func (r *recorder) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFlush)
			defer cancel()
			return r.flush(end)
		case <-r.kick:
		}
		for r.flush(ctx) != nil && ctx.Err() == nil {
			r.pause(ctx)
		}
	}
}

func (r *recorder) pause(ctx context.Context) {
	t := time.NewTimer(recordRetry)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// flush writes until nothing waits. What failed stays for the next attempt.
func (r *recorder) flush(ctx context.Context) error {
	for {
		batch, lost := r.head()
		if lost > 0 {
			r.log.Error("news was dropped before it could be stored", "count", lost)
		}
		if len(batch) == 0 {
			return nil
		}
		if err := r.store.Record(ctx, batch...); err != nil {
			r.log.Warn("news is not stored yet", "count", len(batch), "err", err)
			return err
		}
		r.done(batch)
	}
}

func (r *recorder) head() (batch []core.Event, lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lost, r.lost = r.lost, 0
	return append(batch, r.queue[:min(len(r.queue), recordBatch)]...), lost
}

// done removes a written batch; some of its events may have been dropped meanwhile.
func (r *recorder) done(batch []core.Event) {
	last := batch[len(batch)-1]
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range min(len(r.queue), len(batch)) {
		if e := r.queue[i]; e.Conversation == last.Conversation && e.Seq == last.Seq {
			r.queue = append(r.queue[:0], r.queue[i+1:]...)
			return
		}
	}
}
