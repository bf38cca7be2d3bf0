package telegramtest

import (
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// method is one call of the API.
type method struct {
	name string
	run  func(s *Server, c *call) (any, *refusal)
}

// methods are the calls this server carries out, by lower-case name: the real one ignores case.
var methods = table(
	getUpdates, setWebhook, deleteWebhook, getWebhookInfo,
	method{"getMe", getMe},
	method{"sendMessage", sendMessage},
	method{"editMessageText", editMessageText},
	method{"editMessageReplyMarkup", editMessageReplyMarkup},
	method{"deleteMessage", deleteMessage},
	method{"sendMessageDraft", sendMessageDraft},
	method{"sendChatAction", sendChatAction},
	method{"setMessageReaction", setMessageReaction},
	method{"answerCallbackQuery", answerCallbackQuery},
	method{"setMyCommands", setMyCommands},
	method{"deleteMyCommands", deleteMyCommands},
	method{"getMyCommands", getMyCommands},
	method{"getFile", getFile},
	upload("sendPhoto", "photo", 10<<20),
	upload("sendDocument", "document", 50<<20),
	upload("sendVoice", "voice", 50<<20),
	upload("sendAudio", "audio", 50<<20),
	upload("sendVideo", "video", 50<<20),
)

func table(list ...method) map[string]method {
	m := map[string]method{}
	for _, x := range list {
		m[lower(x.name)] = x
	}
	return m
}

func lower(s string) string { return strings.ToLower(s) }

func getMe(s *Server, _ *call) (any, *refusal) {
	u := s.botUser()
	for _, k := range []string{"can_join_groups", "can_read_all_group_messages"} {
		u[k] = true
	}
	u["supports_inline_queries"], u["has_topics_enabled"] = false, false
	return u, nil
}

// target returns the chat of a call if the bot may write to it there. Called with s.mu held.
func (s *Server) target(c *call) (*Chat, *refusal) {
	chat := s.chats[c.Chat]
	switch {
	case chat == nil:
		return nil, bad("chat not found")
	case chat.moved != 0:
		r := bad("group chat was upgraded to a supergroup chat")
		r.migrate = chat.moved
		return nil, r
	case chat.away != "":
		return nil, forbidden(chat.away)
	case chat.noPerms:
		return nil, bad("not enough rights to send text messages to the chat")
	}
	if c.args.has("message_thread_id") {
		id := int(c.args.int("message_thread_id"))
		if _, ok := chat.topics[id]; !ok || id == generalTopic {
			return nil, bad("message thread not found")
		}
	}
	return chat, nil
}

// take draws one call from the rates. Called with s.mu held.
func (s *Server) take(c *call) *refusal {
	if n := s.limit.take(time.Now(), c.Chat); n > 0 {
		return flood(n)
	}
	return nil
}

func sendMessage(s *Server, c *call) (any, *refusal) {
	text, entities, ref := c.args.formatted("text", 4096, "message is too long")
	if ref != nil {
		return nil, ref
	}
	if text == "" {
		return nil, emptyText(c.args.str("text"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(c, &message{text: text, entities: entities, preview: !c.args.previewOff()})
}

func emptyText(raw string) *refusal {
	if raw == "" {
		return bad("message text is empty")
	}
	return bad("text must be non-empty")
}

// add completes a message of the bot's and shows it. Called with s.mu held.
func (s *Server) add(c *call, m *message) (any, *refusal) {
	chat, ref := s.target(c)
	if ref != nil {
		return nil, ref
	}
	if m.buttons, ref = c.args.keyboard(); ref != nil {
		return nil, ref
	}
	var reply struct {
		ID    int  `json:"message_id"`
		Allow bool `json:"allow_sending_without_reply"`
	}
	if c.args.object("reply_parameters", &reply) && reply.ID != 0 {
		if chat.find(reply.ID) != nil {
			m.replyTo = reply.ID
		} else if !reply.Allow {
			return nil, bad("message to be replied not found")
		}
	}
	if ref := s.take(c); ref != nil {
		return nil, ref
	}
	m.id, m.own, m.from, m.at = s.newID(), true, s.botPerson(), time.Now()
	m.thread, m.silent = int(c.args.int("message_thread_id")), c.args.bool("disable_notification")
	if m.file != nil {
		s.keep(m.file)
	}
	chat.shown = append(chat.shown, m)
	chat.typing, chat.draft = time.Time{}, nil
	c.Message = m.id
	s.touch()
	return chat.message(m, true), nil
}

func (a args) previewOff() bool {
	var o struct {
		Off bool `json:"is_disabled"`
	}
	return a.object("link_preview_options", &o) && o.Off
}

// formatted returns a text parameter with its markup taken out, or the complaint about it.
func (a args) formatted(name string, most int, long string) (string, []Entity, *refusal) {
	text := a.str(name)
	if !utf8.ValidString(text) {
		return "", nil, bad("strings must be encoded in UTF-8")
	}
	if len(text) > 32768 {
		return "", nil, bad("text is too long")
	}
	var entities []Entity
	switch lower(a.str("parse_mode")) {
	case "":
	case "html":
		var err error
		if text, entities, err = ParseHTML(text); err != nil {
			return "", nil, bad("can't parse entities: %s", capital(err.Error()))
		}
	default:
		return "", nil, bad("unsupported parse_mode")
	}
	text, entities = trim(text, entities)
	if units(text) > most {
		return "", nil, bad("%s", long)
	}
	return text, entities, nil
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// trim takes blanks from both ends, and entities with them.
func trim(text string, entities []Entity) (string, []Entity) {
	left := strings.TrimLeft(text, " \t\r\n")
	cut := units(text) - units(left)
	text = strings.TrimRight(left, " \t\r\n")
	end := units(text)
	var out []Entity
	for _, e := range entities {
		from, to := max(0, e.Offset-cut), min(end, e.Offset+e.Length-cut)
		if e.Offset, e.Length = from, to-from; e.Length > 0 {
			out = append(out, e)
		}
	}
	return text, out
}

// keyboard returns the inline buttons of a call.
func (a args) keyboard() ([][]Button, *refusal) {
	var k struct {
		Rows [][]Button `json:"inline_keyboard"`
	}
	if !a.has("reply_markup") {
		return nil, nil
	}
	if !a.object("reply_markup", &k) || k.Rows == nil {
		return nil, bad("object expected as reply markup")
	}
	for _, row := range k.Rows {
		for _, b := range row {
			switch {
			case b.Text == "":
				return nil, bad("can't parse inline keyboard button: Field \"text\" must be of type String")
			case b.Data == "":
				return nil, bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
			case len(b.Data) > 64:
				return nil, bad("BUTTON_DATA_INVALID")
			}
		}
	}
	return k.Rows, nil
}

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// Command is one line of the bot's menu.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

func (a args) scope() string {
	var sc struct{ Type string }
	if a.object("scope", &sc) && sc.Type != "default" {
		return sc.Type
	}
	return ""
}

func setMyCommands(s *Server, c *call) (any, *refusal) {
	var list []Command
	if !c.args.object("commands", &list) {
		return nil, bad("can't parse commands")
	}
	if len(list) > 100 {
		return nil, bad("BOT_COMMANDS_TOO_MUCH")
	}
	for _, x := range list {
		if !commandName.MatchString(x.Command) {
			return nil, bad("BOT_COMMAND_INVALID")
		}
		if n := utf8.RuneCountInString(x.Description); n < 1 || n > 256 {
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.menus[c.args.scope()] = list
	s.touch()
	return true, nil
}

func deleteMyCommands(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.menus, c.args.scope())
	return true, nil
}

func getMyCommands(s *Server, c *call) (any, *refusal) { return s.Menu(c.args.scope()), nil }

// Menu returns the bot's commands in a scope such as all_private_chats; "" is the default one.
func (s *Server) Menu(scope string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Command{}, s.menus[scope]...)
}

const largestDownload = 20 << 20

func getFile(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[c.args.str("file_id")]
	switch {
	case f == nil:
		return nil, bad("wrong file_id or the file is temporarily unavailable")
	case f.Size > largestDownload:
		return nil, bad("file is too big")
	}
	return map[string]any{"file_id": f.ID, "file_unique_id": "u" + f.ID, "file_size": f.Size, "file_path": f.Kind + "s/" + f.ID}, nil
}

func (s *Server) serveFile(w http.ResponseWriter, token, path string) {
	if ref := s.admit(token); ref != nil {
		ref.write(w)
		return
	}
	s.mu.Lock()
	f := s.files[path[strings.LastIndexByte(path, '/')+1:]]
	s.mu.Unlock()
	if f == nil {
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(f.Data)
}
