package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/provider"
	"bellhop/core/provider/openai"
	pt "bellhop/core/provider/providertest"
)

func hello() provider.Request {
	return provider.Request{Model: "m", Messages: []provider.Message{{Role: core.RoleUser, Text: "hello"}}}
}

// scripted starts a server with one reply and a provider in front of it.
func scripted(t *testing.T, o openai.Options, reply ...pt.Step) (*pt.Server, *openai.Provider) {
	t.Helper()
	s := pt.New(func(*pt.Request) pt.Reply { return reply })
	client, stop := s.Pipe()
	t.Cleanup(stop)
	o.BaseURL, o.Client = pt.PipeURL, client
	return s, openai.New(o)
}

func gather(t *testing.T, p provider.Provider, r provider.Request) (*provider.Reply, error) {
	t.Helper()
	return provider.Gather(p.Stream(t.Context(), r))
}

func chunk(delta, finish string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m2","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":` + finish + "}]}\n\n"
}

func TestOddStreams(t *testing.T) {
	const done = "data: [DONE]\n\n"
	rune2 := chunk(`{"content":"wörld"}`, "null")
	cut := strings.Index(rune2, "ö") + 1
	crlf := strings.ReplaceAll(strings.Replace(rune2, "data: ", "data:", 1), "\n", "\r\n")
	for name, c := range map[string]struct {
		raw    []string
		text   string
		finish provider.Finish
	}{
		"a rune in two reads":            {[]string{rune2[:cut], rune2[cut:], done}, "wörld", provider.FinishStop},
		"CRLF and no blank and comments": {[]string{": ping\r\n\r\n", crlf, ": ping\r\n", "data:[DONE]\r\n\r\n"}, "wörld", provider.FinishStop},
		"200 KB":                         {[]string{chunk(`{"content":"`+strings.Repeat("x", 200<<10)+`"}`, `"stop"`)}, strings.Repeat("x", 200<<10), provider.FinishStop},
		"finish reason, no end mark":     {[]string{chunk(`{"content":"a"}`, "null"), chunk(`{}`, `"length"`)}, "a", provider.FinishLength},
		"end mark, no finish reason":     {[]string{chunk(`{"content":"a"}`, "null"), done}, "a", provider.FinishStop},
		"end mark without a blank line":  {[]string{chunk(`{"content":"a"}`, "null"), "data: [DONE]"}, "a", provider.FinishStop},
		"one line end between events":    {[]string{strings.TrimSuffix(chunk(`{"content":"a"}`, "null"), "\n"), strings.TrimSuffix(chunk(`{"content":"b"}`, `"stop"`), "\n"), done}, "ab", provider.FinishStop},
		"empty choices, unknown events":  {[]string{"data: {\"choices\":[]}\n\n", "event: moderation\ndata: {\"object\":\"moderation\",\"x\":[1]}\n\n", chunk(`{"content":"a"}`, `"stop"`), done}, "a", provider.FinishStop},
		"another choice":                 {[]string{"data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}]}\n\n", chunk(`{"content":"a"}`, `"stop"`), done}, "a", provider.FinishStop},
		"wrong types":                    {[]string{`data: {"choices":[{"index":"0","delta":{"content":5,"refusal":1}}],"created":"x"}` + "\n\n", chunk(`{"content":"a"}`, `"stop"`), done}, "a", provider.FinishStop},
		"a refusal":                      {[]string{chunk(`{"refusal":"I can't."}`, `"stop"`), done}, "I can't.", provider.FinishStop},
		"unknown finish reason":          {[]string{chunk(`{"content":"a"}`, `"eos"`), done}, "a", provider.FinishStop},
		"message instead of delta":       {[]string{`data: {"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n", done}, "a", provider.FinishStop},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := scripted(t, openai.Options{}, pt.Raw(c.raw...), pt.Quit())
			r, err := gather(t, p, hello())
			if err != nil || r.Text() != c.text || r.Done.Finish != c.finish {
				t.Errorf("%q %+v %v", r.Text(), r.Done, err)
			}
		})
	}
}

func TestThinkPolicies(t *testing.T) {
	for _, c := range []struct {
		policy          openai.Think
		in              string
		text, reasoning string
	}{
		{openai.ThinkAuto, "<think>a</think>b", "b", "a"},
		{openai.ThinkAuto, "plan…</think>Answer", "Answer", "plan…"},
		{openai.ThinkOpen, "plan…</think>Answer", "Answer", "plan…"},
		{openai.ThinkAuto, "<think>never closed", "", "never closed"},
		{openai.ThinkAny, "x <think>a</think>b", "x b", "a"},
		{openai.ThinkOff, "<think>a</think>b", "<think>a</think>b", ""},
	} {
		_, p := scripted(t, openai.Options{Think: c.policy}, pt.Text(strings.SplitAfter(c.in, "")...))
		r, err := gather(t, p, hello())
		if err != nil || r.Text() != c.text || r.Reasoning() != c.reasoning {
			t.Errorf("%q %s: text %q, reasoning %q, %v", c.policy, c.in, r.Text(), r.Reasoning(), err)
		}
	}
	_, p := scripted(t, openai.Options{}, pt.Think("hm"), pt.Text("a tag: </think> is a closer"))
	if r, err := gather(t, p, hello()); err != nil || r.Text() != "a tag: </think> is a closer" {
		t.Errorf("beside a reasoning field: %q %v", r.Text(), err)
	}
}

// TestSilentTail: once the finish reason is there, an endpoint that then hangs costs 5 s, not the reply.
func TestSilentTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := scripted(t, openai.Options{}, pt.Text("whole"), pt.Raw(chunk(`{}`, `"stop"`)), pt.Hang())
		begin := time.Now()
		r, err := gather(t, p, hello())
		if err != nil || r.Text() != "whole" || !r.Done.Usage.Estimated || time.Since(begin) > 6*time.Second {
			t.Errorf("%q %+v %v after %v", r.Text(), r.Done, err, time.Since(begin))
		}
	})
}

func TestLearnsRefusedFields(t *testing.T) {
	var bodies []string
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		for _, field := range []string{"stream_options", "max_completion_tokens"} {
			if strings.Contains(string(b), field) {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":{"message":"Unrecognized request argument supplied: %s"}}`, field)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	})
	s := httptest.NewServer(refuse)
	defer s.Close()
	p := openai.New(openai.Options{BaseURL: s.URL + "/v1/", Client: s.Client()})
	r := hello()
	r.MaxOutput = 10
	for range 2 {
		if _, err := gather(t, p, r); provider.KindOf(err) != provider.Transport {
			t.Fatalf("%v, want one that is tried again", err)
		}
	}
	got, err := gather(t, p, r) // the endpoint answers at once although a stream was asked for
	if err != nil || got.Text() != "ok" || got.Done.Usage.Input != 3 {
		t.Errorf("%q %+v %v", got.Text(), got.Done, err)
	}
	if last := bodies[len(bodies)-1]; !strings.Contains(last, `"max_tokens":10`) || len(bodies) != 3 {
		t.Errorf("%d calls, the last %s", len(bodies), last)
	}
}

