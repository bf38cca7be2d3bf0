// Package tool is the contract with a tool, the set of tools a gateway has, and the runner of a batch of calls. One folder
// below per tool family.
//
//	recorded --(approval?)--> asked --> started (committed) --> Call --> done (result committed)
//
// A tool declares its Effect, which drives what happens to a call whose process died; its risk for given arguments,
// which decides whether a person is asked; and whether it may run beside others. It never retries, asks or stores by
// itself: what it needs of the world comes through Env.
//
// The runner begins calls in order, at most eight beside one another, and tells their ends in order, whichever came back
// first. A call ends in one of four ways:
//
//	ran       it came back, with a result, an error or a panic: the last two are failed results
//	cut       its context ended, or its time; it came back then
//	lost      it did not come back within the grace: it is left behind, and what it returns later goes nowhere
//	skipped   the context had ended before it began
//
// A result of any length costs bounded memory: what the model cannot read goes to a file (Spool, Clip), head and tail stay,
// cut between characters, with the true numbers beside them.
//
// The package does not store, ask, or decide what runs beside what: core/turn does.
package tool
