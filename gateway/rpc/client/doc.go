// Package client is the Go client of gateway/rpc, and the terminal chat on it.
//
//	Open(dial) -> Client;  Run dials, reads, and dials again when the connection breaks
//	Call asks; Events tells, each event of a session once and in order, also across a reconnect
//
//	             dial              first message            cut
//	  offline ---------> greeting -----------------> online ------> offline (back-off, then the next dial)
//
// Chat tells what is wrong with the way to the gateway at once, and goes on trying (reach.go). When a turn begins once more
// after a crash, what it says as before is not written again (paint.go).
//
// After a reconnect the client asks, for every session it has heard of, what happened since the last number it saw, and
// hands that on before anything newer. A call that was under way when the connection broke ends with ErrCut: whether it took
// effect is not known. prompt.submit with a request id may simply be repeated.
//
// Chat is one conversation in a terminal: it streams the answer, asks for approvals there, and settles what it began.
package client