func TestEcho(t *testing.T) {
	s, p := scripted(t, openai.Options{Echo: "reasoning_content"}, pt.Text("x"))
	r := hello()
	r.Messages = append(r.Messages, provider.Message{Role: core.RoleAssistant, Text: "a", Reasoning: "because"}, provider.Message{Role: core.RoleUser, Text: "b"})
	if _, err := gather(t, p, r); err != nil {
		t.Fatal(err, s.Problems())
	}
	if got := s.Requests()[0].Messages[1].Reasoning; got != "because" {
		t.Errorf("%q", got)
	}
}

func TestLimits(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"id":"local","max_model_len":4096},{"id":"gpt-4o","context_length":1000}]}`)
	}))
	defer s.Close()
	p := openai.New(openai.Options{BaseURL: s.URL, Client: s.Client(), Limits: map[string]provider.Limits{"mine": {Window: 7}}})
	if err := p.Probe(t.Context(), "local"); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]provider.Limits{
		"mine": {Window: 7}, "local": {Window: 4096}, "other": {}, "gpt-4o": {Window: 1000, Output: 16384, Vision: true},
		"openai/gpt-4o-2026": {Window: 128000, Output: 16384, Vision: true},
	} {
		if got := p.Limits(model); got != want {
			t.Errorf("%s: %+v", model, got)
		}
	}
}

func TestNoRedirects(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	client := openai.NewClient()
	defer client.CloseIdleConnections()
	_, err := gather(t, openai.New(openai.Options{BaseURL: s.URL, Client: client}), hello())
	if provider.KindOf(err) != provider.BadRequest || asked.Load() != 0 {
		t.Errorf("%v, %d", err, asked.Load())
	}
}

// TestManyStreams holds 200 streams open at once over loopback, three times: the second and third round open no new
// connections.
func TestManyStreams(t *testing.T) {
	const n = 200
	var opened atomic.Int32
	var gate atomic.Pointer[chan struct{}]
	model := pt.New(func(*pt.Request) pt.Reply { return pt.Reply{pt.Text("a"), pt.Until(*gate.Load()), pt.Text("b")} })
	s := httptest.NewUnstartedServer(model)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	client := openai.NewClient()
	defer client.CloseIdleConnections()
	p := openai.New(openai.Options{BaseURL: s.URL + "/v1", Client: client})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 3 {
		open := make(chan struct{})
		gate.Store(&open)
		started, ended := make(chan struct{}, n), make(chan error, n)
		for range n {
			go func() {
				var text string
				for part, err := range p.Stream(ctx, hello()) {
					if err != nil {
						ended <- err
						return
					}
					if text += part.Text; part.Text == "a" {
						started <- struct{}{}
					}
				}
				if text != "ab" {
					ended <- fmt.Errorf("text %q", text)
					return
				}
				ended <- nil
			}()
		}
		for range n {
			select {
			case <-started:
			case err := <-ended:
				t.Fatal(err)
			}
		}
		close(open)
		for range n {
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := opened.Load(); got > n+n/4 { // a busy machine may miss the 50 ms in which a body's end is read
		t.Errorf("%d connections for three rounds of %d streams", got, n)
	}
}

// FuzzStream plays any bytes as an endpoint's answer: the stream ends exactly once, with Done or with a *provider.Error,
// and calls can be stored.
func FuzzStream(f *testing.F) {
	f.Add([]byte(chunk(`{"content":"a","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}`, `"stop"`)+"data: [DONE]\n\n"), false)
	f.Add([]byte("data: {\"error\":{\"message\":\"x\"}}\n\n"), false)
	f.Add([]byte(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`), true)
	f.Fuzz(func(t *testing.T, body []byte, whole bool) {
		p := openai.New(openai.Options{BaseURL: "http://x/v1", Client: &http.Client{Transport: canned(body)}})
		r := hello()
		r.NoStream = whole
		ends := 0
		for part, err := range p.Stream(t.Context(), r) {
			var known *provider.Error
			if err != nil && !errors.As(err, &known) {
				t.Errorf("%T", err)
			}
			if err != nil || part.Done != nil {
				ends++
			}
			if part.Call != nil && (!json.Valid(part.Call.Args) || part.Call.ID == "") {
				t.Errorf("%+v", part.Call)
			}
		}
		if ends != 1 {
			t.Errorf("the stream ended %d times", ends)
		}
	})
}

// BenchmarkStream measures a whole reply of 1000 tokens, from a connection that costs nothing to the parts.
func BenchmarkStream(b *testing.B) {
	const n = 1000
	body := strings.Repeat(chunk(`{"content":" porter"}`, "null"), n) + chunk(`{}`, `"stop"`) + "data: [DONE]\n\n"
	client := &http.Client{Transport: canned(body)}
	p := openai.New(openai.Options{BaseURL: "http://x/v1", Client: client})
	b.ReportAllocs()
	for b.Loop() {
		parts := 0
		for _, err := range p.Stream(b.Context(), hello()) {
			if err != nil {
				b.Fatal(err)
			}
			parts++
		}
		if parts != n+1 {
			b.Fatal(parts)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/token")
}

type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	kind := "text/event-stream"
	if strings.HasPrefix(string(c), "{") {
		kind = "application/json"
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}
