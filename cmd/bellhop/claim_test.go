package main

import (
	"testing"
	"time"

	"bellhop/config"
	"bellhop/core"
	"bellhop/core/store"
)

// What a process held may outlive it for a moment, in a child that it was about to start.
func TestClaimWaitsForTheDead(t *testing.T) {
	cfg := config.Config{Data: t.TempDir(), Listen: "127.0.0.1:0"}
	l, err := store.LockFolder(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	freed := make(chan error, 1)
	time.AfterFunc(afterlife/4, func() { freed <- l.Close() })
	c, err := claimAll(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := <-freed; err != nil {
		t.Fatal(err)
	}
	if _, err := claimAll(t.Context(), cfg); !core.Is(err, core.Locked) {
		t.Fatalf("a folder that is served was taken: %v", err)
	}
}
