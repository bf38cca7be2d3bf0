// Package stream carries the news of turns to those who watch.
//
//	turn --emit--> Hub --On--> Consumer --> Surface (one chat)
//	                |---On--> Subscription --> one reader (RPC, API, page)
//	                |------> recorder --> core.Events
//	                '--ring + rows--> Since, Follow (after a reconnect)
//
// # Hub
//
// A conversation's numbers rise for ever; they come from the block that a claim reserved (Open), else from one that the
// hub reserves. An event gets its number and its place in the queue in one step. It is told to all listeners in number
// order; whoever publishes while another goroutine tells leaves the work to it, so no lock is held during On, and On may
// publish. A number given out by Number holds higher ones back until its event is published or dropped, so that a reader
// that asks for news after N never misses a lower one.
//
// Memory is bounded: a ring per conversation, which loses its deltas when the turn is complete, a number of idle
// conversations, a number of rows that wait for the store. Text whose deltas fell out of the ring is replayed as one
// message.reset with all of it. Durable events are rows; the others are gone after a restart, which message.complete
// makes good.
//
// # Consumer
//
//	        On                   End                    Finish
//	live ---------> live   live -----> ended    * ----------------> finishing (the answer stands)
//	paints: first text at once,         paints all of it,   makes visible == final: edits, posts, deletes
//	then at the interval                once                only what differs
//	                     Abandon: from everywhere to over; nothing is sent any more
//
// Text between two tool boundaries is a block. A block that ended is painted for good, without cursor and Stop, before
// anything below it; so tool progress and later text stand below. A block is a row of messages: those that are full stand,
// the last one grows. What is shown is known by hash, so a call is made only when something changes, and one at a time.
// The status message of tools is one per turn, and goes at the end.
//
// Invariants. No message is blank or too long by the Surface's measure. The cursor is never in a message that stands. The
// order of messages is the order of the text, also after messages vanished or could not be edited. After Finish without
// error the messages of the answer are exactly Split(final).
//
// # Drafts
//
// Where the Surface is a Drafter, ModeDraft shows what is under way as a draft instead of a message; script, pace and Finish
// are the same, and only the last piece, the one that is not full, differs:
//
//	growing --frame: first at once, then at the interval, newest text--> draft --the same again after 20 s--> draft
//	draft --its piece is full, or a tool begins--> message, for good; what follows is the next draft
//	draft --End, no Finish within 0.1 s--> draft of all the text
//	draft --Finish--> one message          draft --ErrNoDraft, or a failure for good--> a message that grows, as in ModeEdit
//
// A draft fades by itself and cannot be adopted, edited or deleted. So it is never what stands: text that ended at a tool
// is posted at once, and is owed (Owes) until then. The end of a text is drawn late on purpose. A commit takes milliseconds,
// and the message behind it may not overtake a draft that is on its way, or the draft would come back below it; so a draft
// at once would show the last words no sooner and the message a round trip later. Only a commit that hangs is worth one.
// A draft has no cursor, because platforms show that it grows, and has its Stop from the first frame, because a draft's
// costs no call to take away. Before the first text there is none: that is what typing is for. Where a message is there
// already, adopted from an earlier attempt or left by a retraction, it is edited.
//
// # Split
//
// Split cuts Markdown greedily from the left. A cut depends on the text before it and on no more than the block it is in,
// so pieces that were cut off once stay as they are when the text grows.
//
// The package does not render (package markup and the adapters do), does not retry or pace calls (the Surface does), does
// not store deliveries, and knows no platform. It imports core, and of package markup what knows the syntax of Markdown:
// the scanner for fences and spans, and Live, which closes what a growing text leaves open.
package stream
