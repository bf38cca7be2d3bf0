package telegramtest

import (
	"time"
)

// message is one message as it stands.
type message struct {
	id        int
	thread    int
	from      Person // the bot's own where own is set
	own       bool
	anonymous bool
	text      string
	entities  []Entity
	buttons   [][]Button
	replyTo   int
	quote     string
	album     string
	file      *File
	silent    bool
	preview   bool
	at        time.Time
	edited    time.Time
	edits     int
	deleted   bool
	reaction  string
	extra     map[string]any
}

// Button is one below a message.
type Button struct {
	Text  string `json:"text"`
	Data  string `json:"callback_data"`
	Style string `json:"style,omitempty"`
}

// Shown is what a person sees of one message now.
type Shown struct {
	ID       int
	Topic    int
	From     string
	FromID   int64
	Own      bool // the bot's
	Text     string
	Entities []Entity
	Buttons  [][]Button
	ReplyTo  int
	File     *File
	Silent   bool
	Preview  bool // link previews are on
	At       time.Time
	Edits    int
	Reaction string // the bot's
}

// Visible returns every message that is there now, in order.
func (c *Chat) Visible() []Shown {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var out []Shown
	for _, m := range c.shown {
		if m.deleted {
			continue
		}
		out = append(out, Shown{ID: m.id, Topic: m.thread, From: m.from.Name, FromID: m.from.ID, Own: m.own, Text: m.text, Entities: m.entities,
			Buttons: m.buttons, ReplyTo: m.replyTo, File: m.file, Silent: m.silent, Preview: m.preview, At: m.at, Edits: m.edits,
			Reaction: m.reaction})
	}
	return out
}

// Said returns what the bot's messages are now.
func (c *Chat) Said() []Shown {
	var out []Shown
	for _, m := range c.Visible() {
		if m.Own {
			out = append(out, m)
		}
	}
	return out
}

func (p Person) json() map[string]any {
	u := map[string]any{"id": p.ID, "is_bot": p.Bot, "first_name": p.Name}
	if p.Username != "" {
		u["username"] = p.Username
	}
	if p.Lang != "" {
		u["language_code"] = p.Lang
	}
	return u
}

func (s *Server) botPerson() Person {
	return Person{ID: s.bot.ID, Name: s.bot.Name, Username: s.bot.Username, Bot: true}
}

func (s *Server) botUser() map[string]any { return s.botPerson().json() }

func (c *Chat) json() map[string]any {
	m := map[string]any{"id": c.ID, "type": c.Type}
	if c.private() {
		m["first_name"] = c.Title
	} else {
		m["title"] = c.Title
	}
	if c.Forum {
		m["is_forum"] = true
	}
	return m
}

// groupAnonymousBot is the sender that anonymous admins are given.
var groupAnonymousBot = Person{ID: 1087968824, Name: "Group", Username: "GroupAnonymousBot", Bot: true}

// message returns the Message object of m; the message it answers is included where deep is set.
func (c *Chat) message(m *message, deep bool) map[string]any {
	out := map[string]any{"message_id": m.id, "chat": c.json(), "date": m.at.Unix(), "from": m.from.json()}
	if m.anonymous {
		out["from"], out["sender_chat"] = groupAnonymousBot.json(), c.json()
	}
	if m.thread != 0 && m.thread != generalTopic {
		out["message_thread_id"] = m.thread
		if c.Forum || c.private() {
			out["is_topic_message"] = true
		}
	}
	if !m.edited.IsZero() {
		out["edit_date"] = m.edited.Unix()
	}
	if m.album != "" {
		out["media_group_id"] = m.album
	}
	m.content(out)
	if deep {
		c.reply(m, out)
	}
	if len(m.buttons) > 0 {
		out["reply_markup"] = map[string]any{"inline_keyboard": m.buttons}
	}
	for k, v := range m.extra {
		out[k] = v
	}
	return out
}

func (m *message) content(out map[string]any) {
	text, entities := "text", "entities"
	if m.file != nil {
		text, entities = "caption", "caption_entities"
		out[m.file.Kind] = m.file.json()
		if m.file.Kind == "animation" {
			out["document"] = m.file.json() // as the real server does for old bots
		}
	}
	if m.text != "" {
		out[text] = m.text
	}
	if len(m.entities) > 0 {
		out[entities] = m.entities
	}
}

func (c *Chat) reply(m *message, out map[string]any) {
	if to := c.find(m.replyTo); to != nil {
		out["reply_to_message"] = c.message(to, false)
	} else if m.thread != 0 && m.thread != generalTopic && c.Forum {
		// In a topic every message answers the service message that made it.
		out["reply_to_message"] = map[string]any{"message_id": m.thread, "chat": c.json(), "date": m.at.Unix(),
			"from": c.s.botUser(), "message_thread_id": m.thread, "is_topic_message": true,
			"forum_topic_created": map[string]any{"name": c.topics[m.thread], "icon_color": 7322096}}
	}
	if m.quote != "" {
		out["quote"] = map[string]any{"text": m.quote, "position": 0, "is_manual": true}
	}
}

func (f *File) json() any {
	o := map[string]any{"file_id": f.ID, "file_unique_id": "u" + f.ID, "file_size": f.Size}
	switch f.Kind {
	case "photo":
		small := map[string]any{"file_id": f.ID + "s", "file_unique_id": "us" + f.ID, "file_size": f.Size / 10, "width": 90, "height": 60}
		o["width"], o["height"] = 1280, 853
		return []any{small, o}
	case "sticker":
		o["type"], o["width"], o["height"], o["is_animated"], o["is_video"] = "regular", 512, 512, false, false
		return o
	case "video_note":
		o["length"], o["duration"] = 240, 3
		return o
	case "voice", "audio":
		o["duration"] = 3
	case "video", "animation":
		o["width"], o["height"], o["duration"] = 640, 360, 3
	}
	if f.MIME != "" {
		o["mime_type"] = f.MIME
	}
	if f.Name != "" && f.Kind != "voice" {
		o["file_name"] = f.Name
	}
	return o
}
