package telegram

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"bellhop/adapters"
)

// failure is the envelope of an answer that is not ok.
type failure struct {
	OK          bool   `json:"ok"`
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// refused returns the error an answer stands for, nil when it is good.
func (c *caller) refused(method string, status int, h http.Header, body []byte) error {
	if status == http.StatusOK && !hasPrefixOK(body) {
		var f failure
		if json.Unmarshal(body, &f) == nil && f.OK {
			return nil
		}
		if f.Code == 0 {
			return &adapters.Error{Kind: adapters.Ambiguous, Method: method, Code: status, Text: "the answer is not Telegram's"}
		}
		return c.failed(method, f)
	}
	if status == http.StatusOK {
		return nil
	}
	var f failure
	if json.Unmarshal(body, &f) != nil || f.Code == 0 {
		return foreign(method, status, h)
	}
	return c.failed(method, f)
}

// hasPrefixOK spares the usual answer a second reading.
func hasPrefixOK(body []byte) bool {
	const ok = `{"ok":true,`
	return len(body) > len(ok) && string(body[:len(ok)]) == ok
}

// foreign classifies an answer of something that stands before Telegram: a proxy's page.
func foreign(method string, status int, h http.Header) error {
	e := &adapters.Error{Kind: adapters.Ambiguous, Method: method, Code: status, Text: "the answer is not Telegram's"}
	switch {
	case status == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = adapters.Limited, retryAfter(h)
	case status == http.StatusRequestEntityTooLarge:
		e.Kind = adapters.Unsupported
	case status < http.StatusInternalServerError, status == http.StatusBadGateway, status == http.StatusServiceUnavailable:
		e.Kind = adapters.Temporary // it went no further
	}
	return e
}

func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n < 1 {
		n = 1
	}
	return time.Duration(n) * time.Second
}

func (c *caller) failed(method string, f failure) error {
	e := &adapters.Error{Method: method, Code: f.Code, Text: c.hide.text(f.Description)}
	e.Kind = kindOf(f.Code, f.Description)
	switch {
	case e.Kind == adapters.Temporary && creates(method) && f.Code != http.StatusBadGateway && f.Code != http.StatusServiceUnavailable:
		e.Kind = adapters.Ambiguous // it may have broken down after it was done
	case f.Parameters.MigrateTo != 0:
		e.Kind, e.MovedTo = adapters.Moved, strconv.FormatInt(f.Parameters.MigrateTo, 10)
	case e.Kind == adapters.Limited:
		e.RetryAfter = time.Duration(max(1, f.Parameters.RetryAfter)) * time.Second
	}
	return e
}

// creates reports whether doing a call twice shows something twice.
func creates(method string) bool {
	switch method {
	case "sendMessageDraft", "sendChatAction":
		return false
	}
	return strings.HasPrefix(method, "send")
}

// rows say what Telegram's sentences mean; the first whose part is in the description holds. The sentences are those of
// the server's source (telegram-bot-api Client.cpp and tdlib); for most errors they are the only thing that tells.
var rows = []struct {
	code int
	part string
	kind adapters.ErrorKind
}{
	{400, "message is not modified", adapters.Unchanged},
	{400, "can't parse entities", adapters.Markup},
	{400, "entities are too long", adapters.TooLong},
	{400, "message is too long", adapters.TooLong},
	{400, "message caption is too long", adapters.TooLong},
	{400, "text is too long", adapters.TooLong},
	{400, "message_too_long", adapters.TooLong},
	{400, "text must be non-empty", adapters.Empty},
	{400, "message text is empty", adapters.Empty},
	{400, "file must be non-empty", adapters.Empty},
	{400, "message to edit not found", adapters.Gone},
	{400, "message to delete not found", adapters.Gone},
	{400, "message to react not found", adapters.Gone},
	{400, "message to be replied not found", adapters.Gone},
	{400, "message can't be edited", adapters.Gone},
	{400, "message can't be deleted", adapters.Gone},
	{400, "there is no text in the message to edit", adapters.Gone},
	{400, "message_id_invalid", adapters.Gone},
	{400, "query is too old", adapters.Gone},
	{400, "query_id_invalid", adapters.Gone},
	{400, "file_id", adapters.Gone},
	{400, "file is temporarily unavailable", adapters.Gone},
	{400, "message thread not found", adapters.NoThread},
	{400, "topic_deleted", adapters.NoThread},
	{400, "chat not found", adapters.NoTarget},
	{400, "user not found", adapters.NoTarget},
	{400, "peer_id_invalid", adapters.NoTarget},
	{400, "user_is_blocked", adapters.NoTarget},
	{400, "input_user_deactivated", adapters.NoTarget},
	{400, "group chat was deactivated", adapters.NoTarget},
	{400, "draft_peer_invalid", adapters.Unsupported},
	{400, "reaction_invalid", adapters.Unsupported},
	{400, "reactions_too_many", adapters.Unsupported},
	{400, "file is too big", adapters.Unsupported},
	{400, "is too big for a photo", adapters.Unsupported},
	{400, "photo_invalid_dimensions", adapters.Unsupported},
	{400, "voice_messages_forbidden", adapters.Unsupported},
	{400, "not enough rights", adapters.Unsupported},
	{400, "have no rights", adapters.Unsupported},
	{400, "need administrator rights", adapters.Unsupported},
	{400, "chat_admin_required", adapters.Unsupported},
	{400, "write_forbidden", adapters.Unsupported},
	{400, "chat_send_", adapters.Unsupported},
	{400, "chat_restricted", adapters.Unsupported},
	{400, "topic_closed", adapters.Unsupported},
	{404, "method not found", adapters.Unsupported},
}

// kindOf classifies an error of Telegram's own.
func kindOf(code int, description string) adapters.ErrorKind {
	low := strings.ToLower(description)
	for _, r := range rows {
		if r.code == code && strings.Contains(low, r.part) {
			return r.kind
		}
	}
	switch {
	case code == http.StatusUnauthorized:
		return adapters.Auth
	case code == http.StatusForbidden && strings.Contains(low, "rights"):
		return adapters.Unsupported
	case code == http.StatusForbidden:
		return adapters.NoTarget
	case code == http.StatusConflict:
		return adapters.Conflict
	case code == http.StatusTooManyRequests:
		return adapters.Limited
	case code == http.StatusRequestEntityTooLarge:
		return adapters.Unsupported
	case code >= http.StatusInternalServerError:
		return adapters.Temporary
	}
	return adapters.Misuse
}
