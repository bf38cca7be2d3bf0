package adapters

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Adapter is one connection to one platform, with one account.
type Adapter interface {
	// Name is the platform's name, with "/account" where there are several: telegram, telegram/work.
	Name() string
	// Run connects and receives until ctx ends, which is not an error. It reconnects by itself with back-off and tells the
	// Inbox how it fares. It returns an *Error of Kind Auth or Misuse when going on makes no sense.
	Run(ctx context.Context, in Inbox) error
	// Send creates one message and returns its id. The text fits Limits by Size; the adapter renders its Markdown.
	Send(ctx context.Context, to Target, m Outgoing) (Ref, error)
	// Limits are the platform's numbers.
	Limits() Limits
	// Size measures rendered Markdown in the platform's unit.
	Size(markdown string) int
}

// Inbox takes what people do. It is safe for concurrent use, and never blocks on a turn.
type Inbox interface {
	// Receive returns when the whole batch is durable, or an error when nothing is; only then may the platform be
	// acknowledged. Receipts are in batch order.
	Receive(ctx context.Context, b Batch) ([]Receipt, error)
	// Cursor returns the adapter's stored place, "" at the first start.
	Cursor(ctx context.Context) (string, error)
	// Health tells how the connection fares: nil after each successful poll or frame, an error otherwise.
	Health(err error)
}

// Batch is what one poll, frame or request brought, in order. Cursor, when not empty, becomes the stored place in the
// same commit.
type Batch struct {
	Inbound []Inbound
	Cursor  string
}

// Receipt is what became of one Inbound.
type Receipt struct {
	ID        string // of the stored row; empty when it was dropped by a guard
	Duplicate bool
	// Answer is a short text for platforms that want one at once with the acknowledgement (a pressed button's toast).
	Answer string
}

// InboundKind is what a person did.
type InboundKind string

const (
	KindMessage InboundKind = "message" // wrote, or sent files
	KindEdit    InboundKind = "edit"    // changed an earlier message
	KindDelete  InboundKind = "delete"  // deleted an earlier message
	KindPress   InboundKind = "press"   // pressed a button
	KindStop    InboundKind = "stop"    // used the platform's own stop control
	KindService InboundKind = "service" // joined, left, migrated: never starts a turn
	KindRaw     InboundKind = "raw"     // an update that could not be decoded
)

// Inbound is one thing a person did, normalized. Ids are strings throughout.
type Inbound struct {
	Kind    InboundKind
	ID      string // unique per account: the platform's update or event id
	Target  Target // where it was said, and so where answers go
	Message string // id of the message it is about
	From    Person
	Group   bool   // said in a group or channel
	Text    string // as typed, mentions of the bot removed when addressed
	// Command is set when the text is a command: the word without slash and without the bot's own name, lower case. Args is
	// the rest.
	Command, Args string
	Mentioned     bool // addresses the bot: its name, a reply to it, a command with its name; always true in a DM
	Other         bool // a command for another bot
	Reply         *Reply
	Files         []File
	Album         string // groups files sent together
	Data          string // of a press
	PressID       string // to answer the press with
	Sent          time.Time
	Edited        time.Time // of an edit: when
	Near          bool      // the text is as long as the platform's client allows: the rest may still come
	Migrate       string    // of a service message: the chat's new id
	Unreachable   bool      // of a service message: the person blocked the bot, or it was removed
	Raw           []byte    // of KindRaw
}

// Person is who did it.
type Person struct {
	ID   string
	Name string // as shown
	User string // handle, may be empty
	Bot  bool
	Lang string // BCP 47, may be empty
}

// Reply is what a message answers.
type Reply struct {
	Message string
	Author  string
	Text    string
	Quote   string // the part that was marked
	Own     bool   // the answered message is this bot's
}

// File is a reference to something that was sent.
type File struct {
	Kind string // photo, document, voice, audio, video, video_note (somebody speaking), sticker
	Ref  string // enough for Fetch; no secrets
	Name string
	MIME string
	Size int64
}

// Target is a place to say something.
type Target struct {
	Chat   string
	Thread string
	User   string // the person addressed, for platforms that show something to one person only
	Group  bool
}

// Ref names a message of ours on the platform.
type Ref string

// Outgoing is one message. Text is Markdown (CommonMark with tables); the adapter renders it.
type Outgoing struct {
	Text    string
	Plain   bool // show Text as it is, no markup: the fallback when the platform refused the markup
	Buttons [][]Button
	ReplyTo string // message id; ignored when it is gone
	Silent  bool   // no notification
	Live    bool   // more edits will follow: no link previews
}

// Button is a choice under a message.
type Button struct {
	Label string
	Data  string // at most 64 bytes
	Style string // "", primary, danger
}

