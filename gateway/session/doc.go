// Package session knows which conversations are live in this process: what their turns do now, how to interrupt them and
// what was offered to steer them. It is memory only; everything that must survive is a row.
//
//	Begin --> waiting --Turn--> running --Close--> closing --Wait--> waiting ... --> End
//	             |                 |                  |
//	   Interrupt: hits the   ends the turn's     no effect, the
//	   next claim of this    context with the    turn is over
//	   drain                 interrupt as cause
//
// Invariants: at most one Live per conversation; the first interrupt of a turn wins; an interrupt that came while nothing
// ran is spent by the next claim of the same drain and never outlives the drain; what was offered to steer and was not
// taken stays a queued row and is forgotten here. Memory is bounded by live conversations times MaxSteered.
//
// It starts no goroutines, and knows neither the store nor who may do what: callers have checked that.
package session
