// Package deliver is the gateway's only mouth: everything said on a platform is said here, and every outbound retry,
// fallback and wait is here.
//
//	turn --> Open --> View --stream.Consumer--> surface ---+
//	                   | Final: the row, born with Settle  |
//	                   | Settled: adopted, marked          v
//	Say, Resolution, other processes --> rows --> outbox --> writer --> channel: budget, one call --> adapter
//
//	row:   live --owner's time over--> owed --attempt--> sending --+--> delivered
//	        |  (a turn's message)        ^                 |       +--> dead    nobody is there, or nobody was for a day
//	        +--> moved                   +-----later-------+       (the parts say how far it came)
//
// The ledger. That a message is about to be made is stored before the call and its id after it, so whoever takes the row
// up knows: no part, never tried; a part with an id, edit it; a part without one, nobody knows. What nobody knows is
// repeated with a visible mark, because platforms cannot be asked; not before the platform answers anything again, and ever
// more seldom, so that there are as many copies as sends without an answer, and few whatever happens. A turn that ends before
// anything was shown is sent after its commit: the row is then born as being sent, so the commit is the record of the attempt
// too, and one mark follows. The price is that a process which dies exactly between commit and call repeats with the mark
// what never arrived.
//
// What was lost is looked for where an adapter is a Tracer and no other process speaks for its account:
//
//	lost --something newer is known--> found, edited into what it should be: no repeat
//	  |                            \--> nowhere
//	  +--some seconds without--> repeated, marked --the repeat is newer--> found, removed; the mark goes
//	                                                             \------> nowhere: both stay as they are
//
// Only an id below one that is known is a guess, because it is given to nobody any more; it is asked for again right before
// each edit, and removed only after an edit proved that it is ours. All messages that are being made or were lost are
// remembered by chat, whatever their thread, and also those without a row and files: while there is another, neither is
// looked for, because each could be taken for the other; the mark says so then. A lost message that nobody needs, such as a
// place in the queue, is removed in the same way after the next message there. This memory ends with the process.
//
// The live message has one row from its first preview to its end; a retried turn adopts its messages.
//
// Drafts. Where an adapter is a Drafter and the chat is no group, the modes draft and native show the growing answer without
// a message, and so without a row: nothing is stored before the commit, which then is the record of the only creation, and
// nothing is adopted after a crash. Every message has a draft id of its own. Where a platform counts drafts by
// themselves they have a budget of their own, else they are previews; a refusal stops both. A peer
// that has no drafts gets edits from that call on; text before a tool that never became a message goes out before the answer.
//
// The budget. Each chat and each bot has a token bucket for everything: sends, edits, drafts, deletions, typing. Who waits is
// served by priority (answers and questions, notices, previews, typing) and then by arrival; previews leave the last
// token to answers and are put off rather than waited for, so that the newest text is shown when there is one again. A
// refusal by the platform stops that chat, and only that, for as long as it says, and halves its rate for a minute.
// Waits of more than a few seconds are stored and end the attempt; nobody holds a lease meanwhile.
//
// Files follow the text. A caption that is too long for its file follows it as messages.
//
// Fallbacks, each once per attempt: no markup, another size, no topic, the chat's new id, no buttons, a new message for
// one that is gone or cannot be edited. What a peer cannot do is remembered for an hour. Temporary failures are tried
// again for a day, after seconds while the platform works. While it answers nothing, one probe asks for everybody.
//
// After an outage what is owed is due at once, and the budget spaces it; but only what failed proves that it works. Where
// messages were refused with an error of the server's that is a message that was made, whatever polls say. Where no call
// got any answer the first answer to anything makes one row due, once, and its success the others. An attempt before its
// time does not count among those of its row.
//
// Order per target is kept: one goroutine writes to a target at a time, and a view whose turn was settled is next. While an
// answer is owed, newer ones of its target stand behind it: their finals become rows, and their live messages are not made.
// It is owed from the first call of its end that does not work. A row that keeps failing for half a minute or more, at its own
// pauses, although messages of other chats are made, or nobody else's fail, is set aside: others pass it then, and it is
// nobody's debt while it is sent. While several chats fail and no message is made none is set aside for some minutes, since
// what passed it would fail too; after that the order is given up. A row belongs to its sender for longer than any call
// takes, and is not taken twice meanwhile.
//
// Questions become rows with buttons where they may be answered: in the chat of the turn if its author is an admin, else in
// the owner's chat. When they end anywhere, the card says who, what and when; the buttons go. Typing and the place in the
// queue are said in passing and have no rows; a process that dies leaves such a message behind. A turn without any news for
// half a minute says that it waits for the model, in the message that tells what tools do.
//
// Lifetimes: every goroutine is one of Run, which waits for them; a View paints in one of them. Memory is bounded: by the
// turns that run, by what the store hands out at once, and by tables that drop what is idle.
//
// The package does not decide what is said, does not cut or paint text (stream does), knows no platform, and opens no
// connection.
package deliver
