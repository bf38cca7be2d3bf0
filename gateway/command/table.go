package command

import (
	"context"
	"time"

	"bellhop/core"
)

// Call is one command as it was given.
type Call struct {
	By           core.Principal
	Key          core.Key
	Conversation core.Conversation // the zero value: nobody spoke there yet
	Name, Args   string
	Route        core.Route
	Group        bool
	Rich         bool // the door shows more than text
	Submission   core.Submission
}

// Answer is what a command says. Submit, when set, becomes a turn.
type Answer struct {
	Text    string // Markdown
	Buttons []core.Button
	Private bool // for the caller's eyes only, where the platform can
	Submit  *core.Submission
}

// Command is one row of the table.
type Command struct {
	Name   string
	Args   string // as shown in the help: "[text]"
	About  string // one line
	Admin  bool   // admins only
	Inline bool   // runs while a turn runs
	Later  bool   // belongs to a later version: says so, and is in no menu
	run    func(ctx context.Context, t *Table, c Call) (Answer, error)
}

// MenuItem is one line of a platform's command menu.
type MenuItem struct {
	Name, About string
	Admin       bool
}

// Desk changes rows that wait.
type Desk interface {
	Cancel(ctx context.Context, by core.Principal, c core.ConversationID, o core.Outcome, ids ...core.AdmissionID) ([]core.Admission, error)
	Edit(ctx context.Context, by core.Principal, id core.AdmissionID, text string) error
	SendNow(ctx context.Context, by core.Principal, id core.AdmissionID) error
}

// Deps is what the commands work on.
type Deps struct {
	Version string
	Now     func() time.Time
}

// Table is the registry.
type Table struct {
	deps Deps
}

// New makes the table.
func New(d Deps) *Table { return &Table{deps: d} }

// Find returns a command by its name without the slash.
func (t *Table) Find(name string) (Command, bool) { return Command{}, false }

// Run runs one command.
func (t *Table) Run(ctx context.Context, c Call) (Answer, error) { return Answer{}, nil }

// Press does what a button stands for and returns the toast.
func (t *Table) Press(ctx context.Context, c Call, data string) (string, error) { return "", nil }

// Menu lists the commands for a platform's menu.
func (t *Table) Menu(lang string) []MenuItem { return nil }
