package core

// Status is where an admission stands.
type Status string

const (
	Queued   Status = "queued"
	Started  Status = "started"
	Unknown  Status = "unknown" // its holder died or vanished; read back before anything else of the conversation runs
	Terminal Status = "terminal"
)

// Result is how a terminal admission ended.
type Result string

const (
	Completed   Result = "completed"
	Failed      Result = "failed"
	Interrupted Result = "interrupted"
	Cancelled   Result = "cancelled"
	Rejected    Result = "rejected"
)

// Reason says why, from one list.
type Reason string

const (
	ReasonAnswered    Reason = "answered"
	ReasonSilent      Reason = "silent" // a tool already said what there was to say
	ReasonCommand     Reason = "command"
	ReasonBudget      Reason = "budget spent"
	ReasonTime        Reason = "time spent"
	ReasonRetried     Reason = "retried" // a new row goes on from here
	ReasonLeaseLost   Reason = "lease lost"
	ReasonPersistence Reason = "persistence failed"
	ReasonProvider    Reason = "provider failed"
	ReasonOverflow    Reason = "context too long"
	ReasonStopped     Reason = "stopped"
	ReasonReplaced    Reason = "replaced" // interrupted by newer input
	ReasonLiveness    Reason = "no activity"
	ReasonPanic       Reason = "internal fault"
	ReasonGuard       Reason = "guard halt" // repeated itself without progress
	ReasonDeleted     Reason = "deleted by its author"
	ReasonMerged      Reason = "merged"
	ReasonSteered     Reason = "steered" // consumed by the running turn
	ReasonNew         Reason = "new session"
	ReasonWait        Reason = "waited too long"
	ReasonShutdown    Reason = "shut down"
	ReasonDone        Reason = "marked done"
	ReasonDropped     Reason = "dropped"
	ReasonMoved       Reason = "conversation went on"
	ReasonMedia       Reason = "attachment unavailable"
	ReasonRefused     Reason = "refused"
)

// Outcome is how a turn, or a row that never ran, ends. Text is the final answer or the notice that stands for it;
// Error is the cause for the owner's eyes, without secrets.
type Outcome struct {
	Result Result `json:"result"`
	Reason Reason `json:"reason"`
	Text   string `json:"text,omitempty"`
	Error  string `json:"error,omitempty"`
	Usage  Usage  `json:"usage,omitzero"`

	// Uncertain is set when effects may have happened that nobody saw end.
	Uncertain bool `json:"uncertain,omitempty"`
	// Ref is the short reference a person can quote; it is also in the log.
	Ref string `json:"ref,omitempty"`
}

// Usage counts what model calls cost.
type Usage struct {
	Calls      int     `json:"calls,omitempty"`
	Input      int     `json:"input,omitempty"`  // tokens sent, cache reads included
	Output     int     `json:"output,omitempty"` // tokens received, reasoning included
	CacheRead  int     `json:"cache_read,omitempty"`
	CacheWrite int     `json:"cache_write,omitempty"`
	Reasoning  int     `json:"reasoning,omitempty"`
	Cost       float64 `json:"cost,omitempty"` // US dollars, 0 unknown
	Estimated  bool    `json:"estimated,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Calls + v.Calls, u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead,
		u.CacheWrite + v.CacheWrite, u.Reasoning + v.Reasoning, u.Cost + v.Cost, u.Estimated || v.Estimated}
}
