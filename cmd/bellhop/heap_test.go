package main

import (
	"testing"
	"time"
)

func TestHeapGrowth(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		live, stacks int
		since        time.Duration
		want         int
	}{
		{0, mib, time.Millisecond, heapGrowth},
		{5 * mib, mib, time.Minute, heapGrowth}, // at rest
		{5 * mib, mib, 20 * time.Millisecond, heapMost},
		{13 * mib, 2 * mib, 20 * time.Millisecond, 175},        // a flood
		{20 * mib, 8 * mib, 20 * time.Millisecond, heapGrowth}, // many live answers
		{48 * mib, mib, 20 * time.Millisecond, heapGrowth},
		{400 * mib, mib, 20 * time.Millisecond, heapGrowth},
	} {
		if got := growth(c.live, c.stacks, c.since); got != c.want {
			t.Errorf("%d MiB after %v: %d, want %d", c.live/mib, c.since, got, c.want)
		}
	}
}
