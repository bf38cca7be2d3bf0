package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"bellhop/adapters/telegram/telegramtest"
)

var peopleVerbs = map[string]verb{
	"say":       (*story).say,
	"edit":      (*story).edit,
	"delete":    (*story).remove,
	"paste":     (*story).paste,
	"album":     (*story).album,
	"file":      (*story).file,
	"press":     (*story).pressLabel,
	"sees":      (*story).sees,
	"sees-once": (*story).seesOnce,
	"never":     (*story).never,
	"toast":     (*story).toast,
	"picture":   (*story).picture,
	"note":      (*story).note,
}

// person returns somebody by name. Names of bots begin with Bot.
func (s *story) person(name string) telegramtest.Person {
	if name == s.owner.Name {
		return s.owner
	}
	if s.people == nil {
		s.people = map[string]telegramtest.Person{}
	}
	p, ok := s.people[name]
	if !ok {
		p = s.tg.Person(name)
		p.Bot = strings.HasPrefix(name, "Bot")
		s.people[name] = p
	}
	return p
}

// at is where somebody is.
type at struct {
	who   telegramtest.Person
	chat  *telegramtest.Chat
	topic int
}

// find reads "WHO [in PLACE]" off the front of args.
func (s *story) find(args []string) (at, []string, error) {
	if len(args) == 0 {
		return at{}, nil, fmt.Errorf("who?")
	}
	a := at{who: s.person(args[0])}
	args = args[1:]
	if len(args) < 2 || args[0] != "in" {
		a.chat = s.tg.DM(a.who)
		return a, args, nil
	}
	a.chat, a.topic = s.place(args[1])
	return a, args[2:], nil
}

// place returns a group, or a topic of a forum; what is not there yet is made.
func (s *story) place(name string) (*telegramtest.Chat, int) {
	title, topic, forum := strings.Cut(name, "/")
	var chat *telegramtest.Chat
	for _, c := range s.tg.Chats() {
		if c.Title == title && c.Type != "private" {
			chat = c
		}
	}
	switch {
	case chat == nil && forum:
		chat = s.tg.Forum(title)
	case chat == nil:
		chat = s.tg.Group(title)
	}
	if !forum || topic == "General" {
		return chat, 0
	}
	for id, t := range chat.Topics() {
		if t == topic {
			return chat, id
		}
	}
	return chat, chat.Topic(topic)
}

// here are the messages of a place, in order.
func (a at) here() []telegramtest.Shown {
	var out []telegramtest.Shown
	for _, m := range a.chat.Visible() {
		if !a.chat.Forum || m.Topic == a.topic {
			out = append(out, m)
		}
	}
	return out
}

func (a at) said() []string {
	var out []string
	for _, m := range a.here() {
		if m.Own {
			out = append(out, m.Text)
		}
	}
	return out
}

// message is the newest message there that matches.
func (a at) message(expr string) (telegramtest.Shown, error) {
	p, err := pattern(expr)
	if err != nil {
		return telegramtest.Shown{}, err
	}
	list := a.here()
	for i := len(list) - 1; i >= 0; i-- {
		if p.MatchString(list[i].Text) {
			return list[i], nil
		}
	}
	return telegramtest.Shown{}, fmt.Errorf("there is no message %q:%s", expr, a.screen())
}

func (a at) screen() string {
	var b strings.Builder
	for _, m := range a.here() {
		fmt.Fprintf(&b, "\n  %s: %q", m.From, m.Text)
		for _, row := range m.Buttons {
			for _, x := range row {
				fmt.Fprintf(&b, " <%s>", x.Text)
			}
		}
	}
	return b.String()
}

func (s *story) say(_ *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	p := telegramtest.Post{From: a.who, Topic: a.topic}
	for len(args) > 2 {
		switch args[0] {
		case "to":
			m, err := a.message(args[1])
			if err != nil {
				return err
			}
			p.ReplyTo = m.ID
		case "quote":
			p.Quote = args[1]
		default:
			return fmt.Errorf("%q is neither to nor quote", args[0])
		}
		args = args[2:]
	}
	if len(args) != 1 {
		return fmt.Errorf("usage: say WHO [in PLACE] [to REGEXP] [quote TEXT] TEXT")
	}
	p.Text = args[0]
	a.chat.Post(p)
	return nil
}

func (s *story) edit(_ *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if err := needs(args, 2, "edit WHO [in PLACE] OLD NEW"); err != nil {
		return err
	}
	m, err := a.message(args[0])
	if err == nil {
		a.chat.Edit(m.ID, args[1])
	}
	return err
}

func (s *story) remove(_ *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if err := needs(args, 1, "delete WHO [in PLACE] REGEXP"); err != nil {
		return err
	}
	m, err := a.message(args[0])
	if err == nil {
		a.chat.Delete(m.ID)
	}
	return err
}

// clientLimit is where Telegram's apps cut what somebody pastes.
const clientLimit = 4096

func (s *story) paste(ts *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if err := needs(args, 1, "paste WHO FILE"); err != nil {
		return err
	}
	text := []rune(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"))
	for len(text) > 0 {
		n := min(len(text), clientLimit)
		a.chat.Post(telegramtest.Post{From: a.who, Topic: a.topic, Text: string(text[:n])})
		text = text[n:]
	}
	return nil
}

// pixel is the smallest picture there is.
const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"

func (s *story) album(_ *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	for _, caption := range args {
		a.chat.Post(telegramtest.Post{From: a.who, Topic: a.topic, Text: caption, Album: "album1",
			File: &telegramtest.File{Kind: "photo", Data: []byte(pixel)}})
	}
	return nil
}

func (s *story) file(ts *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if err := needs(args, 3, "file WHO [in PLACE] KIND NAME FILE [CAPTION]"); err != nil {
		return err
	}
	data, err := os.ReadFile(ts.MkAbs(args[2]))
	if err != nil {
		return err
	}
	p := telegramtest.Post{From: a.who, Topic: a.topic, File: &telegramtest.File{Kind: args[0], Name: args[1], Data: data}}
	if len(args) > 3 {
		p.Text = args[3]
	}
	a.chat.Post(p)
	return nil
}

func (s *story) pressLabel(_ *testscript.TestScript, args []string) error {
	a, args, err := s.find(args)
	if err != nil {
		return err
	}
	if err := needs(args, 1, "press WHO [in PLACE] LABEL"); err != nil {
		return err
	}
	s.look = a.screen
	return s.wait("a button "+args[0], func() bool {
		list := a.here()
		for i := len(list) - 1; i >= 0; i-- {
			for _, row := range list[i].Buttons {
				for _, b := range row {
					if b.Text == args[0] {
						a.chat.Press(a.who, list[i].ID, b.Data)
						return true
					}
				}
			}
		}
		return false
	})
}
