// Package store keeps core's contracts on SQL through sqlx: SQLite now, and above dialect.go nothing that PostgreSQL
// does not know.
//
//	callers ---> queue ---> committer (one at a time, one connection)      readers (a few connections, read only)
//	  ^                        |  BEGIN, each in turn, COMMIT                       ^
//	  +------- answer ---------+                                                   +--- lists, look-ups
//
// Group commit. Every write is an operation of the committer. A caller that finds nobody committing does it itself, with
// whatever queues meanwhile, which saves two changes of goroutine; otherwise the committer's goroutine does. It takes what
// has queued, without waiting for more, runs it in one transaction and answers after the commit. When an operation fails
// that has written, the batch is undone and runs once more with a savepoint around each, which keeps the error of one from
// the others; a fault of the database (no space, damage, I/O) fails the whole batch, of which nothing is stored. A caller
// whose context ends before its operation began gives it up; one that has begun is waited for.
//
// Durability. A commit is synced when one of its operations asks for it, and then everything before it is on the disk
// too. What is not synced survives the death of the process, but perhaps not a power cut:
//
//	synced                                                    not synced
//	Admit, Settle, Resolve, Cancel, Amend, Move               Acquire, Start, Renew, Release, ClaimNext, Orphan, Unhold
//	Append with Sync                                          Append without, OpenSession
//	Put of deliveries that are not live                       Put of live ones, Save, Due
//	Answer                                                    Put, Expire, Drop of questions
//	Bind, Rekey, Edit, DeleteConversation, grants, facts      Record, Reserve, clean-ups, Check
//
// Order. Admission.Seq orders a conversation's queue. A retry inherits the number of the row it retries, so it runs before
// everything later; Move lets waiting rows exchange their numbers. Only the head is ever claimed.
//
// Dedupe. Each accepted input has a row in requests, named by (principal, source, request id). Inserting it is the
// dedupe. A part that joined a waiting row keeps its name there as an alias of that row, together with what it added.
//
// Fences. Append, OpenSession and ClaimNext need the lease to be the fence's and not expired. Settle and Release need only
// that nobody else took it. The clock is the process's: SQLite serves one host.
//
// Conservation. What was accepted and what ended are counters that move in the transactions that accept and end; open
// rows are counted. Census compares the two at any size, Recount reads every row.
//
// Memory. The transcripts of the conversations that were active last are kept, each at a version of its history, which every
// change of a transcript raises. A commit of this process extends what is kept; a version that does not follow is another
// process's work, and what was kept of it is forgotten. Recall answers from it, Load reads.
//
// Faults. NoSpace refuses and recovers by itself. After the first sign of damage nothing is written any more, no
// checkpoint runs, and the files stay as they are, also when the store is closed.
//
// Lifetime. The committer is the one goroutine here that its starter does not wait for: Open starts it and Close, which
// waits for all accepted writes, joins it. An open store without it could not answer.
//
// The package does not decide what a message means, retries nothing but another process's lock, and publishes nothing.
package store
