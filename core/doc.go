// Package core holds the nouns of bellhop and the contracts of what stores them.
//
// One sentence runs through everything: a turn is reliable because of four orderings. The input is durable before
// anything runs; the right to run is leased before anything executes; a tool call is recorded before it has an effect;
// the turn is closed before it is over.
//
//	           Submit                 Acquire + ClaimNext            Settle
//	Submission ------> queued ------------------------> started ------------> terminal (Outcome)
//	                     |  cancel, reject                 |  holder gone        ^
//	                     +---------------> terminal        +-----> unknown ------+ Resolve
//
// Never back to queued. A terminal receipt is read-only. A safe retry is a new row that names the old one (RetryOf).
//
// A Principal is made only by a front door. A Submission is data. Admitting makes it durable. A Fence (from a lease) is
// the only thing that lets anyone write to a conversation. An Outcome is how every turn ends. An Event is news:
// lifecycle, tool and question events are rows, deltas live in a bounded ring of the stream hub.
//
// Identity. A Key (telegram:123:t7) is a place where people talk; it points to a Conversation. A Conversation is stable:
// queue, lease, transcript and event numbers hang on it. Its id is also the id of its first Session. Sessions are
// segments of its transcript; compaction rotates them inside the conversation, chained by ParentID.
//
// The package imports the standard library only and does no I/O. Its types are plain values, safe to copy and to share
// once built. Every store contract is safe for concurrent use; each method is one transaction.
package core
