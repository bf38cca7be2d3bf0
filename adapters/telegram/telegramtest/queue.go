package telegramtest

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Numbers of the real server's long poll.
const (
	keepUpdates   = 24 * time.Hour
	longestPoll   = 50
	largestBatch  = 100
	sameOffsetOne = 500 * time.Millisecond // a poll with the same offset this soon gets one update at most
)

// queue holds the updates that the bot has not confirmed.
type queue struct {
	next      int64 // id of the last one
	waiting   []*entry
	allowed   []string // nil: everything but what must be asked for
	poll      int64    // number of the latest long poll; an older one gives way
	polling   bool
	cut       int64 // the long poll whose connection is to break
	lastFrom  int64
	lastPoll  time.Time
	firstPoll time.Time
	delivered map[int64]int
}

type entry struct {
	id   int64
	chat int64
	at   time.Time
	body []byte
	busy bool // on its way to the webhook
	due  time.Time
	wait time.Duration
}

// onRequest are the kinds that come only when they are named in allowed_updates.
var onRequest = []string{"chat_member", "message_reaction", "message_reaction_count"}

// push queues an update unless the bot does not want its kind. Called with s.mu held.
func (s *Server) push(kind string, chat int64, body any) int64 {
	if s.queue.allowed == nil && slices.Contains(onRequest, kind) || s.queue.allowed != nil && !slices.Contains(s.queue.allowed, kind) {
		return 0
	}
	s.queue.next++
	b, err := json.Marshal(map[string]any{"update_id": s.queue.next, kind: body})
	if err != nil {
		panic(err) // built here
	}
	s.queue.waiting = append(s.queue.waiting, &entry{id: s.queue.next, chat: chat, at: time.Now(), body: b})
	s.touch()
	return s.queue.next
}

// Inject queues an update as it is; the server adds the update_id, which it returns. fields is a JSON object.
func (s *Server) Inject(fields string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(fields), &m); err != nil {
		panic("telegramtest: Inject: " + err.Error())
	}
	s.queue.next++
	m["update_id"], _ = json.Marshal(s.queue.next)
	b, _ := json.Marshal(m)
	s.queue.waiting = append(s.queue.waiting, &entry{id: s.queue.next, at: time.Now(), body: b})
	s.touch()
	return s.queue.next
}

// Waiting returns how many updates the bot has not confirmed.
func (s *Server) Waiting() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.queue.waiting) }

// Delivered returns how often the update with this id was handed out by long poll.
func (s *Server) Delivered(id int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.delivered[id]
}

// FirstPoll is when the bot first asked for updates, zero when it has not.
func (s *Server) FirstPoll() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.queue.firstPoll }

// SkipIDs makes the ids jump, as they may after a quiet week.
func (s *Server) SkipIDs(n int64) { s.mu.Lock(); defer s.mu.Unlock(); s.queue.next += n }

func (s *Server) setAllowed(a args) {
	var kinds []string
	if !a.object("allowed_updates", &kinds) {
		return // what was set before stays
	}
	s.queue.allowed = kinds
	if len(kinds) == 0 {
		s.queue.allowed = nil
	}
}

var getUpdates = method{"getUpdates", func(s *Server, c *call) (any, *refusal) {
	from, limit, timeout := c.args.int("offset"), int(c.args.int("limit")), min(c.args.int("timeout"), longestPoll)
	if limit <= 0 || limit > largestBatch {
		limit = largestBatch
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook != nil {
		return nil, conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	now := time.Now()
	s.queue.poll++
	s.touch()
	s.setAllowed(c.args)
	if s.queue.firstPoll.IsZero() {
		s.queue.firstPoll = now
	}
	if from == s.queue.lastFrom && now.Sub(s.queue.lastPoll) < sameOffsetOne {
		limit = 1
	}
	s.queue.lastFrom, s.queue.lastPoll = from, now
	s.confirm(from, now)
	return s.longPoll(c.ctx, s.queue.poll, limit, time.Duration(timeout)*time.Second)
}}

// confirm drops what an offset acknowledges, and what is too old. Called with s.mu held.
func (s *Server) confirm(from int64, now time.Time) {
	q := &s.queue
	if from < 0 {
		q.waiting = q.waiting[max(0, len(q.waiting)+int(from)):]
		from = 0
	}
	n := len(q.waiting)
	q.waiting = slices.DeleteFunc(q.waiting, func(e *entry) bool { return e.id < from || now.Sub(e.at) > keepUpdates })
	if len(q.waiting) != n {
		s.touch()
	}
}

// longPoll returns the next updates, waiting for the first one. Called with s.mu held, which it gives up while it waits.
func (s *Server) longPoll(ctx context.Context, mine int64, limit int, wait time.Duration) (any, *refusal) {
	q := &s.queue
	t := time.NewTimer(wait)
	defer t.Stop()
	q.polling = true
	for timeUp := wait == 0; ; {
		if q.poll != mine {
			return nil, conflict("terminated by other getUpdates request; make sure that only one bot instance is running")
		}
		if s.webhook != nil {
			return nil, conflict("terminated by setWebhook request")
		}
		batch := q.waiting[:min(limit, len(q.waiting))]
		if len(batch) > 0 || timeUp || ctx.Err() != nil || q.cut == mine {
			q.polling = false
			if q.cut == mine {
				return nil, brokenOff
			}
			return s.handOut(batch), nil
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		case <-t.C:
			timeUp = true
		}
		s.mu.Lock()
	}
}

func (s *Server) handOut(batch []*entry) []json.RawMessage {
	out := []json.RawMessage{}
	for _, e := range batch {
		if s.queue.delivered == nil {
			s.queue.delivered = map[int64]int{}
		}
		s.queue.delivered[e.id]++
		out = append(out, e.body)
	}
	return out
}

// Cut breaks the long poll under way, or the next one, as a network does.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.queue.polling {
		s.faults = append(s.faults, &Fault{Method: "getUpdates", Times: 1, Drop: true})
		return
	}
	s.queue.cut = s.queue.poll
	s.touch()
}
