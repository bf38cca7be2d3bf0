package stream

import (
	"iter"
	"slices"
	"time"

	"bellhop/core"
)

// ring holds the newest max events. What comes in hundreds are deltas that differ in number, time and text alone: a run of
// them shares the rest, and takes a quarter of the memory.
type ring struct {
	max, n int
	runs   []run
	gone   int // events of the first run that were taken out
}

// run is events with consecutive numbers. There is at least one.
type run struct {
	rest  *core.Event // without number, time and text
	seq   int64       // of the first
	at    int64       // of the first, in unix microseconds
	text  []byte      // of all
	marks []mark
}

// mark is one event of a run.
type mark struct {
	end uint32 // of its text in the run's
	at  uint32 // microseconds after the run's
}

// maxRun is how many events share a run: it is let go as a whole.
const maxRun = 64

func newRing(max int) *ring { return &ring{max: max} }

func newRun(e *core.Event) run {
	n := run{rest: new(core.Event), seq: e.Seq, at: e.At.UnixMicro(), text: []byte(e.Text)}
	*n.rest = *e
	n.rest.Seq, n.rest.At, n.rest.Text = 0, time.Time{}, ""
	n.marks = []mark{{end: uint32(len(n.text))}}
	return n
}

// take adds e if it goes on from the run.
func (n *run) take(e *core.Event) bool {
	at, end := e.At.UnixMicro()-n.at, len(n.text)+len(e.Text)
	if e.Seq != n.seq+int64(len(n.marks)) || len(n.marks) == maxRun || at < 0 || at>>32 != 0 || end>>32 != 0 || !alike(n.rest, *e) {
		return false
	}
	if len(n.marks) == 1 {
		n.text, n.marks = slices.Grow(n.text, 128), slices.Grow(n.marks, 15)
	}
	n.text = append(n.text, e.Text...)
	n.marks = append(n.marks, mark{uint32(end), uint32(at)})
	return true
}

// alike reports whether e differs from rest in number, time and text alone.
func alike(rest *core.Event, e core.Event) bool {
	e.Seq, e.At, e.Text = rest.Seq, rest.At, rest.Text
	return *rest == e
}

func (n *run) event(i int) core.Event {
	from := uint32(0)
	if i > 0 {
		from = n.marks[i-1].end
	}
	e, m := *n.rest, n.marks[i]
	e.Seq, e.At, e.Text = n.seq+int64(i), time.UnixMicro(n.at+int64(m.at)), string(n.text[from:m.end])
	return e
}

// last is the number of the newest event.
func (r *ring) last() int64 {
	if r.n == 0 {
		return 0
	}
	n := &r.runs[len(r.runs)-1]
	return n.seq + int64(len(n.marks)) - 1
}

// all yields the events, oldest first.
func (r *ring) all() iter.Seq[core.Event] {
	return func(yield func(core.Event) bool) {
		from := r.gone
		for i := range r.runs {
			for ; from < len(r.runs[i].marks); from++ {
				if !yield(r.runs[i].event(from)) {
					return
				}
			}
			from = 0
		}
	}
}

// push appends e. fell reports that the oldest had to go, and tells its number and type.
func (r *ring) push(e *core.Event) (old int64, t core.EventType, fell bool) {
	if fell = r.n == r.max; fell {
		old, t = r.runs[0].seq+int64(r.gone), r.runs[0].rest.Type
		r.drop()
	}
	if k := len(r.runs); k == 0 || !r.runs[k-1].take(e) {
		r.runs = append(r.runs, newRun(e))
	}
	r.n++
	return old, t, fell
}

// insert is push at e's place by number, which is almost always the last.
func (r *ring) insert(e *core.Event) (old int64, t core.EventType, fell bool) {
	if e.Seq > r.last() {
		return r.push(e)
	}
	es := slices.Collect(r.all())
	if fell = r.n == r.max; fell {
		old, t, es = es[0].Seq, es[0].Type, es[1:]
	}
	i := len(es)
	for i > 0 && es[i-1].Seq > e.Seq {
		i--
	}
	es = slices.Insert(es, i, *e)
	r.clear()
	for i := range es {
		r.push(&es[i])
	}
	return old, t, fell
}

// pop takes the oldest.
func (r *ring) pop() (e core.Event, ok bool) {
	if r.n == 0 {
		return e, false
	}
	e = r.runs[0].event(r.gone)
	r.drop()
	return e, true
}

func (r *ring) drop() {
	r.n--
	if r.gone++; r.gone == len(r.runs[0].marks) {
		r.runs[0] = run{}
		r.runs, r.gone = r.runs[1:], 0
	}
}

// keep forgets what want refuses.
func (r *ring) keep(want func(core.EventType) bool) {
	if r.n > 0 && !want(r.runs[0].rest.Type) {
		r.gone = 0
	}
	r.runs = slices.Clone(slices.DeleteFunc(r.runs, func(n run) bool { return !want(n.rest.Type) }))
	r.n = -r.gone
	for i := range r.runs {
		r.n += len(r.runs[i].marks)
	}
}

func (r *ring) clear() { *r = ring{max: r.max} }
