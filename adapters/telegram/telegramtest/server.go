package telegramtest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bot is the account that the server keeps.
type Bot struct {
	ID       int64
	Token    string
	Name     string
	Username string
}

// DefaultBot is the account of a server that is not told otherwise.
var DefaultBot = Bot{ID: 4242, Token: "4242:AAFakeFakeFakeFakeFakeFakeFakeFakex", Name: "Bell", Username: "bell_bot"}

// Options set a server up; the zero value is DefaultBot without rate limits.
type Options struct {
	Bot    Bot
	Limits Limits
	// Hook delivers webhooks; nil: http.DefaultClient. HookPause is the first pause after a failed delivery, default 1 s.
	Hook      *http.Client
	HookPause time.Duration
}

// Server is the Bot API of one bot: an http.Handler. Safe for concurrent use.
type Server struct {
	bot  Bot
	api  *digest
	hook *http.Client
	// pause is the first one after a failed webhook delivery.
	pause time.Duration

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced whenever anything changes
	people     map[int64]Person
	chats      map[int64]*Chat
	order      []*Chat
	files      map[string]*File
	nextID     int
	queue      queue
	webhook    *webhook
	limit      limiter
	faults     []*Fault
	calls      []Call
	violations []string
	presses    map[string]*press
	menus      map[string][]Command
	revoked    bool
	tooOld     time.Duration
}

// New returns a server without chats. Where webhooks are wanted, Run must run.
func New(o Options) *Server {
	if o.Bot == (Bot{}) {
		o.Bot = DefaultBot
	}
	s := &Server{bot: o.Bot, api: loadDigest(), hook: o.Hook, pause: o.HookPause, changed: make(chan struct{}),
		people: map[int64]Person{}, chats: map[int64]*Chat{}, files: map[string]*File{}, presses: map[string]*press{},
		menus: map[string][]Command{}, nextID: 100, tooOld: 15 * time.Minute}
	if s.hook == nil {
		s.hook = http.DefaultClient
	}
	if s.pause == 0 {
		s.pause = time.Second
	}
	s.queue.next = 1000
	s.limit.Limits = o.Limits
	return s
}

// Bot returns the account.
func (s *Server) Bot() Bot { return s.bot }

// SetLimits changes the rate limits and forgets what was used of them.
func (s *Server) SetLimits(l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limiter{Limits: l}
}

// Revoke makes the token worthless: every call is answered with 401 from now on.
func (s *Server) Revoke() { s.mu.Lock(); defer s.mu.Unlock(); s.revoked = true }

// Changed returns a channel that is closed at the next change of anything a person could see, or of the queue.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// touch tells of a change. Called with s.mu held.
func (s *Server) touch() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Call is one request as the server saw it.
type Call struct {
	At      time.Time
	Method  string
	Args    map[string]string // as sent; structured ones as JSON
	Chat    int64
	Message int // that was made or changed
	Code    int // of the answer; 0 when the connection was broken
	Error   string
}

const keptCalls = 20_000

func (s *Server) note(c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) >= keptCalls {
		s.calls = append(s.calls[:0], s.calls[keptCalls/2:]...)
	}
	s.calls = append(s.calls, c)
}

// Calls returns the calls so far, of one method or, with "", of all but getUpdates.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if c.Method == method || method == "" && c.Method != "getUpdates" {
			out = append(out, c)
		}
	}
	return out
}

// Violations returns how requests differed from the vendor's description.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.violations...)
}

func (s *Server) violate(method string, found []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range found {
		s.violations = append(s.violations, method+": "+f)
	}
}

// ServeHTTP answers /bot<token>/<method> and /file/bot<token>/<path>.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rest, ok := strings.CutPrefix(r.URL.Path, "/file/bot"); ok {
		token, path, _ := strings.Cut(rest, "/")
		s.serveFile(w, token, path)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/bot")
	token, name, _ := strings.Cut(rest, "/")
	if err := s.admit(token); !ok || err != nil {
		if err == nil {
			err = &refusal{code: 404, text: "Not Found"}
		}
		err.write(w)
		return
	}
	a, err := readArgs(r)
	if err != nil {
		(&refusal{code: 400, text: "Bad Request: " + err.Error()}).write(w)
		return
	}
	m, ok := methods[lower(name)]
	if !ok {
		s.violate(name, []string{"no such method in this fake"})
		(&refusal{code: 404, text: "Not Found: method not found"}).write(w)
		return
	}
	s.violate(m.name, s.api.check(m.name, a))
	s.serve(w, r, m, a)
}

// admit checks the token as the real server does: one of the wrong form is an unknown address.
func (s *Server) admit(token string) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token == s.bot.Token && !s.revoked {
		return nil
	}
	if id, secret, ok := strings.Cut(token, ":"); !ok || id == "" || secret == "" || strings.Trim(id, "0123456789") != "" {
		return &refusal{code: 404, text: "Not Found"}
	}
	return &refusal{code: 401, text: "Unauthorized"}
}

// serve carries out one call with whatever faults are planted for it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, m method, a args) {
	c := &call{Call: Call{At: time.Now(), Method: m.name, Args: a.plain(), Chat: a.int("chat_id")}, args: a, ctx: r.Context()}
	f := s.fault(m.name, c.Chat)
	if f.wait(r.Context()) != nil {
		return
	}
	if f != nil && f.Drop {
		s.note(c.Call)
		panic(http.ErrAbortHandler)
	}
	var result any
	ref := f.refusal()
	if ref == nil && (f == nil || f.Body == "") {
		result, ref = m.run(s, c)
	}
	if ref == brokenOff || f != nil && f.Lost {
		s.note(c.Call)
		panic(http.ErrAbortHandler)
	}
	if f != nil && f.Body != "" {
		c.Code = f.Status
		s.note(c.Call)
		w.WriteHeader(f.Status)
		fmt.Fprint(w, f.Body)
		return
	}
	c.Code = http.StatusOK
	if ref != nil {
		c.Code, c.Error = ref.code, ref.text
		s.note(c.Call)
		ref.write(w)
		return
	}
	s.note(c.Call)
	writeResult(w, result)
}
