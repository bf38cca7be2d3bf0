// Package session knows which conversations are live in this process: what their turns do now, how to interrupt them and
// what was offered to steer them. It is memory only; everything that must survive is a row.
//
//	Begin --> waiting --Claim--> claiming --Turn--> running --Close--> closing --Rest--> waiting ... --> End
//	             |                  |                  |                  |
//	   a stop ends the wait;    kept for the      ends the turn's     no effect: the
//	   newer input does not     turn              context             turn is over
//
// Invariants: at most one Live per conversation; the first interrupt of a turn wins and is the cause of its context; an
// interrupt that came while nothing ran is spent by that drain and never outlives it; what was offered to steer and was not
// taken stays a queued row, whose Late is called when the turn is settled, and is forgotten here. A stop of one row
// (Forestall) spares all others. Memory is bounded by live conversations times MaxSteered.
//
// Where several nodes serve one store, Reach is the registry of what runs here and, by notes, a hand that reaches the rest.
//
// It starts no goroutines, and knows neither the store nor who may do what: callers have checked that.
package session
