package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"bellhop/adapters/telegram/telegramtest"
)

// state is everything the page shows of one chat, and the list of the others.
type state struct {
	Bot      string    `json:"bot"`
	Waiting  int       `json:"waiting"` // updates the gateway has not taken
	Chats    []room    `json:"chats"`
	Chat     string    `json:"chat"`
	Title    string    `json:"title"`
	Private  bool      `json:"private"`
	People   []person  `json:"people"` // who can write here
	Topics   []topic   `json:"topics"`
	Typing   bool      `json:"typing"`
	Draft    *draft    `json:"draft,omitempty"`
	Toast    string    `json:"toast"`
	Toasts   int       `json:"toasts"`
	Messages []message `json:"messages"`
	Commands []string  `json:"commands"`
}

type room struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Kind  string `json:"kind"`
	Last  string `json:"last"`
	Count int    `json:"count"`
}

type person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type topic struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

type draft struct {
	HTML string `json:"html"`
	Stop bool   `json:"stop"`
}

type message struct {
	ID       int                     `json:"id"`
	From     string                  `json:"from"`
	FromID   string                  `json:"from_id"`
	Own      bool                    `json:"own"` // the bot's
	HTML     string                  `json:"html"`
	Text     string                  `json:"text"`
	Time     string                  `json:"time"`
	Edits    int                     `json:"edits"`
	ReplyTo  int                     `json:"reply_to"`
	Topic    string                  `json:"topic"`
	File     string                  `json:"file"`
	Reaction string                  `json:"reaction"`
	Buttons  [][]telegramtest.Button `json:"buttons"`
}

// keep is how many messages the page shows.
const keep = 200

func (w *world) state(c *telegramtest.Chat) state {
	s := state{Bot: w.fake.Bot().Name, Waiting: w.fake.Waiting(), Chat: formatID(c.ID), Title: c.Title, Private: c.Type == "private",
		Typing: c.Typing(), Messages: []message{}, Commands: []string{}}
	for _, other := range w.fake.Chats() {
		s.Chats = append(s.Chats, roomOf(other))
	}
	for _, p := range w.people {
		if !s.Private || p.ID == c.ID {
			s.People = append(s.People, person{formatID(p.ID), p.Name})
		}
	}
	topics := c.Topics()
	for _, id := range slices.Sorted(maps.Keys(topics)) {
		s.Topics = append(s.Topics, topic{id, topics[id]})
	}
	if d, ok := c.Draft(); ok {
		s.Draft = &draft{render(cmp.Or(d.Text, "Thinking…"), nil), d.Stop}
	}
	if all := c.Toasts(); len(all) > 0 {
		s.Toast, s.Toasts = all[len(all)-1], len(all)
	}
	all := c.Visible()
	for _, m := range all[max(0, len(all)-keep):] {
		s.Messages = append(s.Messages, messageOf(m, topics))
	}
	for _, m := range w.fake.Menu("") {
		s.Commands = append(s.Commands, "/"+m.Command)
	}
	return s
}

func roomOf(c *telegramtest.Chat) room {
	r := room{ID: formatID(c.ID), Title: c.Title, Kind: c.Type}
	if c.Forum {
		r.Kind = "forum"
	}
	if all := c.Visible(); len(all) > 0 {
		m := all[len(all)-1]
		r.Last, r.Count = m.From+": "+firstLine(cmp.Or(m.Text, "file")), len(all)
	}
	return r
}

// firstLine is enough of a text for the list of chats.
func firstLine(s string) string {
	const most = 60
	for i, r := range []rune(s) {
		if r == '\n' || i == most {
			return string([]rune(s)[:i]) + "…"
		}
	}
	return s
}

func messageOf(m telegramtest.Shown, topics map[int]string) message {
	out := message{ID: m.ID, From: m.From, FromID: formatID(m.FromID), Own: m.Own, HTML: render(m.Text, m.Entities), Text: m.Text,
		Time: m.At.Format("15:04"), Edits: m.Edits, ReplyTo: m.ReplyTo, Topic: topics[m.Topic], Reaction: m.Reaction, Buttons: m.Buttons}
	if m.File != nil {
		out.File = m.File.Kind + " " + m.File.Name + " (" + strconv.FormatInt((m.File.Size+1023)/1024, 10) + " KB)"
	}
	return out
}

func formatID(n int64) string { return strconv.FormatInt(n, 10) }
