package gateway

import (
	"context"
	"strings"
	"time"

	"bellhop/adapters"
	"bellhop/core"
)

// Verdict is what a guard decides.
type Verdict uint8

const (
	Pass Verdict = iota // the next guard
	Drop                // nothing is stored
	Done                // Entry and After say what happens
)

// Guard looks at one arrival. An error is of the store: the whole batch is refused and comes again.
type Guard func(ctx context.Context, a *Arrival) (Verdict, error)

// Arrival is one inbound thing on its way through the guards.
type Arrival struct {
	In       adapters.Inbound
	Platform string // adapter name
	Opts     PlatformOptions
	By       core.Principal
	Key      core.Key
	Entry    *core.Entry // what is stored; nil: nothing
	Busy     string      // how the turn meets a running one; "" is the conversation's own mode
	Receipt  adapters.Receipt
	asked    time.Time // when its commit was asked for

	place int  // in the batch
	first bool // nothing of its piece comes from the same chat before it
	heard *recent
	// after runs once the piece is durable. It is not run for a duplicate.
	after func(ctx context.Context, a *Arrival, adm core.Admitted)

	acts  bool      // a command or a press: what follows in its chat must not be there yet when it runs
	alone bool      // so must nothing else that follows
	halts bool      // it stops what runs, and does nothing else
	ours  bool      // nobody in this process took care of it before
	early bool      // it is carried out before it is stored
	again bool      // the process before this one may have carried it out
	since time.Time // when it came first, if it came before
	do    func(ctx context.Context, a *Arrival) *said
	said  *said // what came of do; nil: it is still to be done
}

// person is who did it: the platform without its account, and the platform's id.
func (a *Arrival) person() core.PrincipalID {
	platform, _, _ := strings.Cut(a.Platform, "/")
	return core.PrincipalID(platform + ":" + a.In.From.ID)
}

// keyOf names the place where in was said: a chat of two by chat, a thread by chat and thread, a group by chat and person
// unless it is shared.
func keyOf(platform string, in adapters.Inbound, shared bool) core.Key {
	key := platform + ":" + in.Target.Chat
	switch {
	case in.Target.Thread != "":
		key += ":t" + in.Target.Thread
	case in.Group && !shared:
		key += ":u" + in.From.ID
	}
	return core.Key(key)
}

// source scopes request ids: message ids are unique within a chat.
func (a *Arrival) source() string { return a.Platform + ":" + a.In.Target.Chat }

// request names the input. A message keeps the name of the message, so that an edit finds it, and the same message under
// another update id is a duplicate.
func (a *Arrival) request() core.RequestID {
	switch a.In.Kind {
	case adapters.KindMessage, adapters.KindEdit, adapters.KindDelete:
		if a.In.Message != "" {
			return core.RequestID(a.In.Message)
		}
	case adapters.KindPress, adapters.KindStop:
		return core.RequestID(string(a.In.Kind) + ":" + a.In.ID)
	}
	return core.RequestID(a.In.ID)
}

// name tells the arrival from all others.
func (a *Arrival) name() string {
	return a.source() + " " + string(a.By.ID) + " " + string(a.request())
}

// route is where answers go. In a group they answer the message, so that everybody sees which one.
func (a *Arrival) route() core.Route {
	t := a.In.Target
	r := core.Route{Platform: a.Platform, Chat: t.Chat, Thread: t.Thread, Group: a.In.Group, User: a.In.From.ID}
	if a.In.Group && a.In.Kind == adapters.KindMessage {
		r.ReplyTo = a.In.Message
	}
	return r
}

// submission translates what was said. It is the only place where the platform's words become the core's.
func (a *Arrival) submission() core.Submission {
	in := a.In
	platform, _, _ := strings.Cut(a.Platform, "/")
	s := core.Submission{Key: a.Key, Source: a.source(), RequestID: a.request(), Text: in.Text,
		Author: in.From.Name, AuthorID: a.By.ID, Group: in.Group, Lang: in.From.Lang, Surface: platform,
		MessageID: in.Message, Route: a.route(), Sent: in.Sent, Album: in.Album, Part: in.Near}
	if r := in.Reply; r != nil {
		s.Reply = &core.Reply{MessageID: r.Message, Author: r.Author, Text: r.Text, Quote: r.Quote, Own: r.Own}
	}
	for _, f := range in.Files {
		s.Attachments = append(s.Attachments, core.Attachment{Kind: f.Kind, Ref: f.Ref, Name: f.Name, MIME: f.MIME, Size: f.Size})
	}
	if !in.Edited.IsZero() {
		s.Sent = in.Edited
	}
	if in.From.Bot {
		s.Display = map[string]string{"author": "bot"}
	}
	return s
}

// command makes the arrival a row born terminal. do carries it out, once; after tells what came of it.
func (a *Arrival) command(do func(ctx context.Context, a *Arrival) *said, after func(ctx context.Context, a *Arrival, adm core.Admitted)) Verdict {
	s := a.submission()
	s.Album, s.Part = "", false
	a.Entry = &core.Entry{By: a.By, Submission: s, Terminal: &core.Outcome{Result: core.Completed, Reason: core.ReasonCommand}}
	a.do, a.after, a.acts = do, after, true
	return Done
}

// Holds give the rest of an album or of a long paste time to come.
const (
	albumHold = 800 * time.Millisecond
	pasteHold = 2 * time.Second
)