// Limits are a platform's numbers; 0 means no such limit is known.
type Limits struct {
	Text    int // per message, in the unit of Size
	Edit    int // per edit; 0: as Text
	Caption int
	// Published rates, used as the self-imposed budget.
	ChatRate  time.Duration // least time between calls to one chat
	ChatBurst int
	GroupRate time.Duration // for groups
	BotRate   time.Duration // over all chats
	EditEvery time.Duration // least time between edits of a live message
	// Of drafts in one chat, where they do not draw on the above.
	DraftRate  time.Duration
	DraftBurst int
}

// Optional capabilities, one method each.
type (
	// Editor changes a message of ours.
	Editor interface {
		Edit(ctx context.Context, to Target, ref Ref, m Outgoing) error
	}
	// Deleter removes a message of ours.
	Deleter interface {
		Delete(ctx context.Context, to Target, ref Ref) error
	}
	// Typer shows that an answer is on its way; it lasts TypingFor.
	Typer interface {
		Typing(ctx context.Context, to Target) error
		TypingFor() time.Duration
	}
	// Reactor puts an emoji on a person's message; "" removes it.
	Reactor interface {
		React(ctx context.Context, to Target, message, emoji string) error
	}
	// Uploader sends a file.
	Uploader interface {
		Upload(ctx context.Context, to Target, f Upload) (Ref, error)
	}
	// Fetcher opens a file that a person sent.
	Fetcher interface {
		Fetch(ctx context.Context, f File) (io.ReadCloser, error)
	}
	// Presser answers the press of a button.
	Presser interface {
		AnswerPress(ctx context.Context, pressID, text string) error
	}
	// Menu tells the platform which commands there are.
	Menu interface {
		SetMenu(ctx context.Context, cmds []MenuItem) error
	}
	// Mounter has HTTP endpoints on the gateway's one listener (webhook modes).
	Mounter interface {
		Mount(in Inbox) (pattern string, h http.Handler)
	}
	// Prober checks the credentials with one harmless call and says who the bot is.
	Prober interface {
		Probe(ctx context.Context) (who string, err error)
	}
	// Tracer tells where a message may be whose Send got no answer. Trace returns a mark of what is newest where messages at
	// to are numbered, "" where that is unknown; and, likeliest first, ids that a message may have which was made right
	// after mark was taken. Such an id is below one that is known by now, was given to nobody the adapter knows of, and is
	// given to nobody any more; while nothing newer is known there is none, and none while a message of the chat is being
	// made. The answer holds until the next Send: ask again before each use. Whoever can edit one of them has found a
	// message of this account that its adapter knows nothing of, which is the one that is looked for if no other of the
	// chat, in whatever thread, was lost, and no other process speaks for the account. No call is made.
	Tracer interface {
		Trace(to Target, mark string) (now string, near []Ref)
	}
	// Fitter tells, without the work of Size, that a text is no longer than max. false: Size knows.
	Fitter interface {
		Fits(markdown string, max int) bool
	}
	// Drafter shows a growing answer natively; the final is sent as an ordinary message.
	Drafter interface {
		Draft(ctx context.Context, to Target, id int64, m Outgoing) error
	}
)

// Upload is a file to send.
type Upload struct {
	Kind    string // photo, document, voice, audio, video
	Name    string
	Caption string // Markdown
	Body    io.Reader
	ReplyTo string
}

// MenuItem is one command in the platform's menu. Admin commands are shown to admins only where the platform can.
type MenuItem struct {
	Name, About string
	Admin       bool
}

// Caps are the capabilities of one adapter; nil where it has none.
type Caps struct {
	Editor   Editor
	Deleter  Deleter
	Typer    Typer
	Reactor  Reactor
	Uploader Uploader
	Fetcher  Fetcher
	Presser  Presser
	Menu     Menu
	Mounter  Mounter
	Prober   Prober
	Drafter  Drafter
	Tracer   Tracer
	Fitter   Fitter
}

// CapsOf finds what a can do. These are the only type assertions.
func CapsOf(a Adapter) Caps {
	var c Caps
	c.Editor, _ = a.(Editor)
	c.Deleter, _ = a.(Deleter)
	c.Typer, _ = a.(Typer)
	c.Reactor, _ = a.(Reactor)
	c.Uploader, _ = a.(Uploader)
	c.Fetcher, _ = a.(Fetcher)
	c.Presser, _ = a.(Presser)
	c.Menu, _ = a.(Menu)
	c.Mounter, _ = a.(Mounter)
	c.Prober, _ = a.(Prober)
	c.Drafter, _ = a.(Drafter)
	c.Tracer, _ = a.(Tracer)
	c.Fitter, _ = a.(Fitter)
	return c
}
