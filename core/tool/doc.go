// Package tool is the contract with a tool and the runner of a batch of calls. One folder below per tool family.
//
//	recorded --(approval?)--> asked --> started (committed) --> Call --> done (result committed)
//
// A tool declares its Effect, which drives what happens to a call whose process died; its risk for given arguments,
// which decides whether a person is asked; and whether it may run beside others. It never retries, asks or stores by
// itself: what it needs of the world comes through Env.
package tool
