package core

import "time"

// Submission is one input as the server understood it, never a raw body. It is data: it gives no rights. It is stored as
// JSON, so every field keeps its meaning for ever; add fields, do not reuse them.
type Submission struct {
	Key       Key       `json:"key"`    // where it was said; resolved to a conversation in the admission transaction
	Source    string    `json:"source"` // the chat or client that scopes RequestID: "telegram:123", "rpc:local"
	RequestID RequestID `json:"request_id"`

	Text        string       `json:"text,omitempty"`     // what the person said, repaired to valid UTF-8
	APIText     string       `json:"api_text,omitempty"` // what the model gets when it differs from Text
	Attachments []Attachment `json:"attachments,omitempty"`
	Reply       *Reply       `json:"reply,omitempty"` // what it answers
	Author      string       `json:"author,omitempty"`
	AuthorID    PrincipalID  `json:"author_id,omitempty"`
	Group       bool         `json:"group,omitempty"`
	Lang        string       `json:"lang,omitempty"`

	Surface   string            `json:"surface"`              // platform name, or "rpc", "api", "internal"
	MessageID string            `json:"message_id,omitempty"` // the platform's id of the person's message
	Route     Route             `json:"route"`                // where the answer goes
	Sent      time.Time         `json:"sent,omitzero"`        // when the person sent it, by the platform's clock
	Title     string            `json:"title,omitempty"`      // preview for lists
	Model     string            `json:"model,omitempty"`      // override for this turn
	Rich      bool              `json:"rich,omitempty"`       // a rich client (TUI, desktop, browser): larger call budget
	Finite    bool              `json:"finite,omitempty"`     // one-shot: a wait that times out is an early result
	Voice     bool              `json:"voice,omitempty"`      // the text is a transcript of what was spoken
	Producer  string            `json:"producer,omitempty"`   // internal input: cron, process, agent
	Display   map[string]string `json:"display,omitempty"`    // display type and metadata

	// Album and Part make waiting rows mergeable: photos with the same Album become one turn, and Part marks a piece of a
	// long paste whose rest may still come. Only unclaimed rows merge.
	Album string `json:"album,omitempty"`
	Part  bool   `json:"part,omitempty"`

	// Stops is, in the row of a stop that was carried out before it was stored, what it has stopped.
	Stops AdmissionID `json:"stops,omitempty"`
}

// Attachment is a file a person sent. Ref is durable before the acknowledgement; Path is filled when the bytes were
// fetched into the media store.
type Attachment struct {
	Kind string `json:"kind"` // photo, document, voice, audio, video, video_note, sticker
	Ref  string `json:"ref"`  // the platform's reference: file id or URL without secrets
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes, 0 unknown
	Path string `json:"path,omitempty"`
}

// Reply is the message a person answered: Quote if they marked a part of it, else Text.
type Reply struct {
	MessageID string `json:"message_id"`
	Author    string `json:"author,omitempty"`
	Text      string `json:"text,omitempty"`
	Quote     string `json:"quote,omitempty"`
	Own       bool   `json:"own,omitempty"` // the answered message is ours
}

// Route says where on which platform something is said. The zero Route means nowhere: clients pull it from the event
// stream (RPC, API).
type Route struct {
	Platform string `json:"platform,omitempty"` // adapter name, with /account where there are several
	Chat     string `json:"chat,omitempty"`
	Thread   string `json:"thread,omitempty"`
	ReplyTo  string `json:"reply_to,omitempty"` // message id to answer
	Group    bool   `json:"group,omitempty"`
	User     string `json:"user,omitempty"` // the platform's id of the person addressed
}

// IsZero reports whether the route leads nowhere.
func (r Route) IsZero() bool { return r.Platform == "" }
