package turn

import (
	"errors"

	"bellhop/core"
	"bellhop/core/provider"
)

// words are what a person reads when a turn ends without an answer: what happened, whether the message is safe, what to
// do. The reference is added.
type words struct{ what, safe, next string }

const (
	kept      = "Your message is kept."
	again     = "You can send it again in a little while."
	takeCare  = "Something I had begun may have taken effect; please check before you repeat it."
	askOwner  = "The owner of this bot has to put that right; then send it again."
	otherwise = "Try to put it another way, or begin anew with /new."
)

// byReason are the words for each reason that is not told apart further.
var byReason = map[core.Reason]words{
	core.ReasonOverflow: {"This conversation has become too long for the model, so I did not send it.", "Nothing is lost.",
		"Begin a new one with /new, or send something shorter."},
	core.ReasonPersistence: {"I cannot store what I do, so I stopped before doing anything more.", kept,
		"Try again in a little while, and tell the owner if it lasts."},
	core.ReasonProvider: {"I could not reach the model, though I tried several times.", kept, again},
	core.ReasonPanic:    {"Something went wrong inside me.", kept, "You can send it again; if it happens again, tell the owner."},
	core.ReasonGuard: {"I went in circles: the same steps with the same results, again and again. So I stopped.", kept,
		"Tell me how to go on, or ask for something else."},
	core.ReasonBudget: {"I have used all the steps I may take for one message.", "What was done is kept.",
		"Write \"go on\" and I will."},
	core.ReasonTime: {"This took longer than one message may take, so I stopped.", "What was done is kept.",
		"Write \"go on\" and I will."},
	core.ReasonLiveness: {"Nothing moved for a long time, so I stopped this.", kept, again},
	core.ReasonShutdown: {"I had to shut down in the middle of this.", kept, "Please send it again when I am back."},
}

// byKind are the words for a model call that failed for good.
var byKind = map[provider.ErrorKind]words{
	provider.RateLimited: {"The model gets too many requests right now and kept refusing mine.", kept, again},
	provider.Overloaded:  {"The model is overloaded and did not answer, though I tried several times.", kept, again},
	provider.Quota:       {"The model's account has no credit left.", kept, askOwner},
	provider.Auth:        {"The model does not accept this bot's key.", kept, askOwner},
	provider.NoModel:     {"The model that was chosen does not exist.", kept, "Choose another with /model, then send it again."},
	provider.BadRequest:  {"The model refused the request.", kept, otherwise},
	provider.Filtered:    {"The model's provider refuses to answer this.", kept, otherwise},
}

// farewell says how a turn ended that has no answer. shown: part of an answer stands above it.
func (t *state) farewell(why core.Reason, ref string, shown bool) string {
	switch why {
	case core.ReasonStopped:
		if shown {
			return "*(stopped)*"
		}
		return t.careful("Stopped.")
	case core.ReasonReplaced, core.ReasonNew:
		if shown {
			return "*(interrupted)*"
		}
		return ""
	}
	w, ok := byReason[why]
	if !ok {
		w = words{"This was interrupted.", kept, again}
	}
	if why == core.ReasonProvider {
		w = t.providerWords(w)
	}
	if why == core.ReasonPersistence && core.Is(t.cause, core.NoSpace) {
		w.what = "I cannot store (disk full) what I do, so I stopped before doing anything more."
	}
	text := w.what + " " + t.careful(w.safe) + " " + w.next
	if ref != "" {
		text += "\n\nReference: " + ref
	}
	return text
}

func (t *state) providerWords(w words) words {
	var e *provider.Error
	if errors.As(t.cause, &e) {
		if known, ok := byKind[e.Kind]; ok {
			return known
		}
	}
	if errors.Is(t.cause, errEmpty) {
		w.what = "The model gave no answer."
	}
	return w
}

// careful adds that something may have happened, where that is so.
func (t *state) careful(safe string) string {
	if t.uncertain {
		return safe + " " + takeCare
	}
	return safe
}
