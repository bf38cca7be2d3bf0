package telegramtest

import (
	"context"
	"time"
)

// Fault breaks calls. Status answers with an error instead of acting; Drop breaks the connection before the call takes
// effect, Lost after it did; Delay holds the call first, and alone does nothing else.
type Fault struct {
	Method     string // "" is every method but getUpdates
	Chat       int64  // 0 is every chat
	Times      int    // 0 is once, negative is for ever
	Status     int
	Text       string // description; "" is a fitting one
	RetryAfter int    // seconds
	Migrate    int64
	Body       string // an answer that is not Telegram's, such as a proxy's page, with Status
	Drop       bool
	Lost       bool
	Delay      time.Duration
}

// Fail plants a fault; those planted first are used first.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &f)
}

// Heal removes all planted faults.
func (s *Server) Heal() { s.mu.Lock(); defer s.mu.Unlock(); s.faults = nil }

// fault takes the first one that fits.
func (s *Server) fault(method string, chat int64) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.Method != method && (f.Method != "" || method == "getUpdates") || f.Chat != 0 && f.Chat != chat {
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			}
		}
		return f
	}
	return nil
}

func (f *Fault) wait(ctx context.Context) error {
	if f == nil || f.Delay == 0 {
		return nil
	}
	t := time.NewTimer(f.Delay)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var statusText = map[int]string{400: "Bad Request: injected", 401: "Unauthorized", 403: "Forbidden: injected", 404: "Not Found",
	409: "Conflict: injected", 429: "Too Many Requests: injected", 500: "Internal Server Error: restart", 502: "Bad Gateway",
	503: "Service Unavailable", 504: "Gateway Timeout"}

func (f *Fault) refusal() *refusal {
	if f == nil || f.Status == 0 || f.Body != "" {
		return nil
	}
	text := f.Text
	if text == "" {
		text = statusText[f.Status]
	}
	return &refusal{code: f.Status, text: text, retry: f.RetryAfter, migrate: f.Migrate}
}
