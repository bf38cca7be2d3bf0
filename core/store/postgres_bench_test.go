package store_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"bellhop/core/store"
	"bellhop/core/store/pgtest"
)

// BenchmarkPostgres are synced admissions by so many producers, on a server that syncs.
func BenchmarkPostgres(b *testing.B) {
	own, err := pgtest.Start("fsync=on", "full_page_writes=on", "synchronous_commit=on")
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = own.Stop() })
	for _, n := range []int{1, 8, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, store.Options{Driver: "postgres", DSN: own.Database(b)})
			var rows atomic.Int64
			took := make([]time.Duration, b.N+1)
			b.ResetTimer()
			b.SetParallelism(max(1, n/2))
			b.RunParallel(func(pb *testing.PB) {
				t := &turn{s: s, tb: b}
				for pb.Next() {
					n := int(rows.Add(1))
					began := time.Now()
					t.admit(b.Context(), entry(n%1000, n))
					took[n] = time.Since(began)
				}
			})
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
