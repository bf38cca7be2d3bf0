package adaptertest

import (
	"testing"
	"testing/synctest"

	"bellhop/adapters"
)

// Harness is one account on a platform's fake, and the people around it.
type Harness interface {
	// Open returns a new adapter of the account, as after a restart of the process.
	Open() (adapters.Adapter, error)
	// Caps names the capabilities the adapter has.
	Caps() Caps
	// DM, Group and Topic are places where people write. Topic has an empty Thread where the platform knows none.
	DM() adapters.Target
	Group() adapters.Target
	Topic() adapters.Target
	// Bot is the bot's own handle as people write it to address it, such as "@bell_bot".
	Bot() string
	// Deliver lets a person do something, and returns the id of the message it is about.
	Deliver(Act) string
	// Unacknowledged is how many of the people's acts the platform would deliver again.
	Unacknowledged() int
	// Visible is what a person sees of the bot's messages now, in order.
	Visible(adapters.Target) []Seen
	// Typing reports whether the bot is shown typing.
	Typing(adapters.Target) bool
	// Toasts are the short texts that presses were answered with.
	Toasts(adapters.Target) []string
	// FailNext makes the next outgoing call fail.
	FailNext(Failure)
	// Cut breaks the receiving connection once.
	Cut()
	// Revoke makes the credentials worthless. Block makes the DM's person unreachable.
	Revoke()
	Block()
	// Secrets are the strings that no error may hold.
	Secrets() []string
}

// Caps tells which optional interfaces an adapter satisfies.
type Caps struct {
	Edit, Delete, Typing, React, Upload, Fetch, Press, Menu, Mount, Probe, Draft, Trace bool
	// Threads, Replies and Buttons are what Send can show.
	Threads, Replies, Buttons bool
}

// Act is what a person does.
type Act struct {
	Kind    adapters.InboundKind
	In      adapters.Target
	Text    string
	ReplyTo string
	Message string // of an edit or a press
	Data    string // of a press
	File    []byte // sent as a document
	Bot     bool   // by another bot
}

// Seen is one of the bot's messages as a person sees it.
type Seen struct {
	ID      string
	Text    string // as shown: no markup
	Edits   int
	Buttons []string // data, row by row
	ReplyTo string
	Thread  string
	File    string // kind
	React   string
}

// Failure is how a call fails.
type Failure string

const (
	FailLimited Failure = "limited" // refused for 7 seconds
	FailServer  Failure = "server"  // the platform's own fault, nothing done
	FailDrop    Failure = "drop"    // the connection breaks, nothing done
	FailLost    Failure = "lost"    // done, but the answer never comes
	FailMarkup  Failure = "markup"  // the markup is refused
	FailForeign Failure = "foreign" // an answer that is not the platform's
)

// Run holds an adapter against every subject. open returns a fresh harness; it is called inside the subject's bubble.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	for _, s := range []struct {
		name string
		run  func(*rig)
	}{
		{"receive", receive}, {"acknowledge", acknowledge}, {"restart", restart}, {"busy", busy}, {"address", address},
		{"commands", commands}, {"edits", edits}, {"bots", bots}, {"connection", connection}, {"revoked", revoked},
		{"lifetime", lifetime}, {"send", send}, {"limits", limits}, {"edit", edit}, {"remove", remove}, {"typing", typing},
		{"presses", presses}, {"files", files}, {"menu", menu}, {"reactions", reactions}, {"drafts", drafts}, {"trace", trace},
		{"probe", probe}, {"failures", failures}, {"capabilities", capabilities},
	} {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { s.run(newRig(t, open(t))) })
		})
	}
}
