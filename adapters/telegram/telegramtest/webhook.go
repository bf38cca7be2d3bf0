package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const longestHookPause = time.Minute

// webhook is where updates go instead of being polled.
type webhook struct {
	url, secret string
	lastError   string
}

var setWebhook = method{"setWebhook", func(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.touch()
	s.setAllowed(c.args)
	if c.args.bool("drop_pending_updates") {
		s.queue.waiting = nil
	}
	s.webhook = nil
	if url := c.args.str("url"); url != "" {
		s.webhook = &webhook{url: url, secret: c.args.str("secret_token")}
		if s.queue.firstPoll.IsZero() {
			s.queue.firstPoll = time.Now()
		}
	}
	return true, nil
}}

var deleteWebhook = method{"deleteWebhook", func(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.touch()
	s.webhook = nil
	if c.args.bool("drop_pending_updates") {
		s.queue.waiting = nil
	}
	return true, nil
}}

var getWebhookInfo = method{"getWebhookInfo", func(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := map[string]any{"url": "", "has_custom_certificate": false, "pending_update_count": len(s.queue.waiting)}
	if s.webhook != nil {
		info["url"] = s.webhook.url
		if s.webhook.lastError != "" {
			info["last_error_message"] = s.webhook.lastError
		}
	}
	return info, nil
}}

// Run delivers updates to the webhook while one is set: one at a time per chat, each until it is answered with 2xx. It
// returns when ctx has ended and every delivery with it.
func (s *Server) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	for ctx.Err() == nil {
		s.mu.Lock()
		due, next := s.due(time.Now())
		changed, hook := s.changed, s.webhook
		s.mu.Unlock()
		for _, e := range due {
			running.Go(func() { s.deliver(ctx, hook, e) })
		}
		t := time.NewTimer(next)
		select {
		case <-changed:
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
	}
	return nil
}

// due returns what to deliver now, and how long until something else is. Called with s.mu held.
func (s *Server) due(now time.Time) (due []*entry, next time.Duration) {
	next = time.Hour
	if s.webhook == nil {
		return nil, next
	}
	first := map[int64]bool{}
	for _, e := range s.queue.waiting {
		if first[e.chat] {
			continue
		}
		first[e.chat] = true
		switch {
		case e.busy:
		case e.due.After(now):
			next = min(next, e.due.Sub(now))
		default:
			e.busy = true
			due = append(due, e)
		}
	}
	return due, next
}

func (s *Server) deliver(ctx context.Context, h *webhook, e *entry) {
	status, after, err := s.post(ctx, h, e.body)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.touch()
	e.busy = false
	if err == nil && status/100 == 2 {
		s.drop(e)
		return
	}
	h.lastError = "Wrong response from the webhook: " + strconv.Itoa(status)
	if err != nil {
		h.lastError = "Connection failed"
	}
	e.wait = min(max(2*e.wait, s.pause), longestHookPause)
	e.due = time.Now().Add(max(e.wait, after))
}

// drop takes a delivered update from the queue. Called with s.mu held.
func (s *Server) drop(e *entry) {
	for i, x := range s.queue.waiting {
		if x == e {
			s.queue.waiting = append(s.queue.waiting[:i:i], s.queue.waiting[i+1:]...)
			return
		}
	}
}

func (s *Server) post(ctx context.Context, h *webhook, body []byte) (status int, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if h.secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", h.secret)
	}
	resp, err := s.hook.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return 0, 0, err
	}
	if resp.StatusCode/100 == 2 {
		s.embedded(ctx, answer)
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	return resp.StatusCode, time.Duration(min(seconds, 3600)) * time.Second, nil
}

// embedded carries out the method call that an answer to a webhook may hold; nobody learns its result.
func (s *Server) embedded(ctx context.Context, answer []byte) {
	a := args{raw: map[string]json.RawMessage{}}
	if json.Unmarshal(answer, &a.raw) != nil || !a.has("method") {
		return
	}
	name := a.str("method")
	delete(a.raw, "method")
	m, ok := methods[lower(name)]
	if !ok {
		s.violate(name, []string{"no such method in this fake"})
		return
	}
	s.violate(m.name, s.api.check(m.name, a))
	c := &call{Call: Call{At: time.Now(), Method: m.name, Args: a.plain(), Chat: a.int("chat_id"), Code: http.StatusOK}, args: a, ctx: ctx}
	if _, ref := m.run(s, c); ref != nil {
		c.Code, c.Error = ref.code, ref.text
	}
	s.note(c.Call)
}
