// Package rpc is the door for rich clients: the browser's page, the terminal client, and everything that talks JSON-RPC
// 2.0 over a WebSocket or a pipe. methods.go is the table of what can be called; each topic has a file.
//
//	client --- frame ---> reader -- quick --> method, in line -------+
//	                        |                                        v
//	                        +---- slow ----> pool of 4 --> method -> outbox --> writer --- frame ---> client
//	                                                                 ^
//	hub -- event --> watch (one per open session) -------------------+
//
// The outbox of one client holds replies and events. Replies go first and are few, because a client whose replies pile up
// is not read. Events have a bounded room; when it is full the session they belong to is paused for this client:
//
//	live --(no room)--> lagging: told once, status.update kind "lagged" --(session.events.since)--> live
//
// so one slow client costs a fixed amount of memory and nobody else anything.
//
// Promises to a client. The first message is gateway.ready. The reply to prompt.submit, session.resume or
// session.events.since comes before any event that the call caused, or that follows what it returned. Events of a session
// arrive in the order of their numbers, each once. approval.respond and session.interrupt never wait behind slow calls.
// A method that fails leaves the connection as it was. The text of an error is ours, never that of a cause.
//
// News that nobody can ask for again (without a number while the store is down, or the end of a turn whose number came after
// higher ones) is sent without a number, in every state, as long as there is room.
//
// Commands. A text that begins with a slash and a name is a command, also one that nobody knows: the table answers it, and
// the model never sees it. /queue TEXT and /steer TEXT are messages: one row, with the request id of the call.
//
// Authority. A connection acts for one core.Principal, made by Auth from what the machine itself can verify. Every
// method finds its session through one function, conversation, which checks ownership there; the packages behind check
// once more. Somebody else's session is "no such session".
//
// Not here: what a method means (admission, ask, session and command know), numbering and storing events (stream), the
// page (gateway/web), the composition (cmd).
package rpc
