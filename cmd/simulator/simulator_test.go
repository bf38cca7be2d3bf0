package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a running simulator.
type site struct {
	t   *testing.T
	url string
	c   *http.Client
}

func start(t *testing.T) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, l, newWorld(options{token: demoToken})) }()
	c := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		cancel()
		c.CloseIdleConnections()
		if err := <-done; err != nil {
			t.Errorf("serve ended with %v", err)
		}
	})
	return &site{t, "http://" + l.Addr().String(), c}
}

func (s *site) post(path, body string) (int, string) {
	s.t.Helper()
	resp, err := s.c.Post(s.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (s *site) bot(method, params string) string {
	s.t.Helper()
	_, body := s.post("/bot"+demoToken+"/"+method, params)
	return body
}

// watch reads states until one satisfies f.
func (s *site) watch(chat string, f func(state) bool) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/events?chat="+chat, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.c.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var st state
		if ok && json.Unmarshal([]byte(data), &st) == nil && f(st) {
			return
		}
	}
	s.t.Fatalf("the state never came: %v", lines.Err())
}

// A person writes on the page, the bot gets it, answers with a button, the person presses, and sees the toast.
func TestConversation(t *testing.T) {
	s := start(t)
	if code, _ := s.post("/do/say", `{"chat":"111","as":"111","text":"hello"}`); code != http.StatusNoContent {
		t.Fatalf("say: %d", code)
	}
	if got := s.bot("getUpdates", `{"timeout":1}`); !strings.Contains(got, `"text":"hello"`) {
		t.Fatalf("the bot got %s", got)
	}
	s.bot("sendMessage", `{"chat_id":111,"text":"<b>hi</b>","parse_mode":"HTML","reply_markup":{"inline_keyboard":[[{"text":"Go","callback_data":"go"}]]}}`)
	id := 0
	s.watch("111", func(st state) bool {
		if len(st.Messages) != 2 || st.Waiting != 1 {
			return false
		}
		m := st.Messages[1]
		id = m.ID
		return m.Own && m.HTML == "<b>hi</b>" && m.Buttons[0][0].Text == "Go"
	})
	s.post("/do/press", fmt.Sprintf(`{"chat":"111","message":%d,"data":"go"}`, id))
	var got struct {
		Result []struct {
			Press struct {
				ID string `json:"id"`
			} `json:"callback_query"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(s.bot("getUpdates", `{"offset":1002,"timeout":1}`)), &got); err != nil || len(got.Result) != 1 {
		t.Fatalf("press: %+v, %v", got, err)
	}
	s.bot("answerCallbackQuery", fmt.Sprintf(`{"callback_query_id":%q,"text":"gone"}`, got.Result[0].Press.ID))
	s.watch("111", func(st state) bool { return st.Toast == "gone" })
}

func TestModel(t *testing.T) {
	s := start(t)
	ask := func(said string) string {
		code, body := s.post("/v1/chat/completions", fmt.Sprintf(`{"model":"demo","messages":[{"role":"user","content":%q}]}`, said))
		return fmt.Sprint(code, body)
	}
	for said, want := range map[string]string{"hello": "You said: **hello**", "count 3": "1 2 3 ", "run: ls": `"shell"`, "Bo: count 3": "1 2 3 ", "Bo: run: ls": `"shell"`, "table": "| Room |", "fail": "500", "long 2": "**2.**", "think x": "thought about it"} {
		if got := ask(said); !strings.Contains(got, want) {
			t.Errorf("%s: %s", said, got)
		}
	}
}

func TestPage(t *testing.T) {
	s := start(t)
	for path, want := range map[string]string{"/": "<title>Simulator", "/app.js": "EventSource", "/app.css": "max-width: 800px", "/icon.svg": "<svg"} {
		resp, err := s.c.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(b), want) {
			t.Errorf("%s: %d, %v", path, resp.StatusCode, err)
		}
		if strings.Contains(string(b), "http://") && path != "/icon.svg" || strings.Contains(string(b), "https://") {
			t.Errorf("%s points elsewhere", path)
		}
	}
	if code, _ := s.post("/do/nothing", `{}`); code != http.StatusMethodNotAllowed && code != http.StatusNotFound {
		t.Errorf("an unknown deed: %d", code)
	}
	if code, _ := s.post("/do/say", `nonsense`); code != http.StatusBadRequest {
		t.Errorf("nonsense: %d", code)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/do/say", strings.NewReader(`{"text":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "https://elsewhere.example")
	resp, err := s.c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("another site's page may act: %d", resp.StatusCode)
	}
}

func TestEveryDeed(t *testing.T) {
	s := start(t)
	s.post("/do/say", `{"chat":"111","as":"111","text":"one","file":"iVBORw0KGgo=","name":"x.png"}`)
	s.watch("111", func(st state) bool { return len(st.Messages) == 1 && strings.HasPrefix(st.Messages[0].File, "photo") })
	for _, deed := range []string{"edit", "block", "unblock", "stop", "delete"} {
		if code, body := s.post("/do/"+deed, `{"chat":"111","as":"222","message":105,"text":"two"}`); code != http.StatusNoContent {
			t.Errorf("%s: %d %s", deed, code, body)
		}
	}
	for _, kind := range []string{"flood", "lost", "slow", "down", "heal"} {
		s.post("/do/trouble", fmt.Sprintf(`{"text":%q}`, kind))
	}
	if got := s.bot("getMe", ""); !strings.Contains(got, "bell_bot") {
		t.Errorf("after healing: %s", got)
	}
}
