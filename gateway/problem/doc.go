// Package problem is the one register of what is wrong right now. Whoever notices raises a problem under a stable id and
// clears it when it is over; readiness, metrics and the log read the same rows.
//
//	absent --Raise--> open --Raise (again)--> open, count and text renewed --Clear--> absent
//
// It holds at most Max problems, in memory: a problem that outlives the process is raised again by whoever sees it. It
// decides nothing and tells nobody by itself; a Listener hears of each opening and ending.
package problem
