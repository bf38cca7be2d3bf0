package telegramtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// client calls a server in a bubble.
type client struct {
	t *testing.T
	s *Server
	c *http.Client
}

type answer struct {
	OK     bool            `json:"ok"`
	Code   int             `json:"error_code"`
	Text   string          `json:"description"`
	Result json.RawMessage `json:"result"`
	Params struct {
		Retry   int   `json:"retry_after"`
		Migrate int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

func bubble(t *testing.T, o Options, f func(*client)) {
	synctest.Test(t, func(t *testing.T) {
		s := New(o)
		f(&client{t, s, Client(t, s)})
	})
}

func (c *client) call(method, params string) answer {
	c.t.Helper()
	resp, err := c.c.Post("http://t/bot"+c.s.Bot().Token+"/"+method, "application/json", strings.NewReader(params))
	return c.read(resp, err)
}

func (c *client) read(resp *http.Response, err error) answer {
	c.t.Helper()
	if err != nil {
		c.t.Error(err)
		return answer{}
	}
	defer resp.Body.Close()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		c.t.Error(err)
	}
	return a
}

// ids polls and returns the ids of the updates.
func (c *client) ids(params string) (ids []int64) {
	c.t.Helper()
	var list []struct {
		ID int64 `json:"update_id"`
	}
	a := c.call("getUpdates", params)
	if err := json.Unmarshal(a.Result, &list); err != nil {
		c.t.Errorf("%+v: %v", a, err)
	}
	for _, u := range list {
		ids = append(ids, u.ID)
	}
	return ids
}

func (c *client) want(a answer, text string) {
	c.t.Helper()
	if got := a.Text; got != text || a.OK != (text == "") {
		c.t.Errorf("answer is %q, want %q", got, text)
	}
}

func TestOffsets(t *testing.T) {
	bubble(t, Options{}, func(c *client) {
		dm := c.s.DM(c.s.Person("Ann"))
		poll := func(params string, want ...int64) {
			c.t.Helper()
			time.Sleep(time.Second) // of the bubble: a hasty poll gets one update
			if got := c.ids(params); fmt.Sprint(got) != fmt.Sprint(want) {
				c.t.Errorf("%s gives %v, want %v", params, got, want)
			}
		}
		for range 4 {
			dm.Say(Person{ID: 111, Name: "Ann"}, "x")
		}
		poll(`{}`, 1001, 1002, 1003, 1004)
		poll(`{"offset":0}`, 1001, 1002, 1003, 1004)
		poll(`{"offset":1001,"limit":2}`, 1001, 1002)
		poll(`{"offset":1003}`, 1003, 1004)
		poll(`{"offset":1001}`, 1003, 1004)
		if got := c.ids(`{"offset":1001}`); len(got) != 1 {
			c.t.Errorf("a hasty poll gives %v", got)
		}
		poll(`{"offset":-1}`, 1004)
		poll(`{"offset":1005}`)
		dm.Say(Person{ID: 111}, "old")
		time.Sleep(25 * time.Hour)
		poll(`{"offset":1005}`)
	})
}

func TestLongPoll(t *testing.T) {
	bubble(t, Options{}, func(c *client) {
		dm := c.s.DM(c.s.Person("Ann"))
		begin := time.Now()
		if got := c.ids(`{"timeout":500}`); got != nil || time.Since(begin) != 50*time.Second {
			c.t.Errorf("%v after %v, want nothing after 50 s", got, time.Since(begin))
		}
		first := make(chan answer)
		go func() { first <- c.call("getUpdates", `{"timeout":50}`) }()
		synctest.Wait()
		second := make(chan []int64)
		go func() { second <- c.ids(`{"timeout":50}`) }()
		c.want(<-first, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running")
		synctest.Wait()
		dm.Say(Person{ID: 111}, "x")
		if got := <-second; len(got) != 1 {
			c.t.Errorf("got %v", got)
		}
		go func() { first <- c.call("getUpdates", `{"offset":9999,"timeout":50}`) }()
		synctest.Wait()
		c.call("setWebhook", `{"url":""}`)
		dm.Say(Person{ID: 111}, "y")
		if a := <-first; !a.OK {
			c.t.Errorf("setWebhook without an address ended the poll: %+v", a)
		}
	})
}

func TestAllowedUpdates(t *testing.T) {
	bubble(t, Options{}, func(c *client) {
		dm := c.s.DM(c.s.Person("Ann"))
		c.call("getUpdates", `{"allowed_updates":["callback_query"]}`)
		dm.Say(Person{ID: 111}, "x")
		dm.Press(Person{ID: 111}, 1, "d")
		time.Sleep(time.Second)
		if got := c.ids(`{}`); len(got) != 1 { // left out, what was asked before holds
			c.t.Errorf("got %v", got)
		}
		c.call("getUpdates", `{"allowed_updates":[]}`)
		dm.Say(Person{ID: 111}, "x")
		if c.s.Waiting() != 2 {
			c.t.Errorf("%d wait", c.s.Waiting())
		}
	})
}

func TestRefusals(t *testing.T) {
	bubble(t, Options{}, func(c *client) {
		ann := c.s.Person("Ann")
		dm, group, forum := c.s.DM(ann), c.s.Group("Ops"), c.s.Forum("Dev")
		theirs := dm.Say(ann, "hi")
		c.want(c.call("sendMessage", `{"chat_id":111,"text":"one"}`), "")
		own := dm.Said()[0].ID
		topic := forum.Topic("t")
		js := func(format string, args ...any) string { return fmt.Sprintf(format, args...) }
		long := strings.Repeat("x", 4097)
		for _, tt := range []struct{ method, params, want string }{
			{"sendMessage", `{"chat_id":5,"text":"x"}`, "Bad Request: chat not found"},
			{"sendMessage", `{"chat_id":111,"text":""}`, "Bad Request: message text is empty"},
			{"sendMessage", `{"chat_id":111,"text":" \n "}`, "Bad Request: text must be non-empty"},
			{"sendMessage", `{"chat_id":111,"text":"<b></b>","parse_mode":"HTML"}`, "Bad Request: text must be non-empty"},
			{"sendMessage", js(`{"chat_id":111,"text":"%s"}`, long), "Bad Request: message is too long"},
			{"sendMessage", js(`{"chat_id":111,"text":"%s"}`, strings.Repeat("😀", 2049)), "Bad Request: message is too long"},
			{"sendMessage", js(`{"chat_id":111,"text":"<b>%s</b>","parse_mode":"HTML"}`, long[1:]), ""},
			{"sendMessage", js(`{"chat_id":111,"text":"%s"}`, strings.Repeat(" ", 32769)), "Bad Request: text is too long"},
			{"sendMessage", `{"chat_id":111,"text":"<x>","parse_mode":"HTML"}`, `Bad Request: can't parse entities: Unsupported start tag "x" at byte offset 0`},
			{"sendMessage", `{"chat_id":111,"text":"x","reply_parameters":{"message_id":9}}`, "Bad Request: message to be replied not found"},
			{"sendMessage", `{"chat_id":111,"text":"x","reply_parameters":{"message_id":9,"allow_sending_without_reply":true}}`, ""},
			{"sendMessage", js(`{"chat_id":%d,"text":"x","message_thread_id":1}`, forum.ID), "Bad Request: message thread not found"},
			{"sendMessage", js(`{"chat_id":%d,"text":"x","message_thread_id":%d}`, forum.ID, topic), ""},
			{"sendMessage", js(`{"chat_id":111,"text":"x","reply_markup":{"inline_keyboard":[[{"text":"b","callback_data":"%s"}]]}}`, long[:65]), "Bad Request: BUTTON_DATA_INVALID"},
			{"sendMessage", `{"chat_id":111,"text":"x","reply_markup":{"inline_keyboard":[[{"text":"b"}]]}}`, "Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"},
			{"editMessageText", js(`{"chat_id":111,"message_id":%d,"text":"one"}`, own), "Bad Request: " + notModified},
			{"editMessageText", js(`{"chat_id":111,"message_id":%d,"text":"<i>one</i>","parse_mode":"HTML"}`, own), ""},
			{"editMessageText", js(`{"chat_id":111,"message_id":%d,"text":"<i>one</i> ","parse_mode":"HTML"}`, own), "Bad Request: " + notModified},
			{"editMessageText", `{"chat_id":111,"message_id":9999,"text":"x"}`, "Bad Request: message to edit not found"},
			{"editMessageText", js(`{"chat_id":111,"message_id":%d,"text":"x"}`, theirs), "Bad Request: message can't be edited"},
			{"deleteMessage", `{"chat_id":111,"message_id":9999}`, "Bad Request: message to delete not found"},
			{"deleteMessage", js(`{"chat_id":%d,"message_id":%d}`, group.ID, group.Say(ann, "x")), "Bad Request: message can't be deleted"},
			{"sendMessageDraft", js(`{"chat_id":%d,"draft_id":1,"text":"x"}`, group.ID), "Bad Request: TEXTDRAFT_PEER_INVALID"},
			{"answerCallbackQuery", `{"callback_query_id":"x"}`, "Bad Request: query is too old and response timeout expired or query ID is invalid"},
			{"getFile", `{"file_id":"x"}`, "Bad Request: wrong file_id or the file is temporarily unavailable"},
			{"setMessageReaction", js(`{"chat_id":111,"message_id":%d,"reaction":[{"type":"emoji","emoji":"🧿"}]}`, theirs), "Bad Request: REACTION_INVALID"},
			{"setMyCommands", `{"commands":[{"command":"Bad Name","description":"x"}]}`, "Bad Request: BOT_COMMAND_INVALID"},
		} {
			if a := c.call(tt.method, tt.params); a.Text != tt.want {
				c.t.Errorf("%s %.90s: %q, want %q", tt.method, tt.params, a.Text, tt.want)
			}
		}
		dm.Block(ann)
		c.want(c.call("sendMessage", `{"chat_id":111,"text":"x"}`), "Forbidden: bot was blocked by the user")
		group.Block(ann)
		c.want(c.call("sendMessage", js(`{"chat_id":%d,"text":"x"}`, group.ID)), "Forbidden: bot was kicked from the supergroup chat")
		press := forum.Press(ann, 1, "d")
		time.Sleep(time.Hour)
		c.want(c.call("answerCallbackQuery", `{"callback_query_id":"`+press+`"}`), "Bad Request: query is too old and response timeout expired or query ID is invalid")
		small := c.s.SmallGroup("s")
		big := small.Migrate(ann)
		if a := c.call("sendMessage", js(`{"chat_id":%d,"text":"x"}`, small.ID)); a.Params.Migrate != big.ID {
			c.t.Errorf("moved group: %+v", a)
		}
	})
}

func TestTokens(t *testing.T) {
	bubble(t, Options{}, func(c *client) {
		for token, want := range map[string]string{"1:abc": "Unauthorized", "abc": "Not Found", "x:y": "Not Found", ":": "Not Found"} {
			resp, err := c.c.Get("http://t/bot" + token + "/getMe")
			c.want(c.read(resp, err), want)
		}
		resp, err := c.c.Get("http://t/other")
		c.want(c.read(resp, err), "Not Found")
		c.s.Revoke()
		c.want(c.call("getMe", ""), "Unauthorized")
	})
}

// Forms count like JSON, the library's empty form too.
func TestForms(t *testing.T) {
	bubble(t, Options{}, func(c *client) {
		dm := c.s.DM(c.s.Person("Ann"))
		base := "http://t/bot" + c.s.Bot().Token + "/"
		resp, err := c.c.PostForm(base+"SENDMESSAGE", url.Values{"chat_id": {"111"}, "text": {"form"}, "disable_notification": {"true"}})
		c.want(c.read(resp, err), "")
		resp, err = c.c.Get(base + "sendMessage?chat_id=111&text=query")
		c.want(c.read(resp, err), "")
		resp, err = c.c.Post(base+"getMe", "multipart/form-data; boundary=x", strings.NewReader(""))
		c.want(c.read(resp, err), "")
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		part, _ := w.CreateFormFile("document", "a.txt")
		io.WriteString(part, "content")
		w.WriteField("chat_id", "111")
		w.WriteField("reply_parameters", `{"message_id":1,"allow_sending_without_reply":true}`)
		w.Close()
		resp, err = c.c.Post(base+"sendDocument", w.FormDataContentType(), &b)
		c.want(c.read(resp, err), "")
		said := dm.Said()
		if len(said) != 3 || said[0].Text != "form" || !said[0].Silent || said[1].Text != "query" || said[2].File.Name != "a.txt" {
			c.t.Errorf("visible is %+v", said)
		}
	})
}

func TestRates(t *testing.T) {
	bubble(t, Options{Limits: Published()}, func(c *client) {
		c.s.DM(c.s.Person("Ann"))
		group := c.s.Group("Ops")
		send := func(chat int64) answer { return c.call("sendMessage", fmt.Sprintf(`{"chat_id":%d,"text":"x"}`, chat)) }
		for range 3 {
			c.want(send(111), "")
		}
		a := send(111)
		c.want(a, "Too Many Requests: retry after 2")
		time.Sleep(time.Duration(a.Params.Retry) * time.Second)
		c.want(send(111), "")
		for range 20 {
			c.want(send(group.ID), "")
		}
		if a := send(group.ID); a.Code != 429 {
			c.t.Errorf("21st message in a group: %+v", a)
		}
		c.s.SetLimits(Limits{})
		for range 50 {
			c.want(send(111), "")
		}
	})
}

func TestFaults(t *testing.T) {
	bubble(t, Options{}, func(c *client) {
		dm := c.s.DM(c.s.Person("Ann"))
		base := "http://t/bot" + c.s.Bot().Token + "/sendMessage?chat_id=111&text=x"
		c.s.Fail(Fault{Status: 502, Body: "<html>"})
		c.s.Fail(Fault{Drop: true})
		c.s.Fail(Fault{Lost: true})
		c.s.Fail(Fault{Delay: time.Minute})
		resp, err := c.c.Post(base, "", nil)
		if err != nil || resp.StatusCode != 502 {
			c.t.Fatalf("%v, %v", resp, err)
		}
		resp.Body.Close()
		for i, want := range []int{0, 1} {
			if resp, err := c.c.Post(base, "", nil); err == nil || len(dm.Said()) != want {
				c.t.Errorf("fault %d: %v, %d messages", i, resp, len(dm.Said()))
			}
		}
		begin := time.Now()
		resp, err = c.c.Post(base, "", nil)
		if c.want(c.read(resp, err), ""); time.Since(begin) != time.Minute {
			c.t.Errorf("took %v", time.Since(begin))
		}
	})
}

func TestWebhookDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type hit struct {
			at   time.Time
			body string
		}
		var mu sync.Mutex
		var hits []hit
		status := []int{500, 503, 200, 200}
		hook := Pipe(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			if r.Header.Get("X-Telegram-Bot-Api-Secret-Token") != "s" {
				t.Error("no secret")
			}
			mu.Lock()
			defer mu.Unlock()
			hits = append(hits, hit{time.Now(), string(b)})
			if status[len(hits)-1] == 503 {
				w.Header().Set("Retry-After", "300")
			}
			w.WriteHeader(status[len(hits)-1])
			if len(hits) == 4 {
				io.WriteString(w, `{"method":"sendMessage","chat_id":111,"text":"embedded"}`)
			}
		}))
		s := New(Options{Hook: hook})
		c := &client{t, s, Client(t, s)}
		dm := s.DM(s.Person("Ann"))
		c.want(c.call("setWebhook", `{"url":"http://us/hook","secret_token":"s"}`), "")
		c.want(c.call("getUpdates", `{}`), "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
		dm.Say(Person{ID: 111}, "one")
		dm.Say(Person{ID: 111}, "two")
		time.Sleep(10 * time.Minute) // of the bubble
		mu.Lock()
		if len(hits) != 4 || hits[1].at.Sub(hits[0].at) != time.Second || hits[2].at.Sub(hits[1].at) != 5*time.Minute {
			t.Errorf("deliveries: %+v", hits)
		}
		mu.Unlock()
		if s.Waiting() != 0 || len(dm.Said()) != 1 {
			t.Errorf("%d wait, visible is %+v", s.Waiting(), dm.Said())
		}
		c.want(c.call("deleteWebhook", ""), "")
		dm.Say(Person{ID: 111}, "three")
		if got := c.ids(`{}`); len(got) != 1 {
			t.Errorf("polled %v", got)
		}
	})
}
