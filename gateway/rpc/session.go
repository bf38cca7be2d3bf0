package rpc

import (
	"context"
	"strings"
	"time"

	"bellhop/core"

	"github.com/oklog/ulid/v2"
)

// surface is what this door calls itself in rows, and the first part of the keys of sessions that begin here.
const surface = "rpc"

// conversation finds a session by id, by the id of one of its segments, by key or by title, and checks that the caller may
// do what needs the capability. Somebody else's session is "no such session".
func (e *Env) conversation(ctx context.Context, ref string, need core.Capability) (core.Conversation, error) {
	conv, err := e.s.cfg.Store.Conversation(ctx, ref, e.By.ID)
	if core.Is(err, core.NotFound) {
		conv, err = e.s.cfg.Store.Lookup(ctx, keyFor(ref))
	}
	switch {
	case core.Is(err, core.NotFound):
		return core.Conversation{}, fault(NoSession, "no such session")
	case err != nil:
		return core.Conversation{}, err
	case conv.Owner != e.By.ID && !e.By.Can(core.CanOperate):
		return core.Conversation{}, fault(NoSession, "no such session")
	case !e.By.Can(need):
		return core.Conversation{}, fault(NotAllowed, "you may not do that here")
	}
	return conv, nil
}

// keyFor completes a short key: "work" is "rpc:work".
func keyFor(ref string) core.Key {
	if strings.Contains(ref, ":") {
		return core.Key(ref)
	}
	return core.Key(surface + ":" + ref)
}

// keyOf returns a key that points to the conversation: the one where it began, or, when that points elsewhere by now, one
// of this door that is bound to it.
func (e *Env) keyOf(ctx context.Context, conv core.Conversation) (core.Key, error) {
	own := core.Key(surface + ":" + string(conv.ID))
	for _, k := range []core.Key{conv.Key, own} {
		at, err := e.s.cfg.Store.Lookup(ctx, k)
		if err == nil && at.ID == conv.ID {
			return k, nil
		}
		if err != nil && !core.Is(err, core.NotFound) {
			return "", err
		}
	}
	_, err := e.s.cfg.Store.Bind(ctx, own, conv.ID, conv.Owner, conv.Surface)
	return own, err
}

// Session is the wire form of one session.
type Session struct {
	ID      core.ConversationID `json:"session_id"`
	Key     core.Key            `json:"key"`
	Title   string              `json:"title"`
	Surface string              `json:"surface"`
	Model   string              `json:"model"`
	Group   bool                `json:"group"`
	Created time.Time           `json:"created"`
	Updated time.Time           `json:"updated"`
	Turns   int64               `json:"turns"`
	Running bool                `json:"running"`
	Waiting int                 `json:"waiting"` // messages in its queue
}

func sessionOf(c core.Conversation) Session {
	return Session{ID: c.ID, Key: c.Key, Title: c.Title, Surface: c.Surface, Model: c.Model, Group: c.Group,
		Created: c.Created.UTC(), Updated: c.Updated.UTC(), Turns: c.Turns}
}

type createParams struct {
	Key   string `json:"key"`
	Title string `json:"title"`
}

// sessionCreate starts a session. With a key it finds the one that the key points to, so that it may be repeated.
func sessionCreate(ctx context.Context, e *Env, p createParams) (Session, error) {
	if !e.By.Can(core.CanSubmit) {
		return Session{}, fault(NotAllowed, "you may not start sessions here")
	}
	key := keyFor(ulid.Make().String())
	if p.Key != "" {
		key = keyFor(p.Key)
		if !strings.HasPrefix(string(key), surface+":") {
			return Session{}, fault(BadParams, "a key of another platform cannot be made here")
		}
	}
	conv, err := e.s.cfg.Store.Lookup(ctx, key)
	if core.Is(err, core.NotFound) {
		conv, err = e.s.cfg.Store.Bind(ctx, key, "", e.By.ID, surface)
	}
	if err != nil {
		return Session{}, err
	}
	if conv, err = e.conversation(ctx, string(conv.ID), core.CanSubmit); err != nil {
		return Session{}, err
	}
	if p.Title != "" {
		if conv, err = e.retitle(ctx, conv, p.Title); err != nil {
			return Session{}, err
		}
	}
	e.c.follow(e, conv.ID)
	return sessionOf(conv), nil
}

type listParams struct {
	Limit int `json:"limit"`
}

type listResult struct {
	Sessions []Session `json:"sessions"`
}

// sessionList shows the caller's sessions; to an operator those of all surfaces.
func sessionList(ctx context.Context, e *Env, p listParams) (listResult, error) {
	owner := e.By.ID
	if e.By.Can(core.CanOperate) {
		owner = ""
	}
	convs, err := e.s.cfg.Store.List(ctx, owner, between(p.Limit, 1, 200, 50))
	if err != nil {
		return listResult{}, err
	}
	open, err := e.s.cfg.Store.Unsettled(ctx, "")
	if err != nil {
		return listResult{}, err
	}
	out := listResult{Sessions: make([]Session, len(convs))}
	at := make(map[core.ConversationID]*Session, len(convs))
	for i, c := range convs {
		out.Sessions[i] = sessionOf(c)
		at[c.ID] = &out.Sessions[i]
	}
	for _, a := range open {
		s := at[a.Conversation]
		switch {
		case s == nil:
		case a.Status == core.Queued:
			s.Waiting++
		default:
			s.Running = true
		}
	}
	return out, nil
}

// between returns n within its limits, or the default when it is 0.
func between(n, low, high, normal int) int {
	if n == 0 {
		return normal
	}
	return min(max(n, low), high)
}

type titleParams struct {
	Session string  `json:"session_id" need:"yes"`
	Title   *string `json:"title"`
}

func sessionTitle(ctx context.Context, e *Env, p titleParams) (Session, error) {
	need := core.CanRead
	if p.Title != nil {
		need = core.CanSubmit
	}
	conv, err := e.conversation(ctx, p.Session, need)
	if err == nil && p.Title != nil {
		conv, err = e.retitle(ctx, conv, *p.Title)
	}
	if err != nil {
		return Session{}, err
	}
	return sessionOf(conv), nil
}

func (e *Env) retitle(ctx context.Context, conv core.Conversation, title string) (core.Conversation, error) {
	title = preview(title)
	if title == "" {
		return conv, fault(BadParams, "title is empty")
	}
	return e.s.cfg.Store.Edit(ctx, conv.ID, func(c *core.Conversation) { c.Title = title })
}

type sessionParams struct {
	Session string `json:"session_id" need:"yes"`
}

type usageResult struct {
	ID    core.ConversationID `json:"session_id"`
	Turns int64               `json:"turns"`
	Usage
}

func sessionUsage(ctx context.Context, e *Env, p sessionParams) (usageResult, error) {
	conv, err := e.conversation(ctx, p.Session, core.CanRead)
	if err != nil {
		return usageResult{}, err
	}
	return usageResult{conv.ID, conv.Turns, usageOf(&conv.Usage)}, nil
}

type closeResult struct {
	Closed bool `json:"closed"`
}

// sessionClose ends what this client hears of a session. A turn that runs goes on.
func sessionClose(ctx context.Context, e *Env, p sessionParams) (closeResult, error) {
	conv, err := e.conversation(ctx, p.Session, core.CanRead)
	if err != nil {
		return closeResult{}, err
	}
	e.c.leave(conv.ID)
	return closeResult{true}, nil
}
