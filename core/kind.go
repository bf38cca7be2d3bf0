package core

import (
	"errors"
	"fmt"
)

// Kind classifies an error for those who must decide what to do next or which words a person sees. The edge maps a Kind
// to words in one table; nothing else inspects error texts.
type Kind uint8

const (
	Internal    Kind = iota // a fault of ours; the default for errors without a Kind
	Invalid                 // the caller's input makes no sense
	NotFound                // no such thing, or an empty queue
	Conflict                // the same request id with another payload, or a transition that is not allowed
	Busy                    // something is running or unsettled; ask again later
	Full                    // a cap is reached
	Denied                  // the principal may not do this
	Stale                   // the fence was superseded: stop, write nothing, send nothing
	Unavailable             // a store, provider or platform cannot be reached now
	Timeout                 // a deadline of ours passed
	NoSpace                 // the disk is full: nothing was stored
	Corrupt                 // the store is damaged: stop writing, keep the files
	Locked                  // another process owns the data folder or the token
	Newer                   // the schema is newer than this program
)

var kindNames = [...]string{"internal", "invalid", "not found", "conflict", "busy", "full", "denied", "stale",
	"unavailable", "timeout", "no space", "corrupt", "locked", "newer"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Error is an error with a Kind. Op names what was attempted ("admit", "renew lease"); Text is for logs and never holds
// a secret; Err is the cause, if any.
type Error struct {
	Kind Kind
	Op   string
	Text string
	Err  error
}

func (e *Error) Error() string {
	s := e.Op
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Text == "" && e.Err == nil {
		s += ": " + e.Kind.String()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// E makes an *Error from what was attempted, its Kind and its cause, which may be nil.
func E(op string, k Kind, err error) error { return &Error{Kind: k, Op: op, Err: err} }

// Errorf makes an *Error whose text is formatted; %w is not supported, use E for a cause.
func Errorf(op string, k Kind, format string, args ...any) error {
	return &Error{Kind: k, Op: op, Text: fmt.Sprintf(format, args...)}
}

// KindOf returns the Kind of the first *Error in err's chain, Internal when there is none. KindOf(nil) is Internal too;
// ask only when err is not nil.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Is reports whether err is not nil and has Kind k.
func Is(err error, k Kind) bool { return err != nil && KindOf(err) == k }
