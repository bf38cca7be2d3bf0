package deliver

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func everySecond() *budget {
	return newBudget(Rate{time.Second, 3}, Rate{3 * time.Second, 1}, Rate{time.Second / 30, 15})
}

func TestBudgetRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := everySecond()
		start := time.Now()
		for range 10 {
			if _, err := b.take(t.Context(), "1", false, forFinal, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		want(t, "ten calls to a chat", time.Since(start), 7*time.Second)
		start = time.Now()
		for range 5 {
			if _, err := b.take(t.Context(), "-1", true, forFinal, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		want(t, "five calls to a group", time.Since(start), 12*time.Second)
	})
}

func TestBudgetOfTheBot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := everySecond()
		start := time.Now()
		var g sync.WaitGroup
		for i := range 300 {
			g.Go(func() {
				if _, err := b.take(t.Context(), fmt.Sprint(i), false, forFinal, time.Minute); err != nil {
					t.Error(err)
				}
			})
		}
		g.Wait()
		if d := time.Since(start); d < 9*time.Second || d > 10*time.Second {
			t.Errorf("300 chats at 30 a second took %v", d)
		}
	})
}

// Previews leave the last token to answers; an answer never waits behind one.
func TestBudgetKeepsTokensForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := everySecond()
		previews := 0
		for range 10 {
			if _, ok := b.try("1", false, forPreview); ok {
				previews++
			}
		}
		want(t, "previews at once", previews, 2)
		waited, err := b.take(t.Context(), "1", false, forFinal, 0)
		if err != nil || waited != 0 {
			t.Errorf("the answer waited %v: %v", waited, err)
		}
		at, ok := b.try("1", false, forPreview)
		if ok || time.Until(at) <= 0 {
			t.Errorf("a preview after that: %v, at %v", ok, at)
		}
		time.Sleep(time.Until(at))
		if _, ok := b.try("1", false, forPreview); !ok {
			t.Error("the time to ask again was wrong")
		}
	})
}

// More previews than the bot's rate allows share it evenly, and the first text of each comes before the second of any.
func TestBudgetIsSharedEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := everySecond()
		shown := make([]int, 100)
		var first sync.WaitGroup
		var g sync.WaitGroup
		start := time.Now()
		for i := range shown {
			first.Add(1)
			g.Go(func() {
				for time.Since(start) < 20*time.Second {
					at, ok := b.try(fmt.Sprint(i), false, forPreview)
					if !ok {
						time.Sleep(time.Until(at))
						continue
					}
					if shown[i]++; shown[i] == 1 {
						first.Done()
					}
					time.Sleep(time.Second)
				}
			})
		}
		first.Wait()
		if d := time.Since(start); d > 4*time.Second {
			t.Errorf("the last first text came after %v", d)
		}
		g.Wait()
		for i, n := range shown {
			if n < 4 || n > 9 {
				t.Errorf("stream %d was shown %d times", i, n)
			}
		}
	})
}

func TestBudgetPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(Rate{time.Second, 1}, Rate{}, Rate{})
		if _, ok := b.try("1", false, forFinal); !ok {
			t.Fatal("empty from the start")
		}
		var mu sync.Mutex
		var order []priority
		var g sync.WaitGroup
		for _, p := range []priority{forTyping, forNotice, forPreview, forFinal, forNotice, forFinal} {
			g.Go(func() {
				if _, err := b.take(t.Context(), "1", false, p, time.Minute); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, p)
			})
			synctest.Wait()
		}
		g.Wait()
		want(t, "order", fmt.Sprint(order), fmt.Sprint([]priority{forFinal, forFinal, forNotice, forNotice, forPreview, forTyping}))
	})
}

func TestBudgetCools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(Rate{}, Rate{}, Rate{}) // limits: off
		b.cool("1", false, 9*time.Second)
		if _, ok := b.try("1", false, forTyping); ok {
			t.Error("a call during the wait")
		}
		_, err := b.take(t.Context(), "1", false, forFinal, 5*time.Second)
		if kindOf(err) != kindLater || time.Until(laterAt(err)) != 9*time.Second {
			t.Errorf("a wait beyond patience: %v", err)
		}
		if _, ok := b.try("2", false, forTyping); !ok {
			t.Error("another chat waits too")
		}
		start := time.Now()
		if _, err := b.take(t.Context(), "1", false, forFinal, time.Minute); err != nil || time.Since(start) != 9*time.Second {
			t.Errorf("waited %v: %v", time.Since(start), err)
		}
	})
}

func TestBudgetEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(Rate{time.Hour, 1}, Rate{}, Rate{})
		b.try("1", false, forFinal)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.take(ctx, "1", false, forFinal, 2*time.Hour)
		want(t, "kind", kindOf(err), kindEnded)
		want(t, "queue", len(b.queue), 0)
	})
}

func TestBudgetForgetsIdleChats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := everySecond()
		for i := range 10 * keepChats {
			b.try(fmt.Sprint(i), false, forFinal)
			time.Sleep(10 * time.Millisecond)
		}
		if n := len(b.chats); n > 2*keepChats {
			t.Errorf("%d chats are remembered", n)
		}
	})
}

func BenchmarkBudget(b *testing.B) {
	for name, budget := range map[string]*budget{"off": newBudget(Rate{}, Rate{}, Rate{}), "on": newBudget(Rate{1, 1 << 30}, Rate{}, Rate{1, 1 << 30})} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				budget.try("1", false, forFinal)
			}
		})
	}
}

// The nodes of one bot together stay within its rate, however many there are at the moment.
func TestRateIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := 1
		b := newBudget(Rate{}, Rate{}, Rate{time.Second, 4})
		b.bot.among = func() int { return nodes }
		began := time.Now()
		take := func(n int) time.Duration {
			for range n {
				if _, err := b.take(t.Context(), "chat", false, forFinal, time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(began)
		}
		if took := take(6); took != 2*time.Second {
			t.Errorf("alone: %v", took)
		}
		nodes = 2
		began = time.Now()
		if took := take(3); took < 5*time.Second || took > 7*time.Second {
			t.Errorf("with another: %v", took)
		}
	})
}
