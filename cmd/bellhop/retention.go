package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"bellhop/config"
	"bellhop/core"
	"bellhop/gateway/attach"
)

const (
	firstTidy = 5 * time.Minute // after the start, which has better things to do
	tidyEvery = time.Hour
)

// housekeeper deletes what is over and was kept long enough. It works in small transactions, between which others write.
type housekeeper struct {
	store     core.Store
	keep      config.Retention
	workspace string
	log       *slog.Logger
}

// Run tidies until ctx ends, which is not an error. What fails is tried again the next time.
func (k *housekeeper) Run(ctx context.Context) error {
	next := time.NewTimer(firstTidy)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
			k.tidy(ctx)
			next.Reset(tidyEvery)
		}
	}
}

func (k *housekeeper) tidy(ctx context.Context) {
	for _, job := range []struct {
		what string
		keep time.Duration // 0: for ever
		fn   func(ctx context.Context, before time.Time) (int, error)
	}{
		{"payloads", k.keep.Payloads, k.store.Retention},
		{"events", k.keep.Events, k.store.Trim},
		{"deliveries", k.keep.Deliveries, k.store.Outbox().Forget},
		{"files of messages", k.keep.Inbox, k.files},
	} {
		if job.keep == 0 {
			continue
		}
		n, err := job.fn(ctx, time.Now().Add(-job.keep))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			k.log.Warn("old "+job.what+" could not be deleted; it is tried again", "err", err)
		case n > 0:
			k.log.Info(fmt.Sprintf("%d old %s were deleted", n, job.what))
		}
	}
}

// files deletes what people sent with messages that ended before a time, and what no message is known of any more.
func (k *housekeeper) files(ctx context.Context, before time.Time) (int, error) {
	return attach.Prune(ctx, k.workspace, func(ctx context.Context, id core.AdmissionID) (bool, error) {
		a, err := k.store.Admission(ctx, id)
		if core.Is(err, core.NotFound) {
			return true, nil
		}
		return err == nil && a.Status == core.Terminal && a.Settled.Before(before), err
	})
}
