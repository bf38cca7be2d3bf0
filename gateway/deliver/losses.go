package deliver

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"bellhop/adapters"
	"bellhop/stream"
)

const (
	keepLosses = 32               // of one chat
	lateFor    = 15 * time.Second // how long after its call has ended a message may still arrive
	spareFor   = 10 * time.Minute // how long one that nobody needs is looked for
)

// losses are the messages of this process whose call is under way, or ended without an answer, by chat: whatever their
// thread, and whether or not anybody waits for them, each may be the one that is found. Bounded by keepChats and
// keepLosses: what is dropped takes everything before it out of the search.
type losses struct {
	mu    sync.Mutex
	n     int
	chats map[string][]*loss
	blind time.Time // what began before may not be alone
}

// loss is one of them.
type loss struct {
	name, mark   string // ours, which stands in the row, and the adapter's; "" when it cannot be looked for
	began, ended time.Time
	spare        bool         // it is taken away when it is found
	copied       adapters.Ref // the message that repeats it
	plain        stream.View  // what that one shows without the mark of a repeat
}

func newLosses() *losses { return &losses{chats: map[string][]*loss{}} }

// begin notes that a message is about to be made.
func (l *losses) begin(chat, mark string) *loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	open, known := l.chats[chat]
	if !known && len(l.chats) >= keepChats {
		l.blind = now
		clear(l.chats)
	}
	if len(open) >= keepLosses {
		l.blind, open = now, nil
	}
	l.n++
	o := &loss{mark: mark, began: now}
	if mark != "" {
		o.name = mark + "#" + strconv.Itoa(l.n)
	}
	l.chats[chat] = append(open, o)
	return o
}

// end notes how the call ended: nobody knows, or there is a message, or certainly none.
func (l *losses) end(chat string, o *loss, lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.ended = time.Now(); !lost {
		l.drop(chat, o)
	}
}

// drop forgets o. mu is held.
func (l *losses) drop(chat string, o *loss) {
	rest := slices.DeleteFunc(l.chats[chat], func(other *loss) bool { return other == o })
	if len(rest) == 0 {
		delete(l.chats, chat)
		return
	}
	l.chats[chat] = rest
}

// find returns the loss with a name, or nil. mu is held.
func (l *losses) find(chat, name string) *loss {
	i := slices.IndexFunc(l.chats[chat], func(o *loss) bool { return o.name == name && name != "" })
	if i < 0 {
		return nil
	}
	return l.chats[chat][i]
}

// markOf returns the adapter's mark of a loss of this process.
func (l *losses) markOf(chat, name string) (mark string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.find(chat, name)
	if o == nil {
		return "", false
	}
	return o.mark, true
}

// alone reports whether no other message of the chat can be mistaken for the one with a name: none is being made, and none
// was lost since a while before it was made.
func (l *losses) alone(chat, name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.find(chat, name)
	if o == nil || !o.began.After(l.blind) {
		return false
	}
	return !slices.ContainsFunc(l.chats[chat], func(other *loss) bool {
		return other != o && (other.ended.IsZero() || other.ended.After(o.began.Add(-lateFor)))
	})
}

// found forgets a loss: it is known what became of it.
func (l *losses) found(chat, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.find(chat, name); o != nil {
		l.drop(chat, o)
	}
}

// spare says that nobody waits for a loss: it is taken away once it is found.
func (l *losses) spare(chat, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.find(chat, name); o != nil {
		o.spare = true
	}
}

// repeat says that message ref repeats a loss, and what it should show when the loss is taken away.
func (l *losses) repeat(chat, name string, ref adapters.Ref, plain stream.View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.find(chat, name); o != nil {
		o.spare, o.copied, o.plain = true, ref, plain
	}
}

// spares lists what should be taken away from a chat. What was looked for long enough is given up.
func (l *losses) spares(chat string) (out []loss) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.chats[chat] {
		if o.spare && time.Since(o.ended) < spareFor {
			out = append(out, *o)
		}
	}
	return out
}
