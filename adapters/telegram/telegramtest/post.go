package telegramtest

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"time"
	"unicode/utf16"
)

// Post is a message of a person.
type Post struct {
	From      Person
	Text      string
	Entities  []Entity // nil: the commands and mentions that a client marks by itself
	Topic     int      // thread id
	ReplyTo   int
	Quote     string // the part of ReplyTo that was marked
	Forwarded bool   // from somebody else
	Album     string
	File      *File
	Anonymous bool           // an admin who writes as the group
	Extra     map[string]any // more fields of the message, as they are
}

// File is something that can be sent; Kind is photo, document, voice, audio, video, video_note, animation or sticker.
type File struct {
	ID   string
	Kind string
	Name string
	MIME string
	Data []byte
	Size int64 // default len(Data); larger than 20 MB cannot be downloaded
}

// Say is Post with nothing but a text; it returns the message's id.
func (c *Chat) Say(from Person, text string) int { return c.Post(Post{From: from, Text: text}) }

// Post writes a message and returns its id.
func (c *Chat) Post(p Post) int {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := &message{id: c.s.newID(), from: p.From, text: p.Text, entities: p.Entities, thread: p.Topic, replyTo: p.ReplyTo,
		quote: p.Quote, album: p.Album, file: p.File, at: time.Now(), extra: maps.Clone(p.Extra), anonymous: p.Anonymous}
	if p.Entities == nil {
		m.entities = marked(p.Text)
	}
	if p.Forwarded {
		m.extra = add(m.extra, "forward_origin", map[string]any{"type": "hidden_user", "date": m.at.Unix(), "sender_user_name": "Somebody"})
	}
	if m.file != nil {
		c.s.keep(m.file)
	}
	c.shown = append(c.shown, m)
	c.s.push("message", c.ID, c.message(m, true))
	return m.id
}

func add(m map[string]any, k string, v any) map[string]any {
	if m == nil {
		m = map[string]any{}
	}
	m[k] = v
	return m
}

// Edit changes a person's message.
func (c *Chat) Edit(id int, text string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := c.find(id)
	if m == nil {
		return
	}
	m.text, m.entities, m.edited = text, marked(text), time.Now()
	m.edits++
	c.s.push("edited_message", c.ID, c.message(m, true))
}

// Delete removes a message, a person's or the bot's. Bots are not told.
func (c *Chat) Delete(id int) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if m := c.find(id); m != nil {
		m.deleted = true
		c.s.touch()
	}
}

// Press presses a button under a message of the bot's, by its data. It returns the query's id.
func (c *Chat) Press(by Person, id int, data string) string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := c.find(id)
	var about any = map[string]any{"message_id": id, "chat": c.json(), "date": 0}
	if m != nil {
		about = c.message(m, true)
	}
	sum := sha256.Sum256([]byte(data + time.Now().String() + string(rune(c.s.newID()))))
	query := hex.EncodeToString(sum[:8])
	c.s.presses[query] = &press{chat: c, at: time.Now()}
	c.s.push("callback_query", c.ID, map[string]any{"id": query, "from": by.json(), "message": about, "chat_instance": "7", "data": data})
	return query
}

// press is a button press that wants an answer.
type press struct {
	chat     *Chat
	at       time.Time
	answered int
}

// Pressed returns how often a press was answered.
func (s *Server) Pressed(query string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.presses[query]; p != nil {
		return p.answered
	}
	return 0
}

var (
	commandForm = regexp.MustCompile(`(^|\s)(/[A-Za-z0-9_]{1,64}(@[A-Za-z0-9_]{3,})?)\b`)
	mentionForm = regexp.MustCompile(`(^|[^\w/@])(@[A-Za-z][A-Za-z0-9_]{3,})\b`)
)

// marked returns the entities that a client marks by itself.
func marked(text string) []Entity {
	var out []Entity
	find := func(kind string, form *regexp.Regexp) {
		for _, at := range form.FindAllStringSubmatchIndex(text, -1) {
			out = append(out, Entity{Type: kind, Offset: units(text[:at[4]]), Length: units(text[at[4]:at[5]])})
		}
	}
	find("bot_command", commandForm)
	find("mention", mentionForm)
	slices.SortFunc(out, func(a, b Entity) int { return a.Offset - b.Offset })
	return out
}

// units counts UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// keep gives a file an id and remembers it. Called with s.mu held.
func (s *Server) keep(f *File) {
	if f.Size == 0 {
		f.Size = int64(len(f.Data))
	}
	if f.ID == "" {
		f.ID = "file" + hex.EncodeToString([]byte{byte(s.newID() >> 8), byte(s.nextID)})
	}
	s.files[f.ID] = f
}
