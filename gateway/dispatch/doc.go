// Package dispatch drains the queues: one visit at a time per conversation, many conversations at once.
//
//	Wake --> ready --slot--> visit: lease --> claim --> turn --> settle --> published
//	          ^  ^             |       |        |
//	          |  |             |       |        +-- unknown row ahead: read back, then claim again
//	          |  |             |       +-- held by another: the slot is given back during the wait
//	          |  +--rows left--+-- empty queue: over
//	          +-- timer: a hold ends, a wait for a person's decision, a failure to be tried again
//	          +-- sweep: orphans of dead holders, queued rows nobody woke
//
// One visit is one acquisition of the lease, one claim, one turn, one settlement. Lease and claim are one write unless
// another holds the lease or something unknown is in the way. Order of the last part: the outcome, the
// transcript's tail, message.complete and the delivery are one synced commit, which also frees the lease; only then is
// message.complete published, and the live message finished beside the next visit.
//
// How a turn ends early. Each interrupt is the cause of its context: stopped, replaced, no activity (waiting for a person is
// activity), time spent, shut down, lease lost. A turn that does not return within a grace period is abandoned: it keeps
// its goroutine until it comes back, but its news, its signs of life and its claims on steering are cut off at once, and
// the settlement has taken its fence, so that its writes are Stale. A panic is an outcome with a reference.
//
// When the settlement cannot be stored it is tried again for as long as the lease is trusted, and the person is told; the
// outcome is kept, so that an answer is not lost to a disk that was full for a minute. A settlement that can never be stored
// is replaced once by one without a tail. After a lost lease nothing is written and nothing is sent; the row becomes
// unknown and is read back.
//
// Shutting down: nothing new is claimed; running turns get Drain to end by themselves, then they are interrupted, and those
// that only wait for a person at once: their question waits in the store. What had no effect, or can go on from its
// transcript, is left started, so that the next process reads it back and goes on; the rest is settled as interrupted and said.
//
// Invariants: every accepted row ends in exactly one terminal receipt; a row that cannot be settled never keeps the others
// waiting for ever; memory is bounded by conversations with work, goroutines by MaxParallel, waits for leases and turns that
// hang.
package dispatch
