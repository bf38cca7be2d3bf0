package providertest

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"bellhop/core"
	"bellhop/core/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post sends a body to a server over pipes and returns status and answer.
func post(t *testing.T, s *Server, path, body string) (int, string) {
	t.Helper()
	client, stop := s.Pipe()
	defer stop()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, PipeURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

const (
	userHi = `{"role":"user","content":"hi"}`
	callA  = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	toolA  = `{"role":"tool","tool_call_id":"a","content":"A"}`
)

func body(messages ...string) string {
	return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
}

func TestStrict(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"fine":                    {body(userHi), 200, ""},
		"a whole round":           {body(userHi, callA, toolA, userHi), 200, ""},
		"content in parts":        {body(`{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}}]}`), 200, ""},
		"no JSON":                 {`{"model"`, 400, "parse"},
		"no model":                {`{"messages":[` + userHi + `]}`, 400, "model"},
		"no messages":             {body(), 400, "at least 1"},
		"an unknown field":        {`{"model":"m","messages":[` + userHi + `],"temprature":1}`, 400, "temprature"},
		"a wrong type":            {`{"model":"m","messages":[` + userHi + `],"stream":"yes"}`, 400, "stream"},
		"an unknown role":         {body(`{"role":"robot","content":"hi"}`), 400, "role"},
		"empty content":           {body(`{"role":"user","content":""}`), 400, "empty"},
		"null content":            {body(`{"role":"user","content":null}`), 400, "null"},
		"an empty assistant":      {body(userHi, `{"role":"assistant","content":""}`), 400, "none"},
		"a call without a result": {body(userHi, callA, userHi), 400, "tool_call_id"},
		"a call at the end":       {body(userHi, callA), 400, "did not have response"},
		"a result without a call": {body(userHi, toolA), 400, "preceding message"},
		"a result twice":          {body(userHi, callA, toolA, toolA), 400, "preceding message"},
		"an id twice":             {body(userHi, strings.Replace(callA, `}}]`, `}},{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]`, 1)), 400, "duplicate"},
		"a bad name":              {body(userHi, strings.Replace(callA, `"f"`, `"f.g"`, 1), toolA), 400, "does not match"},
		"bad arguments":           {body(userHi, strings.Replace(callA, `"{}"`, `"{"`, 1), toolA), 400, "not a JSON object"},
		"no type of a call":       {body(userHi, strings.Replace(callA, `"type":"function",`, ``, 1), toolA), 400, "type"},
		"a bad tool":              {`{"model":"m","messages":[` + userHi + `],"tools":[{"type":"function","function":{"name":"a b"}}]}`, 400, "does not match"},
		"a bad schema":            {`{"model":"m","messages":[` + userHi + `],"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"string"}}}]}`, 400, "object"},
		"stream options alone":    {`{"model":"m","messages":[` + userHi + `],"stream_options":{"include_usage":true}}`, 400, "stream_options"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New()
			status, answer := post(t, s, "/chat/completions", c.body)
			if status != c.status {
				t.Fatalf("status %d: %s", status, answer)
			}
			if status == 200 {
				return
			}
			if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], c.says) {
				t.Errorf("%q does not say %q", p, c.says)
			}
			if err := chatDigest.Check("ErrorResponse", []byte(answer)); err != nil {
				t.Errorf("%v: %s", err, answer)
			}
			if len(s.Requests()) > 0 {
				t.Error("a malformed call was recorded as a call")
			}
		})
	}
	s := New()
	s.Alternate = true
	if status, answer := post(t, s, "/chat/completions", body(userHi, userHi)); status != 400 || !strings.Contains(answer, "alternate") {
		t.Errorf("%d %s", status, answer)
	}
}

