package gateway

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// BenchmarkStopButton presses the stop buttons of twenty running turns in one batch. p50 and max are from the batch's
// arrival to a turn's context being ended.
func BenchmarkStopButton(b *testing.B) {
	w := newWorld(b, open)
	defer w.close()
	var took []time.Duration
	for round := 0; b.Loop(); round++ {
		b.StopTimer()
		batch, turns := []adapters.Inbound{}, []context.Context{}
		for i := range 20 {
			who := fmt.Sprint(round, "-", i)
			w.receive(w.message("work", from(who)))
			ctx, row, done := w.run(w.conversation(core.Key("fake:" + who)).ID)
			defer done()
			turns = append(turns, ctx)
			batch = append(batch, w.message("", from(who), func(in *adapters.Inbound) {
				in.Kind, in.Data = adapters.KindPress, "stop:"+string(row.ID)
			}))
		}
		start, ended := time.Now(), make(chan time.Duration)
		for _, ctx := range turns {
			go func() {
				<-ctx.Done()
				ended <- time.Since(start)
			}()
		}
		b.StartTimer()
		w.receive(batch...)
		for range turns {
			took = append(took, <-ended)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
}
