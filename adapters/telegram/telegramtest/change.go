package telegramtest

import (
	"reflect"
	"time"
	"unicode/utf8"
)

const notModified = "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"

// mine returns the bot's message that a call is about. Called with s.mu held.
func (s *Server) mine(c *call, verb string) (*Chat, *message, *refusal) {
	chat, ref := s.target(c)
	if ref != nil {
		return nil, nil, ref
	}
	m := chat.find(int(c.args.int("message_id")))
	if m == nil {
		return nil, nil, bad("message to %s not found", verb)
	}
	c.Message = m.id
	return chat, m, nil
}

func editMessageText(s *Server, c *call) (any, *refusal) {
	text, entities, ref := c.args.formatted("text", 4096, "message is too long")
	if ref != nil {
		return nil, ref
	}
	if text == "" {
		return nil, emptyText(c.args.str("text"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, m, ref := s.mine(c, "edit")
	if ref != nil {
		return nil, ref
	}
	if m.file != nil {
		return nil, bad("there is no text in the message to edit")
	}
	return s.edit(c, chat, m, text, entities)
}

func editMessageReplyMarkup(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, m, ref := s.mine(c, "edit")
	if ref != nil {
		return nil, ref
	}
	return s.edit(c, chat, m, m.text, m.entities)
}

// edit changes text and buttons; an edit that changes nothing is counted like any other, and refused.
func (s *Server) edit(c *call, chat *Chat, m *message, text string, entities []Entity) (any, *refusal) {
	if !m.own {
		return nil, bad("message can't be edited")
	}
	buttons, ref := c.args.keyboard()
	if ref != nil {
		return nil, ref
	}
	if ref := s.take(c); ref != nil {
		return nil, ref
	}
	if m.text == text && same(m.entities, entities) && sameButtons(m.buttons, buttons) {
		return nil, bad("%s", notModified)
	}
	m.text, m.entities, m.buttons, m.edited = text, entities, buttons, time.Now()
	m.preview = !c.args.previewOff()
	m.edits++
	s.touch()
	return chat.message(m, true), nil
}

func same(a, b []Entity) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

func sameButtons(a, b [][]Button) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

func deleteMessage(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, m, ref := s.mine(c, "delete")
	if ref != nil {
		return nil, ref
	}
	if time.Since(m.at) > 48*time.Hour || !m.own && !chat.private() {
		return nil, bad("message can't be deleted")
	}
	m.deleted = true
	s.touch()
	return true, nil
}

// sendMessageDraft shows a preview for 30 seconds, in private chats only.
func sendMessageDraft(s *Server, c *call) (any, *refusal) {
	text, _, ref := c.args.formatted("text", 4096, "message is too long")
	if ref != nil {
		return nil, ref
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, ref := s.target(c)
	switch {
	case ref != nil:
		return nil, ref
	case !chat.private():
		return nil, bad("TEXTDRAFT_PEER_INVALID")
	case c.args.int("draft_id") == 0:
		return nil, bad("draft identifier must be non-zero")
	}
	if ref := s.take(c); ref != nil {
		return nil, ref
	}
	chat.draft = &Draft{ID: c.args.int("draft_id"), Text: text, Stop: c.args.bool("can_stop"), Until: time.Now().Add(30 * time.Second)}
	s.touch()
	return true, nil
}

func sendChatAction(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, ref := s.target(c)
	if ref != nil {
		return nil, ref
	}
	switch c.args.str("action") {
	case "typing", "upload_photo", "record_voice", "upload_voice", "upload_document", "upload_video":
	default:
		return nil, bad("wrong parameter action in request")
	}
	chat.typing = time.Now().Add(5 * time.Second)
	s.touch()
	return true, nil
}

// allowedReactions are some of the emojis that bots may use.
var allowedReactions = map[string]bool{"👀": true, "👍": true, "👎": true, "❤": true, "🔥": true, "🎉": true, "🤔": true, "✍": true, "👌": true, "😁": true}

func setMessageReaction(s *Server, c *call) (any, *refusal) {
	var list []struct{ Type, Emoji string }
	if c.args.has("reaction") && !c.args.object("reaction", &list) {
		return nil, bad("can't parse reaction types")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m, ref := s.mine(c, "react")
	switch {
	case ref != nil:
		return nil, ref
	case len(list) > 1:
		return nil, bad("REACTIONS_TOO_MANY")
	case len(list) == 1 && !allowedReactions[list[0].Emoji]:
		return nil, bad("REACTION_INVALID")
	}
	m.reaction = ""
	if len(list) == 1 {
		m.reaction = list[0].Emoji
	}
	s.touch()
	return true, nil
}

func answerCallbackQuery(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.presses[c.args.str("callback_query_id")]
	if p == nil || time.Since(p.at) > s.tooOld {
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	}
	text := c.args.str("text")
	if utf8.RuneCountInString(text) > 200 {
		return nil, bad("MESSAGE_TOO_LONG")
	}
	p.answered++
	if text != "" {
		p.chat.toasts = append(p.chat.toasts, text)
	}
	s.touch()
	return true, nil
}

// upload is a method that sends one file.
func upload(name, kind string, most int64) method {
	return method{name, func(s *Server, c *call) (any, *refusal) {
		caption, entities, ref := c.args.formatted("caption", 1024, "message caption is too long")
		if ref != nil {
			return nil, ref
		}
		f := c.args.files[kind]
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case f == nil && s.files[c.args.str(kind)] != nil:
			old := *s.files[c.args.str(kind)]
			f = &old
		case f == nil:
			return nil, bad("there is no %s in the request", kind)
		case f.Size == 0:
			return nil, bad("file must be non-empty")
		case f.Size > most && kind == "photo":
			return nil, bad("file of size %d bytes is too big for a photo; the maximum size is %d bytes", f.Size, most)
		case f.Size > most:
			return nil, &refusal{code: 413, text: "Request Entity Too Large"}
		}
		f.Kind = kind
		return s.add(c, &message{text: caption, entities: entities, file: f})
	}}
}
