package telegram

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"bellhop/adapters"
)

// nearLimit is how long a text must be, in UTF-16 units, for the rest of a paste to be expected: clients cut at 4096,
// some a little earlier.
const nearLimit = 4000

// generalTopic is the thread of a forum's General topic; messages there name no topic.
const generalTopic = "1"

// inbound translates an update that could be decoded.
func (me identity) inbound(u *update) adapters.Inbound {
	switch {
	case u.Message != nil:
		return me.message(u.Message, adapters.KindMessage)
	case u.Edited != nil:
		return me.message(u.Edited, adapters.KindEdit)
	case u.Callback != nil:
		return press(u.Callback)
	case u.Member != nil:
		return u.Member.inbound()
	case u.Stopped != nil:
		return u.Stopped.inbound()
	}
	return adapters.Inbound{Kind: adapters.KindService} // channel posts, business chats, kinds to come: seen, not served
}

func (me identity) message(m *message, kind adapters.InboundKind) adapters.Inbound {
	in := adapters.Inbound{Kind: kind, Target: m.target(), Message: formatID(int64(m.ID)), From: m.person(),
		Group: m.Chat.group(), Album: m.Album, Sent: when(m.Date)}
	if m.EditDate != 0 {
		in.Edited = when(m.EditDate)
	}
	if m.service(&in) {
		return in
	}
	text, entities := m.content()
	in.Near = utf16Len(text) >= nearLimit
	in.Files = m.files()
	in.Reply = me.reply(m)
	me.address(&in, m, text, entities)
	return in
}

// service recognises what is not a message of a person, and makes in a service message.
func (m *message) service(in *adapters.Inbound) bool {
	switch {
	case m.MigrateTo != 0:
		in.Migrate = formatID(m.MigrateTo)
	case m.MigrateFrom != 0: // the same news, told in the new chat
		in.Target.Chat, in.Migrate = formatID(m.MigrateFrom), formatID(m.Chat.ID)
	case m.Auto, m.Chat.Type == "channel", m.empty():
	default:
		return false
	}
	in.Kind = adapters.KindService
	return true
}

func (c chat) group() bool { return c.Type != "private" }

// target is the place of a message. message_thread_id also marks plain reply threads: only topics count.
func (m *message) target() adapters.Target {
	t := adapters.Target{Chat: formatID(m.Chat.ID), Group: m.Chat.group()}
	switch {
	case m.IsTopic && m.Thread != 0:
		t.Thread = formatID(int64(m.Thread))
	case m.Chat.IsForum && m.Chat.group():
		t.Thread = generalTopic
	}
	return t
}

// person is who wrote. Whoever writes as a chat, an anonymous admin or a channel, is that chat: the account named in
// "from" is then a stand-in that all of them share.
func (m *message) person() adapters.Person {
	if m.Sender != nil {
		name := cmp.Or(m.Sender.Title, m.Sender.FirstName)
		return adapters.Person{ID: formatID(m.Sender.ID), Name: name, User: m.Sender.Username}
	}
	if m.From == nil {
		return adapters.Person{}
	}
	return personOf(*m.From)
}

func personOf(u models.User) adapters.Person {
	return adapters.Person{ID: formatID(u.ID), Name: strings.TrimSpace(u.FirstName + " " + u.LastName), User: u.Username,
		Bot: u.IsBot, Lang: u.LanguageCode}
}

func when(unix int64) time.Time { return time.Unix(unix, 0).UTC() }

func press(q *callback) adapters.Inbound {
	in := adapters.Inbound{Kind: adapters.KindPress, From: personOf(q.From), Data: q.Data, PressID: q.ID, Mentioned: true}
	if m := q.Message; m != nil {
		in.Target, in.Message, in.Group = m.target(), formatID(int64(m.ID)), m.Chat.group()
	}
	return in
}

func (c *memberChange) inbound() adapters.Inbound {
	gone := c.New.Status == "kicked" || c.New.Status == "left" || c.New.IsMember != nil && !*c.New.IsMember
	return adapters.Inbound{Kind: adapters.KindService, Target: adapters.Target{Chat: formatID(c.Chat.ID), Group: c.Chat.group()},
		From: personOf(c.From), Group: c.Chat.group(), Sent: when(c.Date), Unreachable: gone}
}

// inbound of a pressed stop button: Telegram names the chat and the draft, and no person; drafts are for one person's
// private chat, whose id is the person's.
func (s *stopped) inbound() adapters.Inbound {
	m := message{Chat: s.Chat, Thread: s.Thread, IsTopic: s.Thread != 0}
	in := adapters.Inbound{Kind: adapters.KindStop, Target: m.target(), Group: s.Chat.group(), Data: formatID(s.Draft), Mentioned: true}
	if !in.Group {
		in.From = adapters.Person{ID: in.Target.Chat}
	}
	return in
}

// reply is what a message answers. In a topic everything answers the message that made the topic: that is none.
func (me identity) reply(m *message) *adapters.Reply {
	r := &adapters.Reply{}
	switch to := m.ReplyTo; {
	case to != nil && to.TopicCreated == nil:
		text, _ := to.content()
		r.Message, r.Author = formatID(int64(to.ID)), to.person().Name
		r.Text = cmp.Or(text, to.kindWords())
		r.Own = to.From != nil && to.From.ID == me.id && to.Sender == nil
	case m.ExternalReply == nil:
		return nil
	}
	if m.Quote != nil {
		r.Quote = m.Quote.Text
	}
	if *r == (adapters.Reply{}) {
		return nil
	}
	return r
}
