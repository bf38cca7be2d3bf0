package turn

import (
	"crypto/sha256"
	"fmt"
)

const (
	hintAt  = 3 // times the same was done before the model hears of it
	haltAt  = 5 // times before the turn ends
	longest = 2 // rounds of a cycle that is recognized: A-A-A, A-B-A-B
)

// repeats notices that rounds come again: the same calls with the same results, one after the other or in turns.
type repeats struct {
	rounds [][sha256.Size]byte // the newest ones
	count  int                 // times the newest cycle was run through
}

// after takes a round, all of whose calls have ended, and returns a note for the model when it repeats itself. Tools for
// which that is normal do not count.
func (p *repeats) after(round []*call) string {
	h, polling := sha256.New(), true
	for _, c := range round {
		polling = polling && c.spec.Polling
		fmt.Fprintf(h, "%q %s %q\n", c.Name, canonical(c.Args), c.ended.Result.Text)
	}
	if polling {
		*p = repeats{}
		return ""
	}
	p.rounds = append(p.rounds, [sha256.Size]byte(h.Sum(nil)))
	if len(p.rounds) > longest*haltAt {
		p.rounds = p.rounds[1:]
	}
	p.count = 1
	for length := 1; length <= longest; length++ {
		p.count = max(p.count, p.cycles(length))
	}
	if p.count == hintAt {
		return aside(fmt.Sprintf("You have done the same %d times with the same result. Do something else, or tell the person what stops you.", hintAt))
	}
	return ""
}

// cycles counts how often the newest rounds went through a cycle of the given length.
func (p *repeats) cycles(length int) int {
	same := 0
	for i := len(p.rounds) - 1; i >= length && p.rounds[i] == p.rounds[i-length]; i-- {
		same++
	}
	return same/length + 1
}
