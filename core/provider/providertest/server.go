package providertest

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"bellhop/core"
	"bellhop/core/provider"
)

const maxBody = 64 << 20

// Request is one recorded model call.
type Request struct {
	provider.Request
	Header http.Header
	Body   []byte
	Stream bool
	Usage  bool // the stream shall tell its usage
}

// Last returns the text of the last user message, "" when the last message is something else.
func (r *Request) Last() string {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == core.RoleUser {
		return r.Messages[n-1].Text
	}
	return ""
}

// Results returns the texts of the tool results at the end of the request.
func (r *Request) Results() []string {
	var out []string
	for _, m := range r.Messages {
		if m.Role != core.RoleTool {
			out = nil
			continue
		}
		out = append(out, m.Text)
	}
	return out
}

// Rule answers a request, or passes with nil. It may be called by several goroutines at once.
type Rule func(r *Request) Reply

// wire is a wire form as a server speaks it.
type wire interface {
	// read decodes a call. A refusal is what the real endpoint would answer to a malformed one.
	read(r *http.Request, body []byte) (*Request, *refusal)
	// play writes a reply.
	play(w http.ResponseWriter, r *http.Request, req *Request, reply Reply)
	// refuse writes an error answer.
	refuse(w http.ResponseWriter, f refusal)
	// models writes the list of models, or one of them.
	models(w http.ResponseWriter, ids []string, one string)
}

// refusal is an error answer.
type refusal struct {
	status          int
	code, typ, text string
	header          http.Header
}

// Server is a scripted model server. Set the fields before the first request. Its methods are safe for concurrent use.
type Server struct {
	Key       string   // bearer token that is demanded; empty: none
	Models    []string // that exist; nil: every name
	Unlisted  bool     // GET /models is not there
	Alternate bool     // neighbours of one role are refused, as some endpoints do

	wire wire
	rule []Rule

	mu       sync.Mutex
	script   []Reply
	requests []*Request
	kept     int // of the newest requests; 0: all
	problems []string
	open     int
}

// New returns a Server that speaks chat completions. The first rule that answers wins; after them all comes an echo.
func New(rules ...Rule) *Server { return &Server{wire: chat{}, rule: rules} }

// Script queues replies; each answers one request, before any rule.
func (s *Server) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// Keep makes the server forget all but at least the newest n requests: each holds a whole conversation.
func (s *Server) Keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = n
}

// Requests returns the well-formed calls so far, oldest first; of those that are kept.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

// Problems returns why calls were refused as malformed. A correct client leaves it empty.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

// Open returns how many replies are being written.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		s.wire.refuse(w, refusal{status: 401, code: "invalid_api_key", typ: "invalid_request_error",
			text: "Incorrect API key provided: " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + "."})
		return
	}
	if _, rest, ok := strings.Cut(r.URL.Path, "/models"); ok && r.Method == http.MethodGet && !s.Unlisted {
		s.list(w, strings.TrimPrefix(rest, "/"))
		return
	}
	if r.Method != http.MethodPost {
		s.wire.refuse(w, refusal{status: 404, typ: "invalid_request_error", text: "Unknown request URL"})
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the caller went away
	}
	req, bad := s.wire.read(r, body)
	if bad == nil {
		bad = s.check(req)
	}
	if bad != nil {
		s.mu.Lock()
		s.problems = append(s.problems, bad.text)
		s.mu.Unlock()
		s.wire.refuse(w, *bad)
		return
	}
	req.Header = r.Header.Clone()
	reply := s.next(req)
	defer s.ended()
	s.wire.play(w, r, req, reply)
}

func (s *Server) list(w http.ResponseWriter, one string) {
	if one != "" && !s.exists(one) {
		s.wire.refuse(w, noModel(one))
		return
	}
	s.wire.models(w, s.Models, one)
}

func (s *Server) exists(model string) bool {
	for _, m := range s.Models {
		if m == model {
			return true
		}
	}
	return s.Models == nil
}

func noModel(name string) refusal {
	return refusal{status: 404, code: "model_not_found", typ: "invalid_request_error",
		text: "The model `" + name + "` does not exist or you do not have access to it."}
}

func (s *Server) check(req *Request) *refusal {
	if !s.exists(req.Model) {
		f := noModel(req.Model)
		return &f
	}
	err := Legal(req.Request)
	if err == nil && s.Alternate {
		err = Alternates(req.Request)
	}
	if err != nil {
		return &refusal{status: 400, typ: "invalid_request_error", text: err.Error()}
	}
	return nil
}

// next records a request and chooses its reply. Rules run outside the lock: they may ask the server.
func (s *Server) next(req *Request) Reply {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	if n := len(s.requests) - s.kept; s.kept > 0 && n >= s.kept {
		clear(s.requests[:n])
		s.requests = append(s.requests[:0:0], s.requests[n:]...)
	}
	s.open++
	if len(s.script) > 0 {
		reply := s.script[0]
		s.script = s.script[1:]
		s.mu.Unlock()
		return reply
	}
	s.mu.Unlock()
	for _, rule := range s.rule {
		if reply := rule(req); reply != nil {
			return reply
		}
	}
	if results := req.Results(); len(results) > 0 {
		return Reply{Text("The tool said: ", results[len(results)-1])}
	}
	return Reply{Text("You said: ", req.Last())}
}

func (s *Server) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}
