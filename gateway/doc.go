// Package gateway lets people in: what an adapter received becomes admissions, and commands are answered.
//
//	adapter --> Inbox.Receive(batch)
//	              |  each input --> own, service, allowed, press, amend, command, addressed, rate, busy   (one list, gateway.go)
//	              |                   Pass: next guard   Drop: nothing is stored   Done: Entry and what follows the commit
//	              v
//	            Desk.Admit: one commit for all entries, with the cursor         error: nothing happened, nothing is acknowledged
//	              v
//	            in batch order: commands run, presses are resolved, fresh rows meet what runs, conversations are woken
//	              v
//	            receipts --> the adapter acknowledges
//
// Invariants. Receive never waits for a turn, so a stop or an approval always gets through. Guards write nothing but what
// can be repeated (a chat's new id); everything else happens after the commit, and for a duplicate it does not happen
// again: a command is a row born terminal. A command that points the chat to another conversation (/new) cuts the batch,
// because what follows it belongs to the new one; the cursor then moves with the last piece. /queue TEXT and /steer TEXT
// are ordinary rows from the start, so their text cannot be lost between two commits. Other commands are not run again: a
// process that dies between the commit of a command and its run, which follows at once, leaves it undone and unanswered.
//
// arrival.go is the one translation between the words of adapters and of core. Who may talk: people named in the
// configuration, stored grants, everybody when access.default is allow. Strangers get one line with a pairing code, ever.
// Until there is an owner, a code that serve prints makes whoever sends it one.
//
// The package does not merge, dedupe or hold (the store does, in the admission's transaction), does not send (deliver
// does), knows no platform, and starts no goroutines. What it keeps in memory is bounded and may be lost.
package gateway
