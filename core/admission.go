package core

import (
	"context"
	"time"
)

// Admission is one accepted input: the receipt that everything else refers to.
type Admission struct {
	ID           AdmissionID
	Conversation ConversationID
	Seq          int64 // order within the store; FIFO per conversation
	Status       Status
	By           PrincipalID
	Caps         Capability // what By could do when it was admitted
	Admin        bool
	Submission   Submission
	Outcome      Outcome // of a terminal row
	Turn         TurnID  // of the claim
	Generation   int64   // of the claim
	RetryOf      AdmissionID
	HoldUntil    time.Time // not claimable before; zero: at once
	Created      time.Time
	Claimed      time.Time
	Settled      time.Time
	// Resume is set on a row that goes on from a stored transcript instead of starting with its own user message.
	Resume bool
}

// Principal rebuilds who admitted the row, with the rights they had then.
func (a Admission) Principal() Principal {
	return Principal{ID: a.By, Name: a.Submission.Author, Caps: a.Caps, Admin: a.Admin, Lang: a.Submission.Lang}
}

// Entry is one input on its way in.
type Entry struct {
	By         Principal
	Submission Submission
	Digest     [32]byte

	// Terminal makes the row be born settled: a command, a press, a refusal that must not run twice. nil: queued.
	Terminal *Outcome
	// Strict makes another digest under the same request id a Conflict (programs); otherwise the stored receipt comes
	// back as a duplicate (platforms deliver one message in several shapes).
	Strict bool
	// WhenIdle refuses with Busy, without a row, when anything of the conversation is queued, started or unknown. It is
	// decided after the dedupe, inside the transaction.
	WhenIdle bool
	// Cap refuses with Full when so many rows of the conversation are queued already; 0: no cap.
	Cap int
	// Hold keeps the row from being claimed for so long: the rest of a paste or an album may still come.
	Hold time.Duration
	// Amend is set for an edit of an earlier message: Submission.RequestID names it, and a row that is still queued takes
	// the new text. Nothing else happens; Delete cancels such a row instead.
	Amend, Delete bool
	// Raw is an update that could not be decoded; it is kept for inspection and nothing runs.
	Raw []byte
}

// Intake is a batch that becomes durable in one commit, together with the cursor that must not move before it.
type Intake struct {
	Entries []Entry
	Cursor  *Cursor
}

// Admitted is what became of one Entry.
type Admitted struct {
	Admission Admission
	Fresh     bool   // false: a duplicate, Admission is the stored receipt
	Ahead     int    // rows of the conversation that run or wait before this one
	Merged    bool   // the input joined a row that still waits; Admission is that row
	Amended   bool   // an edit or a deletion took effect on a queued row
	Err       error  // Conflict, Busy, Full, NotFound (nothing to amend); nil: accepted
	Into      string // for logs: what the decision was
}

// Resolution settles an unknown row. Exactly one of the three ways applies.
type Resolution struct {
	Outcome Outcome   // how the unknown row ends
	Retry   bool      // admit a new row retry_of it, ahead of later rows, once
	Resume  bool      // the new row goes on from the stored transcript (cases 3 and 4)
	Tail    []Message // synthetic results and closing rows, written in the same transaction
	Deliver *Delivery // what the person is told or owed, written in the same transaction
	By      PrincipalID
	Why     string // evidence, recorded
	// States moves recorded calls in the same transaction, for example started to done with a synthetic result.
	Calls []Call
}

