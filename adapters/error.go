package adapters

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind classifies what a platform answered; deliver decides by it.
type ErrorKind string

const (
	Unchanged   ErrorKind = "unchanged"   // an edit that changes nothing: success
	Markup      ErrorKind = "markup"      // the markup was refused: send it plain
	TooLong     ErrorKind = "too long"    // split again
	Empty       ErrorKind = "empty"       // nothing visible to show
	Gone        ErrorKind = "gone"        // the message to edit or delete is not there
	NoThread    ErrorKind = "no thread"   // the topic is not there: once without it
	NoTarget    ErrorKind = "no target"   // blocked, kicked, deleted, never started: permanent
	Moved       ErrorKind = "moved"       // the chat has a new id: MovedTo
	Limited     ErrorKind = "limited"     // wait RetryAfter
	Unsupported ErrorKind = "unsupported" // this peer or account cannot do that: fall back
	Auth        ErrorKind = "auth"        // the credentials are no good: stop
	Conflict    ErrorKind = "conflict"    // another instance receives for this account
	Misuse      ErrorKind = "misuse"      // the request makes no sense: a fault of ours, or of the configuration
	Temporary   ErrorKind = "temporary"   // try again; nothing took effect
	Ambiguous   ErrorKind = "ambiguous"   // no answer came: it may or may not have taken effect
)

// Error is what a platform call failed with. Text is the platform's own description, without secrets.
type Error struct {
	Kind       ErrorKind
	Method     string // the platform's name of the call
	Code       int    // the platform's code, 0 when no answer came
	Text       string
	RetryAfter time.Duration
	MovedTo    string
	Err        error
}

func (e *Error) Error() string {
	s := e.Method + ": " + string(e.Kind)
	if e.Code != 0 {
		s += fmt.Sprintf(" (%d)", e.Code)
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain. An error without one is Ambiguous: nobody knows.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Ambiguous
}
