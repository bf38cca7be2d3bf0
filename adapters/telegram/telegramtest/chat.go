package telegramtest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Person is somebody who uses Telegram.
type Person struct {
	ID       int64
	Name     string
	Username string
	Lang     string
	Bot      bool
}

// Chat is a conversation that the bot can be in. Its methods are what people do there; each queues the update that the
// bot gets.
type Chat struct {
	ID    int64
	Title string
	Type  string // private, group, supergroup
	Forum bool

	s       *Server
	topics  map[int]string
	shown   []*message
	away    string // why the bot cannot send here: the real server's words
	moved   int64
	typing  time.Time // until when the bot is shown typing
	draft   *Draft
	toasts  []string
	noPerms bool
}

// Draft is a growing answer that is not a message yet.
type Draft struct {
	ID    int64
	Text  string
	Stop  bool // a stop button is shown
	Until time.Time
}

const generalTopic = 1

// Person makes somebody up, with the next free id from 111 on.
func (s *Server) Person(name string) Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := Person{ID: 111 * int64(len(s.people)+1), Name: name, Username: lower(name), Lang: "en"}
	s.people[p.ID] = p
	return p
}

// DM opens the private chat of p with the bot, as pressing Start does.
func (s *Server) DM(p Person) *Chat {
	return s.open(&Chat{ID: p.ID, Title: p.Name, Type: "private"})
}

// Group makes a supergroup that the bot is in.
func (s *Server) Group(title string) *Chat {
	return s.open(&Chat{ID: s.groupID(), Title: title, Type: "supergroup"})
}

// SmallGroup makes a basic group, which may Migrate later.
func (s *Server) SmallGroup(title string) *Chat {
	return s.open(&Chat{ID: s.groupID()%1_000_000_000 - 5000, Title: title, Type: "group"})
}

// Forum makes a supergroup with topics.
func (s *Server) Forum(title string) *Chat {
	return s.open(&Chat{ID: s.groupID(), Title: title, Type: "supergroup", Forum: true})
}

func (s *Server) groupID() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return -1001000000000 - int64(len(s.order)) - 1
}

// open adds a chat, or returns the one with the same id.
func (s *Server) open(c *Chat) *Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.chats[c.ID]; old != nil {
		return old
	}
	c.s, c.topics = s, map[int]string{}
	s.chats[c.ID] = c
	s.order = append(s.order, c)
	s.touch()
	return c
}

// Chats returns all chats in the order they were made.
func (s *Server) Chats() []*Chat { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.order) }

// Chat returns the chat with this id, nil when there is none.
func (s *Server) Chat(id int64) *Chat { s.mu.Lock(); defer s.mu.Unlock(); return s.chats[id] }

// Topic makes a topic of a forum and returns its thread id.
func (c *Chat) Topic(name string) int {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	id := c.s.newID()
	c.topics[id] = name
	return id
}

// Topics returns the names of a forum's topics by thread id.
func (c *Chat) Topics() map[int]string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return maps.Clone(c.topics)
}

// DeleteTopic deletes a topic.
func (c *Chat) DeleteTopic(id int) { c.s.mu.Lock(); defer c.s.mu.Unlock(); delete(c.topics, id) }

// Block is a person blocking the bot, or a group throwing it out.
func (c *Chat) Block(by Person) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.away = "bot was blocked by the user"
	if c.Type != "private" {
		c.away = fmt.Sprintf("bot was kicked from the %s chat", c.Type)
	}
	c.member(by, "member", "kicked")
}

// Unblock undoes Block.
func (c *Chat) Unblock(by Person) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.away = ""
	c.member(by, "kicked", "member")
}

// Mute takes the bot's right to write in a group.
func (c *Chat) Mute() { c.s.mu.Lock(); defer c.s.mu.Unlock(); c.noPerms = true }

func (c *Chat) member(by Person, from, to string) {
	bot := c.s.botUser()
	state := func(status string) map[string]any {
		m := map[string]any{"status": status, "user": bot}
		if status == "kicked" {
			m["until_date"] = 0
		}
		return m
	}
	c.s.push("my_chat_member", c.ID, map[string]any{"chat": c.json(), "from": by.json(), "date": time.Now().Unix(),
		"old_chat_member": state(from), "new_chat_member": state(to)})
}

// Migrate makes a basic group a supergroup and returns that.
func (c *Chat) Migrate(by Person) *Chat {
	to := c.s.Group(c.Title)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.moved = to.ID
	now := time.Now().Unix()
	c.s.push("message", c.ID, map[string]any{"message_id": c.s.newID(), "from": by.json(), "chat": c.json(), "date": now,
		"migrate_to_chat_id": to.ID})
	c.s.push("message", to.ID, map[string]any{"message_id": c.s.newID(), "from": by.json(), "chat": to.json(), "date": now,
		"migrate_from_chat_id": c.ID})
	return to
}

// StopDraft presses the stop button under a draft.
func (c *Chat) StopDraft() bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.draft == nil || !c.draft.Stop {
		return false
	}
	c.s.push("stopped_message_generation", c.ID, map[string]any{"chat": c.json(), "draft_id": c.draft.ID})
	return true
}

// Typing reports whether the bot is shown typing now.
func (c *Chat) Typing() bool {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return time.Now().Before(c.typing)
}

// Draft returns the draft that is shown now.
func (c *Chat) Draft() (Draft, bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.draft == nil || time.Now().After(c.draft.Until) {
		return Draft{}, false
	}
	return *c.draft, true
}

// Toasts returns the short texts that answered presses in this chat, in order.
func (c *Chat) Toasts() []string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return slices.Clone(c.toasts)
}

func (c *Chat) private() bool { return c.Type == "private" }

func (c *Chat) find(id int) *message {
	for _, m := range c.shown {
		if m.id == id && !m.deleted {
			return m
		}
	}
	return nil
}

// newID is called with s.mu held.
func (s *Server) newID() int { s.nextID++; return s.nextID }
