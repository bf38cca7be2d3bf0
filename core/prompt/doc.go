// Package prompt decides what a model sees: the system prompt of a session and the wire copy of its transcript.
//
//	Builder.System   stable    identity, conduct, workspace, surface     } once per session; the caller stores the text
//	                 context   the caller's own, project files           } and replays it byte for byte
//	                 volatile  language, notes, the date                 }
//
//	rows --Wire--> drop superseded and empty rows
//	               api content before content, text repaired
//	               every call gets exactly one result, right behind it, in call order
//	               results without a call go
//	               names, ids, arguments in a form that every endpoint takes
//	               (Alternate) neighbours of one role merge
//
// Invariants. For the same Input and the same files System returns the same bytes; of time it knows only the date. Wire is
// pure: it reads rows and returns a request that every provider accepts whatever the rows are (a crash between a call and
// its result, a trimmed head, two writers' leftovers); it never writes back, and what it fills in is for the model's eyes
// only. What a person wrote is never cut in the middle of a character.
//
// A result that lost its call is removed, not turned into text: whoever shortened the history has kept what mattered of it
// in a summary.
//
// What it does not do: decide what fits (core/turn with core/compact), read or write transcripts, know any platform.
package prompt
