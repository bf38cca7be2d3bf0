package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// Runner executes calls. The zero value works; it holds no state.
type Runner struct {
	Workers   int           // calls at the same time, 8
	Timeout   time.Duration // of a call whose Spec names none, 300 s
	Grace     time.Duration // for a call to end after its context did, 500 ms
	MaxResult int           // bytes of a result that the model sees, 32 KiB
	Log       *slog.Logger
}

// Job is one call to execute.
type Job struct {
	Tool Tool
	Env  Env
	Args json.RawMessage
}

// Ended is what became of a job.
type Ended struct {
	Result Result
	Took   time.Duration
	State  Fate
}

// Fate is how far an ended job got.
type Fate uint8

const (
	Ran     Fate = iota // it came back by itself, with a result or an error
	Cut                 // its context ended first; it came back then
	Lost                // it did not come back in time and was left behind; its effect is not known
	Skipped             // it never began
)

// Watch is told what happens to a batch, always from the goroutine that called Run.
type Watch struct {
	Began func(i int)          // in order; nil: nobody listens
	Ended func(i int, e Ended) // in order, exactly once per job
	Beat  func()               // now and then while something runs; nil: nobody listens
	Every time.Duration        // between two beats, 10 s
}

// Run executes jobs beside one another, at most Workers at a time, begun in order, and returns when all have ended or
// were given up. A panic of a tool is its failed result. When ctx ends, running jobs get the Grace to come back and the
// rest is skipped.
func (r Runner) Run(ctx context.Context, jobs []Job, w Watch) {
	b := batch{Runner: r, Watch: w, jobs: jobs, came: make(chan arrival, len(jobs)), ended: make([]*Ended, len(jobs))}
	beat := time.NewTicker(positive(w.Every, 10*time.Second))
	defer beat.Stop()
	for b.begin(ctx); b.told < len(jobs); b.begin(ctx) {
		if b.running == 0 { // only skipped ones are left
			b.tell()
			continue
		}
		select {
		case a := <-b.came:
			b.running--
			b.ended[a.i] = &a.e
			b.tell()
		case <-beat.C:
			if w.Beat != nil {
				w.Beat()
			}
		}
	}
}

// batch is one Run under way. Only the goroutine of Run touches it; jobs report through came.
type batch struct {
	Runner
	Watch
	jobs          []Job
	came          chan arrival
	ended         []*Ended
	next, running int
	told          int // jobs whose end was told
}

type arrival struct {
	i int
	e Ended
}

// begin starts what may start now, and marks the rest as skipped once ctx has ended.
func (b *batch) begin(ctx context.Context) {
	for b.next < len(b.jobs) && b.running < positive(b.Workers, 8) {
		i := b.next
		b.next++
		if ctx.Err() != nil {
			b.ended[i] = &Ended{State: Skipped}
			continue
		}
		if b.Began != nil {
			b.Began(i)
		}
		b.running++
		go func() { b.came <- arrival{i, b.one(ctx, b.jobs[i])} }()
	}
}

// tell reports the ends that are next in order.
func (b *batch) tell() {
	for b.told < len(b.jobs) && b.ended[b.told] != nil {
		b.told++
		b.Ended(b.told-1, *b.ended[b.told-1])
	}
}

// one executes a job and waits for it, within bounds: a tool that ignores the end of its context is left behind, and what
// it returns later goes nowhere.
func (r Runner) one(ctx context.Context, j Job) Ended {
	begun := time.Now()
	limit := positive(j.Tool.Spec().Timeout, positive(r.Timeout, 300*time.Second))
	call, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not end within %s", limit))
	defer cancel()
	back := make(chan Result, 1)
	go func() { back <- r.call(call, j) }()
	e := Ended{State: Ran}
	select {
	case e.Result = <-back:
	case <-call.Done():
		e = r.await(back)
	}
	if e.State == Ran && call.Err() != nil && e.Result.Failed {
		e.State = Cut
	}
	if e.State != Ran && ctx.Err() == nil {
		e.Result.Failed = true
		e.Result.Text = fmt.Sprintf("%s\n[%v]", e.Result.Text, context.Cause(call))
	}
	e.Took = time.Since(begun)
	e.Result = Clip(e.Result, j.Env, r.MaxResult)
	return e
}

// await gives a call whose context has ended the grace to come back.
func (r Runner) await(back <-chan Result) Ended {
	grace := time.NewTimer(positive(r.Grace, 500*time.Millisecond))
	defer grace.Stop()
	select {
	case res := <-back:
		return Ended{Result: res, State: Ran}
	case <-grace.C:
		return Ended{Result: Result{Failed: true}, State: Lost}
	}
}

func (r Runner) call(ctx context.Context, j Job) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			if r.Log != nil {
				r.Log.Error("tool panicked", "call", j.Env.CallID, "err", p, "stack", string(debug.Stack()))
			}
			res = Result{Failed: true, Text: "The tool failed inside. What it had done until then is not known."}
		}
	}()
	res, err := j.Tool.Call(ctx, j.Env, j.Args)
	if err == nil {
		return res
	}
	if res.Failed = true; ctx.Err() == nil || !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)) {
		res.Text = joined(res.Text, err.Error()) // that its context ended, its fate says
	}
	return res
}

func joined(text, err string) string {
	if text == "" {
		return err
	}
	return text + "\n" + err
}

func positive[T int | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}