// TestFakeIsLegal holds what the server says to the vendor's description too.
func TestFakeIsLegal(t *testing.T) {
	reply := Reply{Text("a", "b"), Call("c1", "f", `{"x":1}`), Call("c2", "g", `{}`), Cost(core.Usage{Input: 1, Output: 2})}
	s := New()
	s.Script(reply, reply, Reply{Text("x"), Finish("length")})
	for range 2 {
		_, stream := post(t, s, "/chat/completions", `{"model":"m","messages":[`+userHi+`],"stream":true,"stream_options":{"include_usage":true}}`)
		chunks := 0
		for lines := bufio.NewScanner(strings.NewReader(stream)); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok || data == "[DONE]" {
				continue
			}
			chunks++
			if err := chatDigest.Check("CreateChatCompletionStreamResponse", []byte(data)); err != nil {
				t.Errorf("%v: %s", err, data)
			}
		}
		if chunks < 8 || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
			t.Errorf("%d chunks: %s", chunks, stream)
		}
	}
	_, whole := post(t, s, "/chat/completions", body(userHi))
	if err := chatDigest.Check("CreateChatCompletionResponse", []byte(whole)); err != nil {
		t.Errorf("%v: %s", err, whole)
	}
}

func TestModels(t *testing.T) {
	s := New()
	s.Models = []string{"a", "b"}
	url, stop, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	defer http.DefaultClient.CloseIdleConnections()
	for path, want := range map[string]struct {
		status int
		typ    string
	}{"/models": {200, "ListModelsResponse"}, "/models/a": {200, "Model"}, "/models/x": {404, "ErrorResponse"}, "/nothing": {404, "ErrorResponse"}} {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want.status {
			t.Errorf("%s: %d %v", path, resp.StatusCode, err)
		}
		if err := chatDigest.Check(want.typ, b); err != nil {
			t.Errorf("%s: %v: %s", path, err, b)
		}
	}
}

func TestScriptBeforeRules(t *testing.T) {
	s := New(func(r *Request) Reply {
		if r.Last() == "hi" {
			return Reply{Text("ruled")}
		}
		return nil
	})
	s.Script(Reply{Text("scripted")})
	var got []string
	for _, m := range []string{userHi, userHi, `{"role":"user","content":"else"}`} {
		_, answer := post(t, s, "/chat/completions", body(m))
		for _, word := range []string{"scripted", "ruled", "You said: else"} {
			if strings.Contains(answer, word) {
				got = append(got, word)
			}
		}
	}
	if diff := cmp.Diff([]string{"scripted", "ruled", "You said: else"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("# a turn\nthink hm well\ncall c1 shell {\"command\": \"ls -l\"}\n---\nwait 20ms\nsay Hello there\nline end\n--\nrefuse 429 rate_limit_exceeded slow down\n")
	if err != nil || len(got) != 3 {
		t.Fatalf("%d replies, %v", len(got), err)
	}
	s := New()
	s.Script(got...)
	for _, want := range []string{`"arguments":"{\"command\": \"ls -l\"}"`, `"content":"Hello thereend\n"`, `"message":"slow down"`} {
		if _, answer := post(t, s, "/chat/completions", body(userHi)); !strings.Contains(answer, want) {
			t.Errorf("%s is not in %s", want, answer)
		}
	}
	for _, bad := range []string{"sing", "call a", "wait soon", "refuse 200 x y", "refuse"} {
		if _, err := Parse("say x\n" + bad); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestLegal(t *testing.T) {
	fine := provider.Request{Model: "m", Messages: []provider.Message{{Role: core.RoleUser, Text: "hi"}}}
	if err := Legal(fine); err != nil {
		t.Error(err)
	}
	for name, break_ := range map[string]func(r *provider.Request){
		"system": func(r *provider.Request) { r.System = "\xff" },
		"text":   func(r *provider.Request) { r.Messages[0].Text = "a\xff" },
		"role":   func(r *provider.Request) { r.Messages[0].Role = "system" },
	} {
		r := fine
		r.Messages = append([]provider.Message(nil), fine.Messages...)
		break_(&r)
		if Legal(r) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
