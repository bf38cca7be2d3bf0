package core

// Capability is one right of a principal.
type Capability uint8

const (
	CanRead    Capability = 1 << iota // see a conversation
	CanSubmit                         // add input to it
	CanControl                        // stop, steer, reorder, settle unknown turns of others
	CanApprove                        // answer approvals
	CanRespond                        // answer other questions
	CanOperate                        // administer the gateway: pair, allow, restart
)

// PrincipalID names a person or a program: platform:user (telegram:111), local (the machine's own user), api:NAME,
// internal:PRODUCER.
type PrincipalID string

// Principal is who acts. Only a front door makes one, from what it has verified itself; nothing a client sends can add a
// right. The zero value may do nothing.
type Principal struct {
	ID    PrincipalID
	Name  string // as people call them; for display only
	Caps  Capability
	Admin bool // may use admin commands and risky tools
	Lang  string
}

// Can reports whether p has every capability in c.
func (p Principal) Can(c Capability) bool { return p.Caps&c == c }
