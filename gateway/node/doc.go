// Package node is this process among those that serve the same store: it says that it lives, knows who else does, keeps the
// platform connections of which there may be only one, and carries notes between the nodes.
//
//	Join ---> beat every TTL/3 ---> Leave            Keep(seat): wait ---> sit ---> run ---> rise
//	             |                                                  ^                 |
//	             | no beat for 2/3 TTL: deaf                        +---- lost -------+
//	             v
//	          Lost: what runs here may be running elsewhere by the time TTL is over, so it stops before
//
// Who is gone. A holder is gone when its process provably is (same host), or when its node is known and its time has run out
// by the store's clock, or it said good-bye. A node that nobody knows counts as alive: its leases run out by themselves. A
// judgement that is a beat old can be wrong about a node that was only paused; fences make that harmless.
//
// Seats. Everything that receives is run by Keep, under a seat named after the adapter. The seat is renewed with the beats;
// what runs under it is told to end before another node may sit down, and the cursor it moves is fenced by the seat besides.
// With one node a seat is always free.
//
// Notes may be lost. Whoever gets one only looks sooner at what it looks at anyway; after a gap all is looked at.
//
// It does not decide what a note means: the owner of Config.Heard does. It starts no goroutine that Run does not wait for.
package node
