package dispatch

import (
	"time"

	"bellhop/core"
)

// What people read. Each says what happened, whether the message is safe, and what to do.
const (
	wordsStopped  = "Stopped before it began."
	wordsWaited   = "This conversation is busy elsewhere and did not become free in time. Nothing was run; send it again later."
	wordsWaiting  = "This conversation is still busy elsewhere. Your message is kept and runs as soon as it is free."
	wordsRetried  = "The turn was cut off and goes on."
	wordsNoSpace  = "I cannot store the answer (disk full). Your message is kept; I keep trying."
	wordsNoStore  = "I cannot reach my storage. Your message is kept; I keep trying."
	wordsUnstored = "I could not store what I did. Your message is kept in the history; please check before you repeat it."
	wordsPanic    = "Something went wrong inside me. Your message is kept; you can send it again. Reference: "
	wordsShutdown = "I had to shut down while something was running. Please check whether it took effect before you repeat it."
	wordsCut      = "(This turn was interrupted.)"
	wordsUnseen   = "unknown: interrupted while this ran; check before repeating"
)

// reasonWords are for turns that did not come back to speak for themselves.
func reasonWords(r core.Reason, o Config) string {
	switch r {
	case core.ReasonStopped:
		return "Stopped."
	case core.ReasonLiveness:
		return "Nothing happened for " + human(o.Liveness) + ", so I stopped this turn. You can ask again."
	case core.ReasonTime:
		return "This took longer than " + human(o.MaxTime) + ", so I stopped it. You can ask again."
	case core.ReasonShutdown:
		return wordsShutdown
	}
	return ""
}

// human says a duration the way people do.
func human(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		s := d.String()
		return s[:len(s)-len("0s")] // 15m0s: the text is our own, ASCII
	}
	return d.String()
}

// complete is the end of a turn as its clients hear it.
func complete(o core.Outcome, tail []core.Message) core.EventBody {
	b := core.EventBody{Type: core.MessageComplete, Text: o.Text, Status: "interrupted"}
	switch o.Result {
	case core.Completed:
		b.Status = "complete"
	case core.Failed, core.Rejected:
		b.Status = "error"
	}
	if o.Usage != (core.Usage{}) {
		b.Usage = &o.Usage
	}
	for _, m := range tail {
		if m.Superseded {
			b.Warning = "the history was changed while this ran; the answer is shown but not part of it"
		}
	}
	return b
}
