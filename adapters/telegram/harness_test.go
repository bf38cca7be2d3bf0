package telegram_test

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"bellhop/adapters"
	"bellhop/adapters/adaptertest"
	"bellhop/adapters/telegram"
	"bellhop/adapters/telegram/telegramtest"
)

func TestSuite(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness { return newHarness(t) })
}

// harness puts the fake behind the suite.
type harness struct {
	t     *testing.T
	fake  *telegramtest.Server
	ann   telegramtest.Person
	dm    *telegramtest.Chat
	group *telegramtest.Chat
	forum *telegramtest.Chat
	topic int
	open  func() (adapters.Adapter, error)
}

func newHarness(t *testing.T) *harness {
	nowhere := tripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("nobody is there") })
	fake := telegramtest.New(telegramtest.Options{Hook: &http.Client{Transport: nowhere}})
	client := telegramtest.Client(t, fake)
	h := &harness{t: t, fake: fake, ann: fake.Person("Ann"), group: fake.Group("Ops"), forum: fake.Forum("Dev")}
	h.dm, h.topic = fake.DM(h.ann), h.forum.Topic("builds")
	h.open = func() (adapters.Adapter, error) {
		return telegram.New("telegram", telegram.Config{Token: telegram.Secret(fake.Bot().Token), APIURL: "http://telegram.test"},
			telegram.Options{Client: client})
	}
	return h
}

func (h *harness) Open() (adapters.Adapter, error) { return h.open() }

func (h *harness) Caps() adaptertest.Caps {
	return adaptertest.Caps{Edit: true, Delete: true, Typing: true, React: true, Upload: true, Fetch: true, Press: true, Menu: true,
		Mount: true, Probe: true, Draft: true, Trace: true, Threads: true, Replies: true, Buttons: true}
}

func (h *harness) DM() adapters.Target { return target(h.dm, 0) }

func (h *harness) Group() adapters.Target { return target(h.group, 0) }

func (h *harness) Topic() adapters.Target { return target(h.forum, h.topic) }

func (h *harness) Bot() string { return "@" + h.fake.Bot().Username }

func target(c *telegramtest.Chat, topic int) adapters.Target {
	t := adapters.Target{Chat: strconv.FormatInt(c.ID, 10), Group: c.Type != "private"}
	if topic != 0 {
		t.Thread = strconv.Itoa(topic)
	}
	return t
}

func (h *harness) chat(to adapters.Target) *telegramtest.Chat {
	id, _ := strconv.ParseInt(to.Chat, 10, 64)
	return h.fake.Chat(id)
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

func (h *harness) Deliver(a adaptertest.Act) string {
	c := h.chat(a.In)
	switch a.Kind {
	case adapters.KindEdit:
		c.Edit(number(a.Message), a.Text)
		return a.Message
	case adapters.KindPress:
		c.Press(h.ann, number(a.Message), a.Data)
		return a.Message
	}
	p := telegramtest.Post{From: h.ann, Text: a.Text, Topic: number(a.In.Thread), ReplyTo: number(a.ReplyTo)}
	if a.Bot {
		p.From = telegramtest.Person{ID: 900, Name: "Robo", Username: "robo_bot", Bot: true}
	}
	if a.File != nil {
		p.File = &telegramtest.File{Kind: "document", Name: "notes.txt", MIME: "text/plain", Data: a.File}
	}
	return strconv.Itoa(c.Post(p))
}

func (h *harness) Unacknowledged() int { return h.fake.Waiting() }

func (h *harness) Visible(to adapters.Target) []adaptertest.Seen {
	var out []adaptertest.Seen
	for _, m := range h.chat(to).Said() {
		s := adaptertest.Seen{ID: strconv.Itoa(m.ID), Text: m.Text, Edits: m.Edits, React: m.Reaction}
		for _, row := range m.Buttons {
			for _, b := range row {
				s.Buttons = append(s.Buttons, b.Data)
			}
		}
		if m.ReplyTo != 0 {
			s.ReplyTo = strconv.Itoa(m.ReplyTo)
		}
		if m.Topic != 0 {
			s.Thread = strconv.Itoa(m.Topic)
		}
		if m.File != nil {
			s.File = m.File.Kind
		}
		out = append(out, s)
	}
	return out
}

func (h *harness) Typing(to adapters.Target) bool { return h.chat(to).Typing() }

func (h *harness) Toasts(to adapters.Target) []string { return h.chat(to).Toasts() }

func (h *harness) FailNext(f adaptertest.Failure) {
	h.fake.Fail(map[adaptertest.Failure]telegramtest.Fault{
		adaptertest.FailLimited: {Status: 429, Text: "Too Many Requests: retry after 7", RetryAfter: 7},
		adaptertest.FailServer:  {Status: 503},
		adaptertest.FailDrop:    {Drop: true},
		adaptertest.FailLost:    {Lost: true},
		adaptertest.FailMarkup:  {Status: 400, Text: "Bad Request: can't parse entities: Unmatched end tag at byte offset 3"},
		adaptertest.FailForeign: {Status: 502, Body: "<html>Bad Gateway</html>"},
	}[f])
}

func (h *harness) Cut() { h.fake.Cut() }

func (h *harness) Revoke() { h.fake.Revoke() }

func (h *harness) Block() { h.dm.Block(h.ann) }

func (h *harness) Secrets() []string {
	token := h.fake.Bot().Token
	_, secret, _ := strings.Cut(token, ":")
	return []string{token, secret, url.QueryEscape(token), url.PathEscape(token)}
}
