package telegramtest

import (
	"math"
	"time"
)

// Limits are rates of calls that people see: sends and edits. A zero rate does not limit.
type Limits struct {
	Chat, Group, Bot                float64 // per second
	ChatBurst, GroupBurst, BotBurst float64
	Penalty                         time.Duration // added to the wait whenever a call is refused
}

// Published are the documented limits: a message a second in a chat with short bursts, 20 a minute in a group, 30 a
// second over all chats.
func Published() Limits {
	return Limits{Chat: 1, ChatBurst: 3, Group: 20.0 / 60, GroupBurst: 20, Bot: 30, BotBurst: 30, Penalty: time.Second}
}

type limiter struct {
	Limits
	chats map[int64]*bucket
	all   bucket
}

type bucket struct {
	used    float64
	at      time.Time
	blocked time.Time
}

// take returns 0 when a call may pass, or after how many seconds to try again. Called with s.mu held.
func (l *limiter) take(now time.Time, chat int64) int {
	rate, burst := l.Chat, l.ChatBurst
	if chat < 0 {
		rate, burst = l.Group, l.GroupBurst
	}
	if l.chats == nil {
		l.chats = map[int64]*bucket{}
	}
	b := l.chats[chat]
	if b == nil {
		b = &bucket{}
		l.chats[chat] = b
	}
	if n := b.take(now, rate, burst, l.Penalty); n > 0 {
		return n
	}
	return l.all.take(now, l.Bot, l.BotBurst, l.Penalty)
}

func (b *bucket) take(now time.Time, rate, burst float64, penalty time.Duration) int {
	if rate == 0 {
		return 0
	}
	if wait := b.blocked.Sub(now); wait > 0 {
		return int(math.Ceil(wait.Seconds()))
	}
	b.used = math.Max(0, b.used-now.Sub(b.at).Seconds()*rate)
	b.at = now
	if b.used+1 <= burst {
		b.used++
		return 0
	}
	wait := time.Duration((b.used+1-burst)/rate*float64(time.Second)) + penalty
	b.blocked = now.Add(wait)
	return int(math.Ceil(wait.Seconds()))
}
