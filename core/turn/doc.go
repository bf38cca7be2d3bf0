// Package turn runs one turn: from a claimed input to an Outcome.
//
//	open --> { fit --> ask --> act } --> close
//	  |         |       |       |          ^
//	  +---------+-------+-------+----------+   every path leaves through close
//
//	open   prompt, session row, user message (or the stored transcript of a resumed row)
//	fit    the wire copy of the transcript, measured; what cannot fit is not sent
//	ask    one model call with its retries (the table is retry.go)
//	act    the calls of a reply: recorded, asked, started, done
//	close  final text, the tail that settles the transcript, words for a person
//
// Invariants.
//
//   - Run returns an Outcome for everything that can happen, a panic included. It never returns an error.
//   - A tool call is recorded before anything, and started is committed with a sync before a call that may have an effect
//     executes. A ReadOnly call is never started: losing it loses nothing, so it goes from recorded to done.
//   - A result is committed before its tool.complete is emitted and before the model sees it. A write that fails ends the
//     turn; nothing executes after it.
//   - Every recorded call has exactly one result when the turn is over: its own, or a synthetic one in the tail.
//   - Text that was shown stays: a retry that begins differently is announced by message.reset with the text that stands
//     now; an interrupted answer keeps what was shown, marked.
//   - All state of a turn lives in one value made by Run. Nothing of it reaches the next turn.
//
// A call's states in the ledger:
//
//	recorded --> asked --> started --> done
//	    |                     ^          ^
//	    +---------------------+          |    no question needed
//	    +--------------------------------+    ReadOnly, refused, skipped
//
// The package does not settle, does not publish, does not know a platform, and does not compact: a request that does not
// fit its model ends the turn with an explanation.
package turn
