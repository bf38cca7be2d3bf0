package main

import (
	"runtime"
	"runtime/debug"
	gauge "runtime/metrics"
	"time"
)

const (
	// heapGrowth is by how many percent the heap grows between two collections. Against Go's 100 it takes 3 % more CPU, and
	// 200 live answers need a tenth less memory.
	heapGrowth = 75
	// heapRoom is how far a small heap may grow while there is a lot to do. A gateway's live heap is a few megabytes, so
	// that under a flood of short turns the collector would run fifty times a second and take a fifth of the CPU. Many
	// stacks mean many turns that wait for their models: memory is dearer then than CPU, and each byte of a stack takes
	// heapStack bytes off the room.
	heapRoom  = 48 << 20
	heapStack = 4
	// heapBusy is how soon one collection follows another while there is a lot to do. Collections that the runtime makes
	// by itself when there is nothing to do come every two minutes, and give the memory back.
	heapBusy = time.Second
	// heapFirst is the growth until the first collection, which is then not in the way of the start: a heap is collected
	// at 4 MiB times this at the earliest.
	heapFirst = 150
	// heapMost is the most by which any heap grows.
	heapMost = 300
)

// pacer changes the growth of the heap after each collection.
type pacer struct {
	last   time.Time
	growth int
	gauges []gauge.Sample // live heap, stacks
}

// pace starts to pace the collector. Nobody waits for it: it runs where the runtime runs finalizers.
func pace() {
	p := &pacer{growth: heapFirst, gauges: []gauge.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}}
	debug.SetGCPercent(heapFirst)
	p.arm()
}

// arm makes the next collection call collected.
func (p *pacer) arm() {
	runtime.SetFinalizer(&sentinel{p}, func(s *sentinel) {
		s.p.collected(time.Now())
		s.p.arm()
	})
}

// sentinel is found dead by each collection.
type sentinel struct{ p *pacer }

func (p *pacer) collected(now time.Time) {
	gauge.Read(p.gauges)
	g := growth(int(p.gauges[0].Value.Uint64()), int(p.gauges[1].Value.Uint64()), now.Sub(p.last))
	p.last = now
	if g != p.growth {
		p.growth = g
		debug.SetGCPercent(g)
	}
}

// growth is by how many percent live bytes and the stacks, of which the runtime takes it together, may grow when the last
// collection was since ago.
func growth(live, stacks int, since time.Duration) int {
	room := heapRoom - live - heapStack*stacks
	if since > heapBusy || live == 0 || room <= 0 {
		return heapGrowth
	}
	return min(max(heapGrowth, room*100/(live+stacks)/25*25), heapMost) // in steps: a change stops the world
}
