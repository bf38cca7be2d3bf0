// Package lease keeps a conversation's lease while a turn runs. Who holds the lease may write; the fence it yields goes
// with every write.
//
//	Do --> acquire --(held by another: wait, jittered)--> held --fn returned, or panicked--> joined, released
//	          | waited too long, ctx ended                  |
//	          v                                             | renewed every 60 s
//	        error                                           v
//	                                          trust ends: fn's context ends with cause
//	                                          *core.Interrupt{ReasonLeaseLost}, before the lease expires
//
// Invariants. Trust is counted on this process's monotonic clock from before the call that granted the lease, so it always
// ends before the store's clock says so, whatever the wall clocks do. A renewal that fails because the store is busy is
// tried again sooner, as long as one more try could still beat the expiry; a renewal that is refused (Stale) ends trust at
// once. The refresher is started and joined by Do on every path, also when fn panics; the panic goes on afterwards.
// Renewal and release show the token of this acquisition: a late one can neither extend nor clear a successor's lease.
//
// A process that was suspended wakes up believing in its lease until its next renewal. It cannot write in that time, as
// every write is fenced by the store; whoever sends after a pause asks Leases.Holds first.
//
// The package does not claim, run or settle anything.
package lease
