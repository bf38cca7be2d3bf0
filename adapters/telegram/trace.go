package telegram

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"bellhop/adapters"
)

const (
	keepPlaces = 1024 // messages that are remembered
	keepSpaces = 1024
	guesses    = 10  // ids that Trace names at most
	farthest   = 256 // how far from where a message is expected it is looked for
)

// places remembers where messages were seen last, ours and others'. Telegram numbers the messages of a supergroup or
// channel by themselves, and those of all other chats of a bot together, always upwards: an id below one that was seen is
// never given again. The zero value is ready.
type places struct {
	epoch uint64 // of this process: marks of another say nothing

	mu     sync.Mutex
	seen   [keepPlaces]place
	n      int             // seen so far
	spaces map[int64]*span // since this process made a message there: what was made before is below
	making map[int64]int   // messages that are being made, by chat
	flying map[int64]int   // the same by space
}

type place struct {
	space int64
	id    int
}

// span is what is known of a space.
type span struct {
	newest int
	ahead  int // messages of ours that may be above it
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
	at := place{space, id}
	if !slices.Contains(p.seen[:min(p.n, keepPlaces)], at) { // most are changed again and again
		p.seen[p.n%keepPlaces] = at
		p.n++
	}
	if s := p.spaces[space]; s != nil && id > s.newest {
		s.newest, s.ahead = id, p.flying[space]
	}
}

// begin says that a message is being made; end that the call has ended, with id 0 when it is not known.
func (p *places) begin(chat int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.making == nil {
		p.making, p.flying = map[int64]int{}, map[int64]int{}
	}
	space := spaceOf(chat)
	p.making[chat]++
	p.flying[space]++
	if s := p.spaces[space]; s != nil {
		s.ahead++
	}
}

func (p *places) end(chat int64, id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	space := spaceOf(chat)
	less(p.making, chat)
	less(p.flying, space)
	if id == 0 {
		return
	}
	if p.spaces[space] == nil {
		if len(p.spaces) >= keepSpaces || p.spaces == nil {
			p.spaces = map[int64]*span{}
		}
		p.spaces[space] = &span{}
	}
	p.see(space, id)
}

func less(counts map[int64]int, k int64) {
	if counts[k]--; counts[k] == 0 {
		delete(counts, k)
	}
}

// mark is what was newest in a chat's space: the epoch, the messages seen so far, the newest id, and the id that a message
// made now should get. It is empty while this process made none there: others of the process before it may follow, which
// nobody here knows of.
func (p *places) mark(chat int64) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.spaces[spaceOf(chat)]
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%x.%d.%d.%d", p.epoch, p.n, s.newest, s.newest+s.ahead+1)
}

// since returns ids between that of a mark and the newest that nobody is known to have, the likeliest first.
func (p *places) since(chat int64, mark string) (ids []int) {
	var epoch uint64
	var n, id, likely int
	if _, err := fmt.Sscanf(mark, "%x.%d.%d.%d", &epoch, &n, &id, &likely); err != nil || epoch != p.epoch {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.spaces[spaceOf(chat)]
	if s == nil || p.n-n > keepPlaces || p.making[chat] > 0 { // what came since is forgotten, or not known yet
		return nil
	}
	known := map[int]bool{}
	for _, at := range p.seen[:min(p.n, keepPlaces)] {
		if at.space == spaceOf(chat) {
			known[at.id] = true
		}
	}
	try := func(at int) {
		if at > id && at < s.newest && !known[at] && len(ids) < guesses {
			ids = append(ids, at)
		}
	}
	try(likely)
	for far := 1; far <= farthest && len(ids) < guesses; far++ {
		try(likely + far)
		try(likely - far)
	}
	return ids
}

// Trace marks the newest message that was seen where a message of target would be numbered. Given such a mark of this
// process, it also returns ids between it and the newest that were not seen: one of them may be that of a message which was
// made then, and none of them is given to another any more.
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
