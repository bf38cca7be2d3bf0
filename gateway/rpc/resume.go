package rpc

import (
	"context"
	"slices"

	"bellhop/core"
)

// maxSince is how many events one reply of session.events.since holds.
const maxSince = 1000

type sinceParams struct {
	Session string `json:"session_id" need:"yes"`
	Seq     *int64 `json:"seq" need:"yes"`
}

type sinceResult struct {
	ID     core.ConversationID `json:"session_id"`
	Events []Event             `json:"events"`
	Seq    int64               `json:"seq"`  // ask for what comes after this next time
	More   bool                `json:"more"` // ask again now; live events come once there is no more
}

// sessionEventsSince tells what happened after a number, and follows the session from there on: what is in the reply does
// not come again, and what is not will.
func sessionEventsSince(ctx context.Context, e *Env, p sinceParams) (sinceResult, error) {
	if *p.Seq < 0 {
		return sinceResult{}, fault(BadParams, "seq cannot be negative")
	}
	conv, err := e.conversation(ctx, p.Session, core.CanRead)
	if err != nil {
		return sinceResult{}, err
	}
	w := e.c.follow(e, conv.ID)
	w.catchUp()
	events, err := e.s.cfg.Hub.Since(ctx, conv.ID, *p.Seq)
	if err != nil {
		w.fail()
		return sinceResult{}, err
	}
	more := len(events) > maxSince
	events = events[:min(len(events), maxSince)]
	out := sinceResult{ID: conv.ID, Seq: *p.Seq, More: more, Events: e.s.wireAll(events)}
	if n := len(events); n > 0 {
		out.Seq = events[n-1].Seq
	}
	w.cover(out.Seq, more, events)
	return out, nil
}

func (s *Server) wireAll(events []core.Event) []Event {
	out := make([]Event, len(events))
	for i, ev := range events {
		out[i] = s.wire(ev)
	}
	return out
}

type resumeParams struct {
	Session string `json:"session_id"`
	Title   string `json:"title"`
	Limit   int    `json:"limit"` // messages of history
}

type resumeResult struct {
	Session
	History   []Message        `json:"history"` // oldest first, without those of the running turn
	More      bool             `json:"more"`    // there are older ones
	Asked     []map[string]any `json:"asked"`   // what people were asked in those turns, and how it ended
	Seq       int64            `json:"seq"`     // everything up to this number is in this reply
	Live      []Event          `json:"live"`    // what the running turn has shown so far
	Queue     []Queued         `json:"queue"`
	Questions []map[string]any `json:"questions"` // each is also sent as an event
}

// sessionResume opens a session as a client shows it: what was said, what the running turn has shown, what waits for an
// answer. Following begins before anything is read, so nothing falls between the reply and the events after it.
func sessionResume(ctx context.Context, e *Env, p resumeParams) (resumeResult, error) {
	ref := firstOf(p.Session, p.Title)
	if ref == "" {
		return resumeResult{}, fault(BadParams, "session_id is required")
	}
	conv, err := e.conversation(ctx, ref, core.CanRead)
	if err != nil {
		return resumeResult{}, err
	}
	w := e.c.follow(e, conv.ID)
	w.catchUp()
	out, told, err := e.snapshot(ctx, conv, between(p.Limit, 1, 500, 100))
	if err != nil {
		w.fail()
		return resumeResult{}, err
	}
	w.cover(out.Seq, false, told)
	if err := e.replayQuestions(ctx, w, conv.ID, &out); err != nil {
		return resumeResult{}, err
	}
	return out, nil
}

// snapshot also returns the events that it found, those that the reply does not show among them.
func (e *Env) snapshot(ctx context.Context, conv core.Conversation, limit int) (resumeResult, []core.Event, error) {
	out := resumeResult{Session: sessionOf(conv)}
	rows, err := e.s.cfg.Store.Unsettled(ctx, conv.ID)
	if err != nil {
		return out, nil, err
	}
	live := map[core.AdmissionID]bool{}
	var running core.AdmissionID
	for _, a := range rows {
		if a.Status == core.Started {
			running, live[a.ID], out.Running = a.ID, true, true
		}
	}
	found, begin, seq, err := e.liveEvents(ctx, conv.ID, running)
	if err != nil {
		return out, nil, err
	}
	out.Live, out.Seq = e.s.wireAll(found[begin:]), seq
	page, err := e.history(ctx, conv.ID, 0, limit)
	if err != nil {
		return out, nil, err
	}
	out.More = page.More
	if out.Asked, err = e.ended(ctx, conv.ID, page.Messages, live); err != nil {
		return out, nil, err
	}
	out.History = slices.DeleteFunc(page.Messages, func(m Message) bool { return live[m.Admission] && m.Role != core.RoleUser })
	out.Queue = queueOf(rows)
	out.Waiting = len(out.Queue)
	if out.Running {
		out.Waiting--
	}
	return out, found, nil
}

// liveEvents returns the newest events, where among them what the running turn has shown begins (at their end when nothing
// runs), and the number up to which the reply tells everything. A fresh number
// is above all that happened; the newest events, and the beginning of the running turn, are looked for below it.
func (e *Env) liveEvents(ctx context.Context, c core.ConversationID, running core.AdmissionID) (events []core.Event, begin int, seq int64, err error) {
	fresh, err := e.s.cfg.Store.Reserve(ctx, c, 1)
	if err != nil {
		return nil, 0, 0, err
	}
	for back := int64(4 * core.EventBlock); ; back *= 4 {
		from := max(0, fresh-back)
		if events, err = e.s.cfg.Hub.Since(ctx, c, from); err != nil {
			return nil, 0, 0, err
		}
		seq = from
		if n := len(events); n > 0 {
			seq = events[n-1].Seq
		}
		begin = slices.IndexFunc(events, func(ev core.Event) bool { return ev.Type == core.MessageStart && ev.Admission == running })
		switch {
		case running == "" || begin < 0 && from == 0: // nothing runs, or it has not said so yet
			return events, len(events), seq, nil
		case begin >= 0:
			return events, begin, seq, nil
		}
	}
}

// replayQuestions sends the questions that wait as events, under their own request ids and without numbers, after the
// reply.
func (e *Env) replayQuestions(ctx context.Context, w *watch, c core.ConversationID, out *resumeResult) error {
	open, err := e.s.cfg.Ask.Open(ctx, c)
	if err != nil {
		return err
	}
	out.Questions = make([]map[string]any, len(open))
	for i, q := range open {
		out.Questions[i] = asked(q.ID, q.Ask, q.Deadline)
		e.after = append(e.after, frameOf(Event{Type: requestType(q.Ask.Kind), Session: c, Admission: q.Admission,
			Turn: q.Turn, Payload: out.Questions[i]}))
	}
	return nil
}

func requestType(k core.QuestionKind) core.EventType {
	switch k {
	case core.Clarify:
		return core.ClarifyRequest
	case core.Sudo:
		return core.SudoRequest
	case core.Secret:
		return core.SecretRequest
	}
	return core.ApprovalRequest
}
