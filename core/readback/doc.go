// Package readback decides what becomes of a turn whose process died or vanished. Unknown is not "not executed": first the
// evidence is read back, then one transaction settles the row and records why.
//
//	unknown --> evidence: rows, ledger of calls, deliveries
//	   | 1 final answer stored ------------------------> completed; the answer is owed
//	   | 2 no call recorded ---------------------------> retried: a new row, ahead of later ones, once
//	   | 3 each call has its result, or never started -> retried, goes on from the stored transcript
//	   | 4 calls without result, all may be repeated --> retried, repeats exactly those
//	   | 5 a call without result that has effects -----> stays unknown, the author is told once
//	            | done, retry or drop (button, command) --> settled as they say
//	            | the author writes again after the notice --> interrupted, uncertain; the queue moves
//	            | an internal event has waited long enough --> the same
//
// A turn that somebody asked to stop before its process died does not go on: what would be retried is settled interrupted.
//
// A call that was recorded or asked about but not started had no effect. ReadOnly calls are never started, so they count
// the same. A call whose effect nobody declared counts as Once.
//
// A row that goes on from an earlier one (RetryOf) is judged by the evidence of the whole chain: what an earlier row
// started may still be open. A chain that grows without end, because the input itself kills the process, is cut.
//
// Invariants. Reading back writes nothing to the transcript; synthetic results are written only by the transaction that
// settles the row. Nothing is settled as completed without proof, except by a person who says so. The caller holds the
// conversation's lease, so no two readers judge one row at the same time.
//
// The package claims and runs nothing; the caller wakes the queue afterwards.
package readback
