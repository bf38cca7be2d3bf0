package telegram

import (
	"fmt"
	"strconv"
	"sync"

	"bellhop/adapters"
)

const (
	keepPlaces = 512 // messages that are remembered
	keepSpaces = 1024
	guesses    = 6 // ids that Trace names at most
)

// places remembers where messages were seen last, ours and others'. Telegram numbers the messages of a supergroup or
// channel by themselves, and those of all other chats of a bot together, always upwards. The zero value is ready.
type places struct {
	epoch uint64 // of this process: marks of another say nothing

	mu     sync.Mutex
	seen   [keepPlaces]place
	n      int           // seen so far
	newest map[int64]int // by space, since this process made a message there: what was made before is below
	making map[int64]int // messages that are being made, by chat
}

type place struct {
	space int64
	id    int
}

// spaceOf returns the space in which the messages of a chat are numbered.
func spaceOf(chat int64) int64 {
	if chat <= -1_000_000_000_000 {
		return chat
	}
	return 0
}

// note remembers a message that was seen or changed.
func (p *places) note(chat int64, id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.see(spaceOf(chat), id)
}

func (p *places) see(space int64, id int) {
	p.seen[p.n%keepPlaces] = place{space, id}
	p.n++
	if newest, known := p.newest[space]; known {
		p.newest[space] = max(newest, id)
	}
}

// begin says that a message is being made; end that the call has ended, with id 0 when it is not known.
func (p *places) begin(chat int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.making == nil {
		p.making = map[int64]int{}
	}
	p.making[chat]++
}

func (p *places) end(chat int64, id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id != 0 {
		s := spaceOf(chat)
		if _, known := p.newest[s]; !known && len(p.newest) >= keepSpaces || p.newest == nil {
			p.newest = map[int64]int{}
		}
		p.newest[s] = max(p.newest[s], id)
		p.see(s, id)
	}
	if p.making[chat]--; p.making[chat] == 0 {
		delete(p.making, chat)
	}
}

// mark is what was newest in a chat's space: the epoch, the messages seen so far, the newest id. It is empty while this
// process made none there: others of the process before it may follow, which nobody here knows of.
func (p *places) mark(chat int64) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.newest[spaceOf(chat)]
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("%x.%d.%d", p.epoch, p.n, id)
}

// since returns ids after those of a mark that nobody is known to have.
func (p *places) since(chat int64, mark string) (ids []int) {
	var epoch uint64
	var n, id int
	if _, err := fmt.Sscanf(mark, "%x.%d.%d", &epoch, &n, &id); err != nil || epoch != p.epoch {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n-n > keepPlaces || p.making[chat] > 0 { // what came since is forgotten, or not known yet
		return nil
	}
	known := map[int]bool{}
	for i := n; i < p.n; i++ {
		if s := p.seen[i%keepPlaces]; s.space == spaceOf(chat) {
			known[s.id] = true
		}
	}
	for id++; len(ids) < guesses; id++ {
		if !known[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// Trace marks the newest message that was seen where a message of target would be numbered. Given such a mark of this
// process, it also returns the next ids that were not seen since: one of them is that of a message which was made then.
func (a *Adapter) Trace(to adapters.Target, mark string) (now string, near []adapters.Ref) {
	chat, err := chatID("", to)
	if err != nil {
		return "", nil
	}
	if mark != "" {
		for _, id := range a.places.since(chat, mark) {
			near = append(near, adapters.Ref(strconv.Itoa(id)))
		}
	}
	return a.places.mark(chat), near
}
