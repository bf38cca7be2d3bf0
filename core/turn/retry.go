package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"bellhop/core"
	"bellhop/core/prompt"
	"bellhop/core/provider"
)

// longestWait is the longest an endpoint may ask us to wait before another model is asked instead.
const longestWait = 60 * time.Second

// remedy is what helps against one kind of failure, in the order of the fields.
type remedy struct {
	whole   bool        // once: the same request, not streamed
	again   bool        // the same request after a while, up to the number of attempts
	other   bool        // another model
	smaller bool        // a shorter request; without one the turn ends
	end     core.Reason // when nothing helped
}

// remedies is the retry table.
var remedies = map[provider.ErrorKind]remedy{
	provider.RateLimited: {again: true, other: true, end: core.ReasonProvider},
	provider.Overloaded:  {again: true, other: true, end: core.ReasonProvider},
	provider.Transport:   {again: true, other: true, end: core.ReasonProvider},
	provider.NoStream:    {whole: true, other: true, end: core.ReasonProvider},
	provider.Quota:       {other: true, end: core.ReasonProvider},
	provider.Auth:        {other: true, end: core.ReasonProvider},
	provider.NoModel:     {other: true, end: core.ReasonProvider},
	provider.BadRequest:  {other: true, end: core.ReasonProvider},
	provider.Overflow:    {smaller: true, end: core.ReasonOverflow},
	provider.Filtered:    {end: core.ReasonProvider},
}

// tries counts the attempts of one model call.
type tries struct {
	made, most int
	pause      *backoff.ExponentialBackOff
}

func newTries(most int) *tries {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.Multiplier, b.MaxInterval = 500*time.Millisecond, 2, 20*time.Second
	return &tries{most: most, pause: b}
}

// wait returns how long to wait before the next attempt; false: another attempt here makes no sense.
func (a *tries) wait(err error) (time.Duration, bool) {
	if a.made >= a.most {
		return 0, false
	}
	d := a.pause.NextBackOff()
	var e *provider.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return max(d, e.RetryAfter), e.RetryAfter <= longestWait
	}
	return d, true
}

// recover decides what follows a failed attempt: going to try again, refit, or the reason for which the turn ends.
func (r *Runner) recover(ctx context.Context, t *state, req *provider.Request, a *tries, err error) core.Reason {
	if end := interrupted(ctx); end != going {
		return end
	}
	kind := provider.KindOf(err)
	t.cause = err
	t.log.Warn("a model call failed", "model", t.model().Model, "attempt", a.made, "err", err)
	fix, ok := remedies[kind]
	if !ok {
		fix = remedies[provider.Transport]
	}
	if fix.whole && !req.NoStream {
		t.whole[t.at], req.NoStream = true, true
		return going
	}
	if fix.again {
		if d, ok := a.wait(err); ok {
			return r.pause(ctx, t, a, kind, d)
		}
	}
	if fix.smaller {
		t.refused[t.at] = prompt.Tokens(*req) // not the calibrated size, which may fall: a refusal stands
		return refit
	}
	if fix.other && t.at+1 < len(t.models) {
		r.switchTo(t, t.at+1, string(kind))
		return refit
	}
	return fix.end
}

// pause waits before the next attempt, and says so when it takes a while.
func (r *Runner) pause(ctx context.Context, t *state, a *tries, kind provider.ErrorKind, d time.Duration) core.Reason {
	if d >= 2*time.Second {
		t.news.tell(core.EventBody{Type: core.StatusUpdate, Status: "retry", Name: t.model().Model,
			Text: fmt.Sprintf("The model is not available (%s); next try in %s.", kind, d.Round(time.Second))})
	}
	t.alive("waiting for the model")
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return going
	case <-ctx.Done():
		return interrupted(ctx)
	}
}

// switchTo makes another model answer from here on, to the end of the turn.
func (r *Runner) switchTo(t *state, i int, why string) {
	from := t.model()
	t.at = i
	t.log.Info("another model answers instead of "+from.Model, "model", t.model().Model, "reason", why)
	t.news.tell(core.EventBody{Type: core.StatusUpdate, Status: "fallback", Name: t.model().Model,
		Text: fmt.Sprintf("%s is not available (%s); %s answers.", from.Model, why, t.model().Model)})
}
