// Package gateway lets people in: what an adapter received becomes admissions, and commands are answered.
//
//	adapter --> Inbox.Receive(batch)
//	              |  each input --> own, service, allowed, press, amend, command, addressed, rate, busy   (one list, gateway.go)
//	              |                   Pass: next guard   Drop: nothing is stored   Done: Entry and what follows the commit
//	              v
//	            stops of what runs: all of them, at once, before anything is stored
//	              v
//	            Desk.Admit: one commit for all entries                           error: nothing is acknowledged
//	              v
//	            fresh rows meet what runs, conversations are woken; commands run and presses are resolved, beside each other
//	              v
//	            the cursor, in the commit of the entries where none of them acts --> receipts --> the adapter acknowledges
//
// Invariants. Receive never waits for a turn, so a stop or an approval always gets through. Guards write nothing but what
// can be repeated (a chat's new id); everything else happens after the commit, once: a command is a row born terminal. The
// one exception is what only stops a turn (/stop, its button, the platform's own control): it is carried out as soon as the
// guards have let it pass, because a person who stops something counts milliseconds. What it has stopped is remembered until
// it is stored, and its row names it: a stop whose commit fails is not carried out again when it is delivered again.
//
// A command is about what came before it. What follows it in its chat is admitted once it has run, in a commit of its own
// (what follows /new belongs to the new conversation); what comes from other chats is not held up, except by commands for
// admins, which may change who is let in. /queue TEXT and /steer TEXT are ordinary rows from the start, so their text cannot
// be lost between two commits.
//
// No command is lost. The cursor moves after the commands of a batch have run and their answers are stored, so a process
// that dies in between gets them again. What is stored already and has an answer is then a duplicate. A command without one
// is carried out again, and means what was there when it was stored: a bare /approve or /deny no question that was asked
// since, /stop no turn that was claimed since, /stop all and /new no message that waits since, /resolve no turn that was
// claimed since. So repeating it changes nothing, or leaves an empty conversation behind (/new). Only /queue rm and /queue
// edit, which name a row by its place, say instead that they may have been done. A press is repeated, too: it names what it
// is about. Where a platform delivers again without a cursor the same holds. What was stopped stays so: read-back finds the
// row of a stop whose turn did not live to obey it (command.Stopped).
//
// A panic is an error of the one input that caused it: its person is told, the rest of the batch and the cursor go on.
//
// arrival.go is the one translation between the words of adapters and of core. Who may talk: people named in the
// configuration, stored grants, everybody when access.default is allow. Strangers get one line with a pairing code, ever.
// Until there is an owner, a code that serve prints makes whoever sends it one.
//
// The package does not merge, dedupe or hold (the store does, in the admission's transaction), does not send (deliver
// does), knows no platform, and leaves no goroutine behind. What it keeps in memory is bounded and may be lost.
package gateway
