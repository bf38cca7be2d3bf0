package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"bellhop/core"
	"bellhop/core/prompt"
	"bellhop/core/provider"
)

// answerRoom is the least that is kept free for an answer where the model does not say how long one may be, in tokens.
const answerRoom = 2048

var errTooLong = errors.New("the conversation no longer fits any model that is configured")

// fit builds the request and measures it. What cannot fit the model goes to one with a larger window; when there is none
// the turn ends, and nothing is sent.
func (r *Runner) fit(t *state) (provider.Request, core.Reason) {
	for {
		req := r.request(t, t.tools)
		if t.cause = r.tooLong(t, t.at, req); t.cause == nil {
			return req, going
		}
		if !r.widen(t, req) {
			return req, core.ReasonOverflow
		}
	}
}

// widen goes on to the next model that could take the request.
func (r *Runner) widen(t *state, req provider.Request) bool {
	for i := t.at + 1; i < len(t.models); i++ {
		if r.tooLong(t, i, req) == nil {
			r.switchTo(t, i, "the conversation is too long for "+t.model().Model)
			return true
		}
	}
	return false
}

// tooLong says by how much a request does not fit a model, as far as that is known; nil when it may.
func (r *Runner) tooLong(t *state, i int, req provider.Request) error {
	m := t.models[i]
	req.Model = m.Model
	if refused, ok := t.refused[i]; ok && prompt.Tokens(req) >= refused {
		return fmt.Errorf("%w: %s refused it", errTooLong, m.Model)
	}
	size := r.meter.Tokens(req)
	limits := m.Provider.Limits(m.Model)
	room := limits.Window - max(min(limits.Output, limits.Window/4), min(answerRoom, limits.Window/4))
	if limits.Window > 0 && size > room {
		return fmt.Errorf("%w: about %d tokens, %s takes %d", errTooLong, size, m.Model, room)
	}
	return nil
}

// request makes the wire copy for the model that answers now.
func (r *Runner) request(t *state, tools []provider.Tool) provider.Request {
	m := t.model()
	history := t.history
	if len(t.aside) > 0 {
		history = append(history[:len(history):len(history)], t.aside...)
	}
	o := prompt.WireOptions{Model: m.Model, Tools: tools, User: alias(t.row.By), Alternate: true}
	if m.Provider.Limits(m.Model).Vision {
		o.Image = r.o.Image
	}
	req := prompt.Wire(t.system, history, o)
	req.NoStream = t.whole[t.at]
	return req
}

// alias names a person to an endpoint without telling who it is.
func alias(id core.PrincipalID) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}
