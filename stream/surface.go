package stream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"bellhop/core"
)

// View is one message as it should look. Text is Markdown that stands on its own: open fences and spans are closed.
type View struct {
	Text    string
	Buttons []core.Button
	Final   bool   // nothing will change any more
	ReplyTo string // message id to answer; only the first message of a turn has one
}

// Surface is one place on one platform where messages can be shown. Calls are made one at a time per Consumer. It does
// its own retries and waiting within the budget of its chat; an edit that changes nothing is a success. Errors that a
// Consumer acts on are ErrGone, ErrDead, ErrSkip, ErrTooLong and *Wait; any other means that this call failed for good.
type Surface interface {
	// Post creates a message and returns its id.
	Post(ctx context.Context, v View) (ref string, err error)
	Edit(ctx context.Context, ref string, v View) error
	// Delete removes a message; ErrSkip also where that is not possible at all.
	Delete(ctx context.Context, ref string) error
	// Size measures Markdown in the platform's unit; Max is the most that one message takes.
	Size(md string) int
	Max() int
}

// Fitter is a Surface that can tell, without the work of Size, that a text is no longer than max. false: Size knows.
type Fitter interface {
	Fits(md string, max int) bool
}

// What a Surface may answer. They can be wrapped.
var (
	ErrGone      = errors.New("stream: the message is gone")        // edit or delete: it is not there any more
	ErrDead      = errors.New("stream: the target is gone")         // blocked, kicked, deleted: nothing can be said there
	ErrNoDraft   = errors.New("stream: no drafts here")             // of Drafter.Draft: only messages can be shown there
	ErrSkip      = errors.New("stream: preview dropped")            // the budget is kept for something more important
	ErrTooLong   = errors.New("stream: the message is too long")    // Size was mistaken: cut it shorter
	ErrAbandoned = errors.New("stream: abandoned")                  // of Consumer.Finish: the right to speak was lost
	ErrLagged    = errors.New("stream: the subscriber fell behind") // of Subscription.Next: use Since, then go on
)

// Wait is the refusal of a platform until a time; nothing is called before it.
type Wait struct{ Until time.Time }

func (w *Wait) Error() string { return "stream: wait until " + w.Until.Format(time.RFC3339) }

// StatusHash is the Hash of a part that is no part of the answer, a status message for example: whoever adopts it deletes
// it.
const StatusHash = "status"

// Hash is what core.Part.Hash holds for a message that shows v: its text and its buttons.
func Hash(v View) string {
	h := sha256.New()
	h.Write([]byte(v.Text)) // never fails
	for _, b := range v.Buttons {
		h.Write([]byte("\x00" + b.Label + "\x00" + b.Data))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
