package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"strconv"
	"time"

	"bellhop/adapters/telegram/telegramtest"
)

//go:embed page
var assets embed.FS

// coalesce is the least time between two states that are sent: a fast stream need not be painted delta by delta.
const coalesce = 40 * time.Millisecond

const maxAct = 24 << 20

// newPage serves the page, its events and its deeds.
func newPage(w *world) http.Handler {
	files, err := fs.Sub(assets, "page")
	if err != nil {
		panic(err) // the directory is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /events", w.events)
	for name, do := range deeds {
		mux.HandleFunc("POST /do/"+name, w.deed(do))
	}
	return guard(mux)
}

// guard keeps other sites' pages from using this one in a visitor's browser.
func guard(h http.Handler) http.Handler {
	check := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		check.Handler(h).ServeHTTP(w, r)
	})
}

// events sends the state of a chat at once and after every change, at most every coalesce.
func (w *world) events(rw http.ResponseWriter, r *http.Request) {
	c := w.chat(r.FormValue("chat"))
	rw.Header().Set("Content-Type", "text/event-stream")
	rw.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(rw)
	for r.Context().Err() == nil {
		changed := w.fake.Changed()
		b, err := json.Marshal(w.state(c))
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(rw, "data: %s\n\n", b); err != nil || out.Flush() != nil {
			return
		}
		if !pause(r, coalesce) {
			return
		}
		select {
		case <-changed:
		case <-time.After(time.Second): // typing ends by itself
		case <-r.Context().Done():
		}
	}
}

func pause(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// chat returns the chat with this id, the first one when there is none.
func (w *world) chat(id string) *telegramtest.Chat {
	n, _ := strconv.ParseInt(id, 10, 64)
	if c := w.fake.Chat(n); c != nil {
		return c
	}
	return w.fake.Chats()[0]
}

// act is what a person does on the page.
type act struct {
	Chat    string `json:"chat"`
	As      string `json:"as"`
	Text    string `json:"text"`
	Topic   int    `json:"topic"`
	ReplyTo int    `json:"reply_to"`
	Message int    `json:"message"`
	Data    string `json:"data"`
	File    []byte `json:"file"` // base64 in JSON
	Name    string `json:"name"`
}

// deeds are what a person can do.
var deeds = map[string]func(w *world, c *telegramtest.Chat, by telegramtest.Person, a act){
	"say": func(_ *world, c *telegramtest.Chat, by telegramtest.Person, a act) {
		p := telegramtest.Post{From: by, Text: a.Text, Topic: a.Topic, ReplyTo: a.ReplyTo}
		if len(a.File) > 0 {
			p.File = fileOf(a)
		}
		c.Post(p)
	},
	"edit":    func(_ *world, c *telegramtest.Chat, _ telegramtest.Person, a act) { c.Edit(a.Message, a.Text) },
	"delete":  func(_ *world, c *telegramtest.Chat, _ telegramtest.Person, a act) { c.Delete(a.Message) },
	"press":   func(_ *world, c *telegramtest.Chat, by telegramtest.Person, a act) { c.Press(by, a.Message, a.Data) },
	"stop":    func(_ *world, c *telegramtest.Chat, _ telegramtest.Person, _ act) { c.StopDraft() },
	"block":   func(_ *world, c *telegramtest.Chat, by telegramtest.Person, _ act) { c.Block(by) },
	"unblock": func(_ *world, c *telegramtest.Chat, by telegramtest.Person, _ act) { c.Unblock(by) },
	"trouble": func(w *world, _ *telegramtest.Chat, _ telegramtest.Person, a act) { w.trouble(a.Text) },
}

func fileOf(a act) *telegramtest.File {
	f := &telegramtest.File{Kind: "document", Name: a.Name, MIME: http.DetectContentType(a.File), Data: a.File}
	if kind, _, err := mime.ParseMediaType(f.MIME); err == nil && (kind == "image/png" || kind == "image/jpeg") {
		f.Kind = "photo"
	}
	return f
}

// trouble is what the platform can do to a gateway.
func (w *world) trouble(kind string) {
	switch kind {
	case "flood":
		w.fake.Fail(telegramtest.Fault{Status: 429, RetryAfter: 5, Text: "Too Many Requests: retry after 5"})
	case "lost":
		w.fake.Fail(telegramtest.Fault{Method: "sendMessage", Lost: true})
	case "slow":
		w.fake.Fail(telegramtest.Fault{Times: 5, Delay: 3 * time.Second})
	case "down":
		w.fake.Fail(telegramtest.Fault{Times: 10, Status: 502, Body: "<html>Bad Gateway</html>"})
		w.fake.Fail(telegramtest.Fault{Method: "getUpdates", Times: 5, Status: 502, Body: "<html>Bad Gateway</html>"})
		w.fake.Cut()
	case "heal":
		w.fake.Heal()
	}
}

func (w *world) deed(do func(*world, *telegramtest.Chat, telegramtest.Person, act)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		var a act
		if err := json.NewDecoder(http.MaxBytesReader(rw, r.Body, maxAct)).Decode(&a); err != nil {
			http.Error(rw, "not understood", http.StatusBadRequest)
			return
		}
		by := w.people[0]
		for _, p := range w.people {
			if formatID(p.ID) == a.As {
				by = p
			}
		}
		do(w, w.chat(a.Chat), by, a)
		rw.WriteHeader(http.StatusNoContent)
	}
}
