// Package providertest is the suite every provider passes, and a scripted model server to pass it against.
package providertest

import (
	"net/http"

	"bellhop/core/provider"
)

// Request is one recorded model call.
type Request struct {
	provider.Request
	Header http.Header
	Body   []byte
	Stream bool
}

// Step is one piece of a Reply.
type Step struct{}

// Reply is what the model does with one request.
type Reply []Step

// Rule answers a request, or passes with nil.
type Rule func(r *Request) Reply

// Server is a scripted model server. It is an http.Handler and safe for concurrent use.
type Server struct{}

// New returns a Server that speaks chat completions.
func New(rules ...Rule) *Server { return &Server{} }

// Script queues replies; each answers one request, before any rule.
func (s *Server) Script(replies ...Reply) {}

// Requests returns what was asked, oldest first.
func (s *Server) Requests() []*Request { return nil }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// Pipe returns a client whose connections reach the server without a network, so that it works in a synctest bubble.
// stop closes them all and waits.
func (s *Server) Pipe() (client *http.Client, stop func()) { return &http.Client{}, func() {} }

// Listen serves on a loopback port and returns the base URL, ending in /v1.
func (s *Server) Listen() (url string, stop func(), err error) { return "", func() {}, nil }
