package telegram

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"bellhop/adapters"
)

// Sizes and times of webhook mode. An update is a few kilobytes; a megabyte is none.
const (
	maxUpdate    = 1 << 20
	hookCheck    = time.Minute
	maxHookConns = 40
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
)

// Mount returns the webhook's endpoint: POST /telegram/ACCOUNT, or /telegram/default where the account has no name. In
// polling mode there is none, and the pattern is empty.
func (a *Adapter) Mount(in adapters.Inbox) (pattern string, h http.Handler) {
	if a.cfg.mode() != Webhook {
		return "", nil
	}
	_, account, _ := strings.Cut(a.name, "/")
	return "POST /telegram/" + cmp.Or(account, "default"), &hook{a: a, in: in}
}

// hook takes one update per request. 200 means durable; on anything else Telegram tries again.
type hook struct {
	a  *Adapter
	in adapters.Inbox
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got, want := r.Header.Get(secretHeader), h.a.cfg.WebhookSecret.Reveal()
	if want == "" || subtle.ConstantTimeCompare([]byte(got), []byte(want)) != 1 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpdate))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.take(w, r.Context(), body)
}

func (h *hook) take(w http.ResponseWriter, ctx context.Context, body []byte) {
	me, err := h.a.reader(ctx, namesSomebody(body))
	if err != nil {
		h.in.Health(err)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	in, id := h.a.decode(body, me)
	if id == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	receipts, err := h.in.Receive(ctx, adapters.Batch{Inbound: []adapters.Inbound{in}})
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	h.in.Health(nil)
	if in.Kind == adapters.KindPress && len(receipts) == 1 && receipts[0].Answer != "" {
		answerInBody(w, in.PressID, receipts[0].Answer)
	}
}

// answerInBody makes the one call that an answer to a webhook may carry; its result is never told.
func answerInBody(w http.ResponseWriter, press, text string) {
	b, err := json.Marshal(struct {
		Method string `json:"method"`
		answerPress
	}{"answerCallbackQuery", newAnswer(press, text)})
	if err != nil {
		return // two strings always marshal
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // the connection's end is Telegram's affair: the update is stored
}

type webhookParams struct {
	URL     string   `json:"url"`
	Secret  string   `json:"secret_token"`
	Conns   int      `json:"max_connections"`
	Allowed []string `json:"allowed_updates"`
}

type webhookInfo struct {
	URL       string `json:"url"`
	ErrorDate int64  `json:"last_error_date"`
	Error     string `json:"last_error_message"`
}

// keepWebhook sets the webhook and looks after it: updates may be rare, so Telegram is asked whether it gets through.
func (a *Adapter) keepWebhook(ctx context.Context, in adapters.Inbox) error {
	pause := newPause()
	for set := false; ctx.Err() == nil; {
		var err error
		if !set {
			err = a.setWebhook(ctx)
			set = err == nil
		} else {
			set, err = a.checkWebhook(ctx)
		}
		switch kind := adapters.KindOf(err); {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			in.Health(nil)
			pause.Reset()
			sleep(ctx, hookCheck)
		case kind == adapters.Auth || kind == adapters.Misuse:
			return err
		default:
			in.Health(err)
			sleep(ctx, pause.NextBackOff())
		}
	}
	return nil
}

func (a *Adapter) setWebhook(ctx context.Context) error {
	return a.api.call(ctx, "setWebhook", webhookParams{URL: a.cfg.WebhookURL, Secret: a.cfg.WebhookSecret.Reveal(),
		Conns: maxHookConns, Allowed: allowedUpdates}, nil)
}

func (a *Adapter) deleteWebhook(ctx context.Context) error {
	return a.api.call(ctx, "deleteWebhook", none, nil)
}

// checkWebhook reports whether the webhook is still ours, and why deliveries failed lately.
func (a *Adapter) checkWebhook(ctx context.Context) (set bool, err error) {
	var info webhookInfo
	if err := a.api.call(ctx, "getWebhookInfo", none, &info); err != nil {
		return true, err
	}
	if info.URL != a.cfg.WebhookURL {
		return false, &adapters.Error{Kind: adapters.Conflict, Method: "getWebhookInfo", Text: "another program changed the webhook"}
	}
	if info.Error != "" && time.Since(time.Unix(info.ErrorDate, 0)) < 2*hookCheck {
		return true, &adapters.Error{Kind: adapters.Temporary, Method: "getWebhookInfo", Text: a.api.hide.text(info.Error)}
	}
	return true, nil
}
