package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"bellhop/adapters"
)

// Every sentence of the vendor's that asks for something else than giving up.
func TestErrorKinds(t *testing.T) {
	for _, tt := range []struct {
		code int
		text string
		want adapters.ErrorKind
	}{
		{400, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same", adapters.Unchanged},
		{400, "Bad Request: message to edit not found", adapters.Gone},
		{400, "Bad Request: message to delete not found", adapters.Gone},
		{400, "Bad Request: message can't be edited", adapters.Gone},
		{400, "Bad Request: message can't be deleted for everyone", adapters.Gone},
		{400, "Bad Request: MESSAGE_ID_INVALID", adapters.Gone},
		{400, `Bad Request: can't parse entities: Unsupported start tag "x" at byte offset 3`, adapters.Markup},
		{400, "Bad Request: message is too long", adapters.TooLong},
		{400, "Bad Request: MESSAGE_TOO_LONG", adapters.TooLong},
		{400, "Bad Request: message caption is too long", adapters.TooLong},
		{400, "Bad Request: text must be non-empty", adapters.Empty},
		{400, "Bad Request: message text is empty", adapters.Empty},
		{400, "Bad Request: message to be replied not found", adapters.Gone},
		{400, "Bad Request: message thread not found", adapters.NoThread},
		{400, "Bad Request: chat not found", adapters.NoTarget},
		{400, "Bad Request: private chat not found", adapters.NoTarget},
		{400, "Bad Request: query is too old and response timeout expired or query ID is invalid", adapters.Gone},
		{400, "Bad Request: not enough rights to send text messages to the chat", adapters.Unsupported},
		{400, "Bad Request: CHAT_WRITE_FORBIDDEN", adapters.Unsupported},
		{400, "Bad Request: TOPIC_CLOSED", adapters.Unsupported},
		{400, "Bad Request: TEXTDRAFT_PEER_INVALID", adapters.Unsupported},
		{400, "Bad Request: REACTION_INVALID", adapters.Unsupported},
		{400, "Bad Request: file is too big", adapters.Unsupported},
		{400, "Bad Request: BUTTON_DATA_INVALID", adapters.Misuse},
		{400, "Bad Request: something new", adapters.Misuse},
		{401, "Unauthorized", adapters.Auth},
		{403, "Forbidden: bot was blocked by the user", adapters.NoTarget},
		{403, "Forbidden: user is deactivated", adapters.NoTarget},
		{403, "Forbidden: bot was kicked from the supergroup chat", adapters.NoTarget},
		{403, "Forbidden: bot is not a member of the channel chat", adapters.NoTarget},
		{403, "Forbidden: bot can't initiate conversation with a user", adapters.NoTarget},
		{403, "Forbidden: bot can't send messages to bots", adapters.NoTarget},
		{403, "Forbidden: not enough rights to send text messages to the chat", adapters.Unsupported},
		{404, "Not Found", adapters.Misuse},
		{404, "Not Found: method not found", adapters.Unsupported},
		{409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", adapters.Conflict},
		{413, "Request Entity Too Large", adapters.Unsupported},
		{429, "Too Many Requests: retry after 17", adapters.Limited},
		{500, "Internal Server Error: restart", adapters.Temporary},
		{502, "Bad Gateway", adapters.Temporary},
	} {
		if got := kindOf(tt.code, tt.text); got != tt.want {
			t.Errorf("%d %s is %q, want %q", tt.code, tt.text, got, tt.want)
		}
	}
}

func refusedBy(status int, h http.Header, body string) *adapters.Error {
	c := newCaller(Config{Token: "123:SECRET"}, http.DefaultClient, maxConns)
	var e *adapters.Error
	errors.As(c.refused("sendMessage", status, h, []byte(body)), &e)
	return e
}

// A fault of the server's own may come after the message was made; what stands before it went no further.
func TestServerFaults(t *testing.T) {
	c := newCaller(Config{Token: "123:SECRET"}, http.DefaultClient, maxConns)
	for _, tt := range []struct {
		code    int
		creates adapters.ErrorKind
	}{{500, adapters.Ambiguous}, {502, adapters.Temporary}, {503, adapters.Temporary}, {504, adapters.Ambiguous}, {599, adapters.Ambiguous}} {
		body := fmt.Appendf(nil, `{"ok":false,"error_code":%d,"description":"Internal Server Error"}`, tt.code)
		for method, want := range map[string]adapters.ErrorKind{"sendMessage": tt.creates, "sendPhoto": tt.creates, "sendDocument": tt.creates,
			"editMessageText": adapters.Temporary, "deleteMessage": adapters.Temporary, "sendMessageDraft": adapters.Temporary,
			"sendChatAction": adapters.Temporary, "getUpdates": adapters.Temporary} {
			if got := adapters.KindOf(c.refused(method, tt.code, nil, body)); got != want {
				t.Errorf("%d of %s is %q, want %q", tt.code, method, got, want)
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		header http.Header
		body   string
		want   *adapters.Error
	}{
		"good":              {200, nil, `{"ok":true,"result":{}}`, nil},
		"good, other order": {200, nil, `{ "result" : {}, "ok" : true }`, nil},
		"wait":              {429, nil, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 17","parameters":{"retry_after":17}}`, &adapters.Error{Kind: adapters.Limited, Code: 429, Text: "Too Many Requests: retry after 17", RetryAfter: 17 * time.Second}},
		"wait, unsaid":      {429, nil, `{"ok":false,"error_code":429,"description":"Too Many Requests"}`, &adapters.Error{Kind: adapters.Limited, Code: 429, Text: "Too Many Requests", RetryAfter: time.Second}},
		"moved":             {400, nil, `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-1001557912345}}`, &adapters.Error{Kind: adapters.Moved, Code: 400, Text: "Bad Request: group chat was upgraded to a supergroup chat", MovedTo: "-1001557912345"}},
		"proxy down":        {502, nil, `<html>`, &adapters.Error{Kind: adapters.Temporary, Code: 502, Text: "the answer is not Telegram's"}},
		"proxy gave up":     {504, nil, ``, &adapters.Error{Kind: adapters.Ambiguous, Code: 504, Text: "the answer is not Telegram's"}},
		"proxy refuses":     {403, nil, `<html>`, &adapters.Error{Kind: adapters.Temporary, Code: 403, Text: "the answer is not Telegram's"}},
		"proxy slows down":  {429, http.Header{"Retry-After": {"9"}}, `slow`, &adapters.Error{Kind: adapters.Limited, Code: 429, Text: "the answer is not Telegram's", RetryAfter: 9 * time.Second}},
		"a portal's page":   {200, nil, `<html>log in`, &adapters.Error{Kind: adapters.Ambiguous, Code: 200, Text: "the answer is not Telegram's"}},
		"a redirect":        {302, nil, ``, &adapters.Error{Kind: adapters.Temporary, Code: 302, Text: "the answer is not Telegram's"}},
		"cut short":         {200, nil, `{"ok":tr`, &adapters.Error{Kind: adapters.Ambiguous, Code: 200, Text: "the answer is not Telegram's"}},
		"an error with 200": {200, nil, `{"ok":false,"error_code":403,"description":"Forbidden: x"}`, &adapters.Error{Kind: adapters.NoTarget, Code: 403, Text: "Forbidden: x"}},
		"quotes the token":  {400, nil, `{"ok":false,"error_code":400,"description":"Bad Request: bot123:SECRET"}`, &adapters.Error{Kind: adapters.Misuse, Code: 400, Text: "Bad Request: bot[secret]"}},
	} {
		got := refusedBy(tt.status, tt.header, tt.body)
		if tt.want != nil {
			tt.want.Method = "sendMessage"
		}
		if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
