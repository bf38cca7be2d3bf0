package main

import (
	"testing"
	"time"
)

func TestHeapGrowth(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		live  uint64
		since time.Duration
		want  int
	}{
		{0, time.Millisecond, heapGrowth},
		{5 * mib, time.Minute, heapGrowth}, // at rest
		{5 * mib, 20 * time.Millisecond, heapMost},
		{14 * mib, 20 * time.Millisecond, 175},
		{24 * mib, 20 * time.Millisecond, heapGrowth},
		{40 * mib, 20 * time.Millisecond, heapGrowth},
		{400 * mib, 20 * time.Millisecond, heapGrowth},
	} {
		if got := growth(c.live, c.since); got != c.want {
			t.Errorf("%d MiB after %v: %d, want %d", c.live/mib, c.since, got, c.want)
		}
	}
}