// Admissions is the durable queue. Only Settle, Resolve and Cancel end a row; each does so exactly once.
type Admissions interface {
	// Admit makes a whole batch durable in one synced commit. The result has one Admitted per Entry, in order. The error
	// is of the transaction: nothing was accepted, the cursor stands where it was (Unavailable, NoSpace, Corrupt).
	Admit(ctx context.Context, in Intake) ([]Admitted, error)
	// ClaimNext starts the oldest claimable row, and stores in the same transaction what open wants stored with it: the
	// beginning of a turn is one write. open may be nil; it is called inside the transaction, so it must be quick and must
	// not use the store. NotFound: the queue is empty. Busy: the head is started, unknown or held; the error is a *Wait
	// when it says until when. Stale: the fence was superseded.
	ClaimNext(ctx context.Context, f Fence, open func(Admission) Opening) (Claim, error)
	// Start acquires the lease of c as Leases.Acquire does, and claims the head as ClaimNext does when it may start, in one
	// write. The claim is nil when there is nothing to claim now; ClaimNext says why.
	Start(ctx context.Context, c ConversationID, t TurnID, h Holder, ttl time.Duration, alive func(Holder) bool,
		open func(Admission) Opening) (Lease, *Claim, error)
	// Settle ends a started row: outcome, transcript tail, event rows and deliveries in one synced commit, and releases
	// the lease. more reports whether rows are still queued. Stale: the fence was superseded, nothing was written.
	Settle(ctx context.Context, f Fence, id AdmissionID, s Settlement) (more bool, err error)
	// Orphan turns into unknown every started row whose lease is expired, or whose holder alive reports dead, and frees
	// the lease.
	Orphan(ctx context.Context, alive func(Holder) bool) ([]Admission, error)
	// Resolve ends an unknown row. Conflict: it is not unknown any more. The new row of a retry comes back, if any.
	Resolve(ctx context.Context, id AdmissionID, r Resolution) (*Admission, error)
	// Cancel ends queued rows with an outcome: those named, or with none named all of the conversation. It returns the
	// rows it ended; rows that are no longer queued are left alone.
	Cancel(ctx context.Context, c ConversationID, o Outcome, ids ...AdmissionID) ([]Admission, error)
	// Amend replaces the text of a queued row. Conflict: it is no longer queued.
	Amend(ctx context.Context, id AdmissionID, text string) error
	// Move puts a queued row at place (0 is the head) among the queued rows of its conversation.
	Move(ctx context.Context, id AdmissionID, place int) error
	// Unhold ends a hold, so that the row can be claimed now.
	Unhold(ctx context.Context, id AdmissionID) error

	Admission(ctx context.Context, id AdmissionID) (Admission, error)
	// AdmissionOf finds the row a turn claimed. NotFound.
	AdmissionOf(ctx context.Context, t TurnID) (Admission, error)
	// Unsettled lists rows that are not terminal, oldest first: of one conversation, or of all when c is empty.
	Unsettled(ctx context.Context, c ConversationID) ([]Admission, error)
	// Recent lists the newest rows first, terminal ones too: of one conversation, or of all when c is empty.
	Recent(ctx context.Context, c ConversationID, limit int) ([]Admission, error)
	// Pending lists conversations that have queued or unknown rows, with the time the earliest may be claimed.
	Pending(ctx context.Context) ([]Pending, error)
	// Census counts rows by status and, for terminal ones, by result: the conservation invariant.
	Census(ctx context.Context) (Census, error)
	// Retention deletes the payload of terminal rows settled before t; receipts stay. It returns how many it trimmed.
	Retention(ctx context.Context, before time.Time) (int, error)
}

// Claim is a started row and what its turn needs to begin.
type Claim struct {
	Admission    Admission
	Conversation Conversation
	Session      SessionID // newest segment, whose row may not exist yet
	Opened       *Session  // that row; nil: this turn is the first in it
	Events       int64     // first number of the block of EventBlock numbers reserved for this turn
	Queued       int       // rows that wait behind it
	Heard        []Message // of the Opening, as they are stored
	News         []Event   // of the Opening, as they are stored, with the first numbers of the block
	// Preview are the platform's message ids that a retried turn left behind: the new turn adopts and finishes them.
	Preview *Delivery
}

// Opening is what is stored together with a claim: the input as a message, and the first, durable news of the turn.
type Opening struct {
	Messages []Message
	Events   []EventBody
}

// EventBlock is how many event numbers a claim reserves at once.
const EventBlock = 1000

// Settlement is everything that becomes true when a turn ends.
type Settlement struct {
	Outcome    Outcome
	Tail       []Message
	Events     []Event
	Deliveries []Delivery
}

// Pending is a conversation with work.
type Pending struct {
	Conversation ConversationID
	At           time.Time
	Unknown      bool
}

// Census counts admissions. Accepted must equal the sum of the others.
type Census struct {
	Accepted, Queued, Started, Unknown, Terminal int64
	Results                                      map[Result]int64
	OldestQueued                                 time.Time
}

// Balanced reports whether every accepted row is accounted for.
func (c Census) Balanced() bool { return c.Accepted == c.Queued+c.Started+c.Unknown+c.Terminal }

// Wait is the cause inside a Busy error that knows when to ask again.
type Wait struct{ Until time.Time }

func (w *Wait) Error() string { return "held until " + w.Until.Format(time.RFC3339Nano) }
