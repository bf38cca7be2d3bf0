package openai

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// silence is the cause when an endpoint said nothing for too long.
type silence struct{ limit time.Duration }

func (s *silence) Error() string { return "nothing came for " + s.limit.String() }

// watch ends a call's context when nothing arrives for its current limit. There is no limit for the whole call.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	now    atomic.Int64 // the current limit
}

func newWatch(ctx context.Context, limit time.Duration) *watch {
	w := new(watch)
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.now.Store(int64(limit))
	w.timer = time.AfterFunc(limit, func() { w.cancel(&silence{time.Duration(w.now.Load())}) })
	return w
}

// limit begins a new wait.
func (w *watch) limit(d time.Duration) {
	w.now.Store(int64(d))
	w.timer.Reset(d)
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// reading returns a reader whose every byte begins a new wait of gap.
func (w *watch) reading(r io.Reader, gap time.Duration) io.Reader { return &watched{w, r, gap} }

type watched struct {
	w   *watch
	r   io.Reader
	gap time.Duration
}

func (r *watched) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.w.limit(r.gap)
	}
	return n, err
}
