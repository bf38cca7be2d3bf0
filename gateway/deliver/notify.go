package deliver

import (
	"context"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// notifyTime bounds one attempt to say something without the store.
const notifyTime = 10 * time.Second

// Notify says something once, without the store and so without a promise: for news such as that nothing can be stored.
// It does not block; what cannot be said is logged. Nothing is said before Run or after it.
func (m *Mouth) Notify(_ context.Context, r core.Route, c core.ConversationID, text string) {
	ch := m.channels[r.Platform]
	if ch == nil {
		return
	}
	m.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, notifyTime)
		defer cancel()
		to := targetOf(r)
		err := ch.wait(ctx, to, forNotice, notifyTime)
		if err == nil {
			_, _, err = ch.sendNow(ctx, to, adapters.Outgoing{Text: text, ReplyTo: r.ReplyTo})
		}
		if err != nil {
			m.log.Error("a person could not be told", "session", c, "err", err)
		}
	})
}
